"""Where a suite keeps its state: `runs/suites/<UTC date>/`, and which folder a call goes on in.

The same call goes on in the newest folder that it left unfinished, for a day; else it begins a new
one. One suite at a time may work in a folder.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lab.campaigns.suite.journal import JOURNAL, SuiteRecord, read
from lab.campaigns.suite.plan import Ask
from lab.program.errors import GroundError, ScenarioError
from lab.record.links import refuse_links

SUITES = "suites"
GOES_ON_FOR = timedelta(days=1)


def require_usable(folder: Path, ask: Ask) -> None:
    """A folder that a person named: new, empty, or of a suite that goes on. Raises LabError."""
    refuse_links(Path(os.path.realpath(folder)))
    _require_own(folder)
    _require_free(folder, read(folder), ask)


def folder_for(ask: Ask, runs: Path, named: Path | None, now: datetime) -> Path:
    """The folder for this call, made if it is new; `now` in UTC. Raises LabError."""
    if named is not None:
        require_usable(named, ask)
        named.mkdir(parents=True, exist_ok=True)
        return named
    root = runs / SUITES
    unfinished = [each for each in _suites(root) if _goes_on(read(each), ask, now)]
    if not unfinished:
        return _new(root, now)
    newest = max(unfinished, key=_name_order)
    refuse_links(newest)
    return newest


def _require_own(folder: Path) -> None:
    """A folder of a suite, a new one or an empty one: results never lie among something else."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise ScenarioError(f"--folder {folder}: is no folder", "name a new one")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / JOURNAL).is_file():
        raise ScenarioError(f"--folder {folder}: holds something else", "name a new or empty one")


def _require_free(folder: Path, record: SuiteRecord, ask: Ask) -> None:
    if record.finished:
        rule = "the suite in it has ended"
        raise ScenarioError(f"--folder {folder}: {rule}", "name another, or leave --folder out")
    if record.tasks and record.ask != ask:
        rule = "the suite in it was asked for something else"
        raise ScenarioError(f"--folder {folder}: {rule}", "name another folder")


def _suites(root: Path) -> list[Path]:
    return [path.parent for path in root.glob(f"*/{JOURNAL}")]


def _goes_on(record: SuiteRecord, ask: Ask, now: datetime) -> bool:
    if not record.tasks or record.finished or record.ask != ask:
        return False
    return now - datetime.fromisoformat(record.began) < GOES_ON_FOR


def _name_order(folder: Path) -> tuple[str, int]:
    """`2026-01-05` before `2026-01-05-2` before `2026-01-05-10`."""
    date, number = folder.name[:10], folder.name[11:]
    return date, int(number) if number.isdigit() else 1


def _new(root: Path, now: datetime) -> Path:
    date, number = now.astimezone(UTC).strftime("%Y-%m-%d"), 1
    while True:
        folder = root / (date if number == 1 else f"{date}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder as long as this process lives. Raises GroundError where another does."""
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            hint = "wait for it, or name another folder with --folder"
            raise GroundError(f"{folder}: a suite is at work in it", hint) from error
        yield
    finally:
        os.close(descriptor)
