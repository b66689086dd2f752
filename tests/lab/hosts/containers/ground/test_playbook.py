import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.hosts.containers.ground import inventory, playbook
from lab.program import processes
from lab.program.errors import GroundError

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "playbooks"
RUN = "a-run-of-the-playbook-tests"


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """A state directory with an inventory of one host."""
    everybody = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "state": str(tmp_path),
    }
    whole = {"all": {"vars": everybody, "hosts": {"here": {}}}}
    (tmp_path / inventory.FILE).write_text(json.dumps(whole))
    return tmp_path


def test_a_failing_task_is_one_line_and_the_log_is_kept(state_dir: Path) -> None:
    with pytest.raises(GroundError) as raised:
        playbook.run("fails", RUN, state_dir, HERE)
    assert raised.value.cause == "fails.yml: here: the disk is full"
    assert raised.value.exit_code == 3
    assert "Fail on purpose" in (state_dir / playbook.LOG).read_text()
    assert str(state_dir / playbook.LOG) in raised.value.hint


def test_a_playbook_that_is_not_there_is_an_error(state_dir: Path) -> None:
    with pytest.raises(GroundError, match="none"):
        playbook.run("none", RUN, state_dir, HERE)


def test_a_persons_ansible_variables_do_not_reach_it(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_CHECK_MODE_MARKERS", "not a boolean")
    monkeypatch.setenv("ANSIBLE_STRATEGY", "no-such-strategy")
    assert "failed=0" in playbook.run("copies", RUN, state_dir, HERE)


def test_a_file_is_written_once_and_left_alone_afterwards(state_dir: Path) -> None:
    assert "changed=1" in playbook.run("copies", RUN, state_dir, HERE)
    file = state_dir / "file.json"
    assert json.loads(file.read_text()) == {"a": [1, 2]}
    assert file.stat().st_mode & 0o777 == 0o600
    assert "changed=0" in playbook.run("copies", RUN, state_dir, HERE)
    file.chmod(0o644)
    assert "changed=1" in playbook.run("copies", RUN, state_dir, HERE)


def test_nothing_of_a_playbook_outlives_a_lab_that_is_killed(state_dir: Path) -> None:
    program = (
        "from pathlib import Path; from lab.hosts.containers.ground import playbook; "
        f"playbook.run('waits', {RUN!r}, Path({str(state_dir)!r}), Path({str(HERE)!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=HERE.parents[5]) as lab:
        wait_for(state_dir / "there")
        os.kill(lab.pid, signal.SIGKILL)
        lab.wait()
    playbooks_of_run = processes.marked_with(RUN)
    assert all(processes.gone_within(each, 20) for each in playbooks_of_run)


def test_a_lab_that_is_interrupted_ends_its_playbook_first(state_dir: Path) -> None:
    program = (
        # whoever runs the tests in the background of a shell has it ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from pathlib import Path; from lab.hosts.containers.ground import playbook; "
        f"playbook.run('waits', {RUN!r}, Path({str(state_dir)!r}), Path({str(HERE)!r}))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=HERE.parents[5], stderr=subprocess.DEVNULL
    ) as lab:
        wait_for(state_dir / "there")
        lab.send_signal(signal.SIGINT)
        lab.wait(30)
    assert processes.marked_with(RUN) == []


def wait_for(path: Path, deadline_s: float = 60.0) -> None:
    """Until the file is there."""
    end = time.monotonic() + deadline_s
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear in {deadline_s} s"
        time.sleep(0.02)


def test_the_cause_is_the_first_failing_tasks_own_message() -> None:
    said = (
        "TASK [network : Network] ***\nok: [par-mbx1]\n[ERROR]: Task failed: Module failed: x\n"
        'fatal: [par-mbx2]: FAILED! => {"changed": false, "msg": "Error: pool overlaps"}\n'
        'fatal: [par-mbx3]: FAILED! => {"changed": false, "msg": "something later"}\n'
    )
    assert playbook.cause_of_failure(said) == "par-mbx2: Error: pool overlaps"


def test_the_cause_before_any_task_is_ansibles_own_error() -> None:
    assert playbook.cause_of_failure("[ERROR]: no such role\nmore\n") == "no such role"
    assert playbook.cause_of_failure("") == "it said nothing"
