"""What `make` says while pip works, which knows nothing of what is to be installed."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from lab.program import installation
from lab.program.installation import Display, Pip, State
from lab.program.sources import ROOT

# a pip that says these words, and ends with 7 where it was told to fail
STAND_IN = """
import sys
print("Collecting a==1")
print("Requirement already satisfied: b==2 in x")
print("  Preparing metadata (pyproject.toml): started")
if "fails" in sys.argv:
    sys.exit("ERROR: No matching distribution found for a==1")
print("Installing collected packages: a", file=sys.stderr)
"""


COMPLAINT = "ERROR: No matching distribution found for a==1\n"


@pytest.fixture(autouse=True)
def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "PIP", (sys.executable, "-c", STAND_IN))


def test_it_needs_nothing_that_it_installs() -> None:
    found = f"import sys; sys.path.append({str(ROOT)!r})"
    program = f"{found}; import lab.program.installation; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - {"__main__", "lab"} <= sys.stdlib_module_names


def test_what_pip_says_is_how_far_it_is() -> None:
    pip = Pip("others")
    assert pip.end() == (0, "Installing collected packages: a\n")
    assert (pip.fetched, pip.step) == (2, "building")


@pytest.mark.parametrize(("fails", "said"), [("", ""), ("fails", COMPLAINT)])
def test_what_the_last_call_of_pip_complains_of_is_shown_where_it_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fails: str,
    said: str,
) -> None:
    monkeypatch.setattr(installation, "PIP", (sys.executable, "-c", STAND_IN, fails))
    monkeypatch.chdir(tmp_path)
    Path("constraints.txt").write_text("# versions\na==1\npyspark==4\n")
    assert installation.main() == (1 if fails else 0)
    told = capsys.readouterr()
    begins = f"installing into {sys.prefix}: a few minutes, once\n"
    assert (told.out, told.err) == ("", begins + said)


STATE = State(total=78, fetched=39, unpacked=0, steps="pyspark building", seconds=65.2)


def test_on_a_terminal_one_line_is_drawn_over_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(installation, "get_terminal_size", lambda: (60, 24))
    monkeypatch.setenv("TERM", "xterm")
    display = Display()
    display.show(STATE)
    display.clear()
    drawn = "[#####...............] 1:05 39 fetched, 0 unpacked of 78; pyspark"
    assert terminal.getvalue() == f"\r\033[K{drawn[:59]}\r\033[K"


def test_elsewhere_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(installation, "monotonic", lambda: now[0])
    display = Display()
    for now[0] in (101.0, 114.9, 115.0, 116.0, 131.0):
        display.show(STATE)
    display.clear()
    line = "1:05 39 fetched, 0 unpacked of 78; pyspark building\n"
    assert capsys.readouterr().err == line * 2
