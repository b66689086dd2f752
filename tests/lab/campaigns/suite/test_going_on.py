"""A suite that is interrupted, however roughly, goes on with the same command."""

import os
import select
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab.campaigns.suite.folder import folder_for
from lab.campaigns.suite.journal import JOURNAL, read
from lab.campaigns.suite.plan import Ask
from lab.program.errors import ScenarioError
from tests.lab.campaigns.suite.nightly import LONGEST_SECONDS, Night, results

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]
BEGIN = """
import sys
from pathlib import Path
from tests.lab.campaigns.suite.nightly import Night
night = Night.__new__(Night)
night.root, night.said = Path.cwd(), []
sys.exit(night.suite(on="containers").run())
"""


def begin(night: Night) -> subprocess.Popen[bytes]:
    """A suite in a process of its own, up to a run that hangs."""
    night.acts({"beta on containers": "hang"})
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    program = subprocess.Popen([sys.executable, "-c", BEGIN], cwd=night.root, env=env)
    night.wait_for("hangs")
    return program


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_suite_that_was_ended_goes_on_where_it_was(night: Night, how: signal.Signals) -> None:
    program = begin(night)
    program.send_signal(how)
    code = program.wait(LONGEST_SECONDS)
    assert code == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    night.acts({})
    suite = night.suite(on="containers")
    assert suite.run() == 0
    assert night.acted() == ["alpha on containers", "beta on containers", "beta on containers"]
    assert night.calls("down").count("down beta-containers-id") >= 1
    said = "beta on containers was under way when the suite ended; it is done again"
    assert said in night.said
    assert [path.name for path in (night.root / "runs/suites").iterdir()] == [suite.folder.name]


def test_the_run_of_a_killed_suite_ends_with_it(night: Night) -> None:
    program = begin(night)
    pid = int(night.wait_for("hangs").split()[-1])
    program.kill()
    program.wait(LONGEST_SECONDS)
    if Path(f"/proc/{pid}").exists():
        descriptor = os.pidfd_open(pid)
        assert select.select([descriptor], [], [], LONGEST_SECONDS)[0]
        os.close(descriptor)


def test_an_interrupted_suite_leaves_its_page_and_says_what_is_not_done(night: Night) -> None:
    program = begin(night)
    program.terminate()
    program.wait(LONGEST_SECONDS)
    [folder] = (night.root / "runs/suites").iterdir()
    page = (folder / "report.html").read_text()
    assert "INTERRUPTED" in page
    assert "not done" in page


def test_a_suite_that_has_ended_is_not_gone_on_with(night: Night) -> None:
    first = night.suite(on="simulator")
    assert first.run() == 0
    again = night.suite(on="simulator")
    assert again.folder.name == f"{first.folder.name}-2"
    assert again.run() == 0
    assert len(night.acted()) == 6
    with pytest.raises(ScenarioError, match="the suite in it has ended"):
        night.suite(on="simulator", folder=first.folder)


def test_another_call_does_not_go_on_with_it(night: Night) -> None:
    program = begin(night)
    program.kill()
    program.wait(LONGEST_SECONDS)
    [folder] = (night.root / "runs/suites").iterdir()
    runs, now = night.root / "runs", datetime.now(UTC)
    assert folder_for(Ask(on="containers"), runs, None, now) == folder
    assert folder_for(Ask(on="simulator"), runs, None, now) != folder
    assert folder_for(Ask(on="containers"), runs, None, now + timedelta(days=2)) != folder
    with pytest.raises(ScenarioError, match="was asked for something else"):
        folder_for(Ask(on="simulator"), runs, folder, now)


@pytest.mark.parametrize("kept", range(1, 400, 40))
def test_a_torn_journal_is_gone_on_with(night: Night, kept: int) -> None:
    suite = night.suite("alpha", "gamma", on="simulator")
    assert suite.run() == 0
    journal = suite.folder / JOURNAL
    text = journal.read_bytes()
    intended = text.index(b"\n") + 1
    journal.write_bytes(text[: min(intended + kept, len(text) - 2)])
    again = night.suite("alpha", "gamma", on="simulator", folder=suite.folder)
    assert again.run() == 0
    assert {task["state"] for task in results(again).values()} == {"done"}
    assert read(suite.folder).finished
