"""Old runs and sweeps, removed: beyond the newest few of a scenario, or older than a span, or both.

Never removed: the latest run of a scenario, its latest sweep, what is under way, the folders of
suites and proofs, and anything outside the folder of runs or behind a link.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lab.run.history import NO_VERDICT, run_entries

UNDER_WAY_FOR = timedelta(days=1)  # a run with no end after so long was killed


@dataclass(frozen=True, slots=True)
class Old:
    """One folder of a scenario; `protected` ones are never removed."""

    folder: Path
    kind: tuple[str, str]
    made: datetime
    protected: bool = False


def prunable(runs: Path, keep: int, older_than: timedelta | None, now: datetime) -> list[Path]:
    """What would be removed, the oldest first: not among the newest `keep` of its scenario, and
    older than `older_than`, where that is asked."""
    by_kind: dict[tuple[str, str], list[Old]] = defaultdict(list)
    for each in (*_runs(runs, now), *_sweeps(runs)):
        by_kind[each.kind].append(each)
    found = [each for old in by_kind.values() for each in _beyond(old, max(keep, 1))]
    asked = [each for each in found if older_than is None or now - each.made > older_than]
    return [each.folder for each in sorted(asked, key=lambda each: (each.made, each.folder))]


def _beyond(old: Sequence[Old], keep: int) -> list[Old]:
    newest_first = sorted(old, key=lambda each: (each.made, each.folder), reverse=True)
    return [each for each in newest_first[keep:] if not each.protected]


def _runs(runs: Path, now: datetime) -> Iterator[Old]:
    for entry in run_entries(runs):
        latest = entry.folder.parent / "latest"
        is_latest = latest.exists() and latest.samefile(entry.folder)
        is_done = entry.has_ended and (entry.verdict != NO_VERDICT or bool(entry.cause))
        under_way = not is_done and now - entry.started < UNDER_WAY_FOR
        kind = ("run", entry.scenario)
        yield Old(entry.folder, kind, entry.started, is_latest or under_way)


def _sweeps(runs: Path) -> Iterator[Old]:
    """Sweeps, and exhaustive searches, which are judged like them."""
    for file in sorted([*runs.glob("*/sweeps/*/sweep.json"), *runs.glob("*/exhaust/*/sweep.json")]):
        folder = file.parent
        if not any(part.is_symlink() for part in (folder, folder.parent, folder.parent.parent)):
            made = datetime.fromtimestamp(file.stat().st_mtime, UTC)
            yield Old(folder, (folder.parent.name, folder.parent.parent.name), made)


def size_bytes(folder: Path) -> int:
    """What its files take; links are not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def remove(folder: Path) -> str | None:
    """The folder and what is in it; why it could not be removed, if it could not."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        return f"{error.filename or folder}: {(error.strerror or str(error)).lower()}"
    return None
