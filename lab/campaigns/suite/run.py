"""What a run that was started as a program left: where its folder is, its id, why it ended so."""

import signal
from pathlib import Path

from lab.campaigns.suite.program import Finished
from lab.program.errors import INTERRUPTED
from lab.program.given_json import read_json

WHY_AT_MOST = 300


def announced_folder(announcement: Path) -> Path | None:
    """The run folder that `run --announce` wrote down; None where it came to none."""
    try:
        folder = Path(announcement.read_text(encoding="utf-8").strip())
    except OSError:
        return None
    return folder if folder.name and (folder / "manifest.json").is_file() else None


def run_id(folder: Path) -> str | None:
    """What the run is called on the engine; None where its manifest cannot be read."""
    try:
        found = read_json(folder / "manifest.json")["run"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) and found else None


def surprises(folder: Path | None) -> list[str]:
    """What a run that failed did otherwise than its scenario expects, as its verdict says."""
    try:
        found = read_json(folder / "verdict.json")["not_as_foretold"] if folder else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [str(each) for each in found] if isinstance(found, list) else []


def why(done: Finished, log: Path) -> str:
    """Why there is no verdict, in one line: the cause that the program said, or how it ended."""
    if done.hung:
        return "hung, and was ended"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    said = [line for line in lines if line.startswith(("shadowlab: ", "error: "))]
    if said:
        return said[-1].partition(": ")[2][:WHY_AT_MOST]
    if done.code == INTERRUPTED:
        return "ended by somebody else"
    if done.code < 0:
        return f"ended by {signal.Signals(-done.code).name}"
    return f"ended with exit code {done.code}"
