"""Logical corruptions of mailbox databases, by which mailboxes lose what they show (SN-20).

Each is a log, which the server of the active copy reports. It lasts for as long as the copies that
are mounted after it have that log; one that goes back to before it has all again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from spark_eval.histories.organisation.active_copies import placed
from spark_eval.histories.run import Run
from spark_eval.read.rows import LifecycleRow, TrackingRow

CORRUPTED = "mailboxes-corrupted"


@lru_cache(maxsize=4)
def lasting(database: str, run: Run) -> tuple[LifecycleRow, ...]:
    """Those that no later copy went back behind."""
    rows = [row for row in run.said(CORRUPTED) if row.database == database]
    return tuple(row for row in rows if _lasts(row, run)) if rows else ()


def _lasts(row: LifecycleRow, run: Run) -> bool:
    active = run.active_copies.get(row.database or "")
    later = (
        change.mounted.last_log
        for change in (active.changes if active else ())
        if change.after.epoch > (row.epoch or 0)
    )
    return all(last is None or last - 1 >= (row.last_log or 0) for last in later)


def emptied_by(database: str, taken: Iterable[TrackingRow], run: Run) -> LifecycleRow | None:
    """The first corruption by which a mailbox lost what was delivered by one of these rows."""
    rows = lasting(database, run)
    found = (row for row in rows for each in taken if _placed(each, row) <= (placed(row) or 0))
    return min(found, key=lambda row: (row.at_ms or 0, row.ref), default=None)


def _placed(taken: TrackingRow, row: LifecycleRow) -> int:
    is_common = taken.mono_ns is not None and row.mono_ns is not None
    return taken.mono_ns if is_common and taken.mono_ns is not None else taken.at_ms
