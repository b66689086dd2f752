"""Which copy of a mailbox database was active under which epoch, and each change of it.

The new copy's own lifecycle says when it was mounted and under which epoch; from which copy follows
from the epoch before. Active Manager's word adds why, and decides nothing. Databases of one copy
have no history here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from spark_eval.read.rows import LifecycleRow

MOUNTED, DISMOUNTED, DECIDED = "database-mounted", "database-dismounted", "failover-decided"


class ActiveCopy(NamedTuple):
    """The copy at `server`, active under `epoch`; `mounted` is None of the one at the start."""

    epoch: int
    server: str
    mounted: LifecycleRow | None

    @property
    def since(self) -> int | None:
        """On the monotonic clock, or by its date where there is none; None from the start on."""
        return None if self.mounted is None else placed(self.mounted)


class Change(NamedTuple):
    """From one active copy to the next. `is_orderly`: the copy before had been dismounted in good
    order, and no epoch lies between that was never mounted; `kind` and `cause` are Active
    Manager's.
    """

    database: str
    before: ActiveCopy
    after: ActiveCopy
    mounted: LifecycleRow
    kind: str | None
    cause: str | None
    is_orderly: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class ActiveCopies:
    """Of one mailbox database with several copies, in order of epochs. `dismounts`, `decided` and
    `seeded`: the rows that say that a copy was dismounted, that another one was decided on, that a
    copy was made anew.
    """

    database: str
    copies: tuple[ActiveCopy, ...]
    changes: tuple[Change, ...]
    dismounts: tuple[LifecycleRow, ...]
    decided: tuple[LifecycleRow, ...]
    seeded: tuple[LifecycleRow, ...]

    @property
    def begun(self) -> tuple[LifecycleRow, ...]:
        """Rows by which an epoch began, whether or not its copy was mounted."""
        mounts = (copy.mounted for copy in self.copies if copy.mounted is not None)
        return (*self.decided, *mounts)

    @property
    def moved_ms(self) -> list[int]:
        """When a copy was mounted after the first, or dismounted."""
        rows = [*(change.mounted for change in self.changes), *self.dismounts]
        return sorted(row.at_ms for row in rows if row.at_ms is not None)

    def epoch_at(self, server: str, time: int) -> int | None:
        """The latest epoch under which the copy at `server` was active by then (`placed`)."""
        epochs = (
            copy.epoch
            for copy in self.copies
            if copy.server == server and (copy.since is None or copy.since <= time)
        )
        return max(epochs, default=None)


def placed(row: LifecycleRow) -> int | None:
    """By the monotonic clock, or by its date where there is none."""
    return row.at_ms if row.mono_ns is None else row.mono_ns


def active_copies(
    several: Mapping[str, tuple[str, ...]], rows: Iterable[LifecycleRow]
) -> dict[str, ActiveCopies]:
    """Of each of the databases that have `several` copies, given by their servers."""
    by_database: dict[str, list[LifecycleRow]] = {name: [] for name in several}
    for row in sorted(rows, key=_order):
        if row.database in by_database:
            by_database[row.database].append(row)
    return {name: _of_database(name, several[name][0], told) for name, told in by_database.items()}


def _order(row: LifecycleRow) -> tuple[int, tuple[str, int]]:
    return placed(row) or 0, row.ref


def _of_database(name: str, first: str, rows: list[LifecycleRow]) -> ActiveCopies:
    mounts: dict[int, LifecycleRow] = {}
    for row in _events(rows, MOUNTED):
        if row.epoch:
            mounts.setdefault(row.epoch, row)
    later = [ActiveCopy(epoch, row.server, row) for epoch, row in sorted(mounts.items())]
    copies = (ActiveCopy(0, first, None), *later)
    changes = tuple(
        _change(name, before, after, copies, rows) for before, after in pairwise(copies)
    )
    return ActiveCopies(
        name, copies, changes, _events(rows, DISMOUNTED), _events(rows, DECIDED),
        _events(rows, "copy-seeded-here"),
    )  # fmt: skip


def _events(rows: Iterable[LifecycleRow], event: str) -> tuple[LifecycleRow, ...]:
    return tuple(row for row in rows if row.event == event)


def _change(
    name: str,
    before: ActiveCopy,
    after: ActiveCopy,
    copies: tuple[ActiveCopy, ...],
    rows: list[LifecycleRow],
) -> Change:
    assert after.mounted is not None
    decided = next((row for row in _events(rows, DECIDED) if row.epoch == after.epoch), None)
    left = [
        row
        for row in _events(rows, DISMOUNTED)
        if row.server == before.server and row.epoch == before.epoch
    ]
    return Change(
        database=name,
        before=before,
        after=after,
        mounted=after.mounted,
        kind=decided.kind if decided else None,
        cause=decided.cause if decided else None,
        is_orderly=bool(left) and _is_orderly(before, after, left[-1], after.mounted),
        is_last=after is copies[-1],
    )


def _is_orderly(
    before: ActiveCopy, after: ActiveCopy, left: LifecycleRow, mounted: LifecycleRow
) -> bool:
    if after.epoch != before.epoch + 1 or left.mono_ns is None or mounted.mono_ns is None:
        return False
    has_all = (
        mounted.last_log is not None
        and left.last_log is not None
        and mounted.last_log >= left.last_log
    )
    return left.mono_ns < mounted.mono_ns and has_all
