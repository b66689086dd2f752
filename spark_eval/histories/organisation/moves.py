"""Where mailboxes lived when: the moves to other mailbox databases that took place (SN-8, DD-3).

A move is under way from when it was intended to when every server that ran was seen to go by it;
it may have been tried several times. The mailbox was in the one database until the server of that
one said that all it showed is in the other (`mailbox-moved`): nothing was delivered into it just
then, and into the other one nothing before. A server that is paused or down goes by it when it goes
on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.operation_kinds import Move as Planned
from spark_eval.read.plan import PlannedOperation
from spark_eval.read.rows import LifecycleRow, OperationRow, collected

MOVED = "mailbox-moved"


class Move(NamedTuple):
    """Of one mailbox; `at_ms`, when all that it showed was in the other database. `is_sure`: it did
    move, as far as anybody saw.
    """

    under_way: Interval
    at_ms: int
    before: str
    after: str
    is_sure: bool

    def places(self, start_ms: int, end_ms: int) -> tuple[str, ...]:
        """Where the mailbox may have been at some moment of [start, end]."""
        before = (self.before,) if not self.is_sure or start_ms <= self.under_way.hi else ()
        return (*before, self.after) if end_ms >= self.at_ms else before


def moves_of(
    homes: Mapping[str, str],
    planned: Iterable[PlannedOperation],
    rows: Sequence[OperationRow],
    lifecycle: Iterable[LifecycleRow],
) -> dict[str, Move]:
    """By address, of those that were begun and not surely given up. `homes`: where mailboxes were
    at first.
    """
    said = collected(
        (row.mailbox, row.at_ms)
        for row in lifecycle
        if row.event == MOVED and row.at_ms is not None
    )
    found = {}
    for each in planned:
        own = [row for row in rows if row.operation == each.id and row.at_ms is not None]
        if not isinstance(each.keys, Planned) or not own:
            continue
        address = (each.keys.mailbox or "").lower()
        took = [row for row in own if row.took_effect is not None]
        if address not in homes or any(not row.took_effect for row in took):
            continue
        begun_ms = min(row.at_ms or 0 for row in own)
        over_ms = max((row.at_ms or 0 for row in took), default=FOREVER_MS)
        at_ms = max(said.get(address, [begun_ms]))
        under_way = Interval(begun_ms, over_ms)
        found[address] = Move(under_way, at_ms, homes[address], each.keys.to or "", bool(took))
    return found
