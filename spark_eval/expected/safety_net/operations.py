"""Operations as they happened: what was asked, when, and what was answered."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval
from spark_eval.read.operation_kinds import Activation, LaggedActivation
from spark_eval.read.plan import PlannedOperation

# the epoch in an answer as `250 2.0.0 1 lyo-mbx1`
_EPOCH = re.compile(r"250 [0-9.]+ ([0-9]+) ")


class Operation(NamedTuple):
    """`reason`: the answers, or why there was none; `epoch` that an activation led to.
    It was asked between `asked_ms` and `over_ms`, when the last answer was waited for no longer.
    """

    planned: PlannedOperation
    asked_ms: int | None
    over_ms: int | None
    took_effect: bool | None
    reason: str | None
    epoch: int | None

    @property
    def id(self) -> str:
        return self.planned.id

    @property
    def asked(self) -> Interval | None:
        """While it was said to whom it concerns."""
        if self.asked_ms is None:
            return None
        return Interval(self.asked_ms, max(self.asked_ms, self.over_ms or 0))

    @property
    def database(self) -> str | None:
        return getattr(self.planned.keys, "database", None)


@lru_cache(maxsize=1)
def operations(run: Run) -> tuple[Operation, ...]:
    """In the order of the plan."""
    found = []
    for planned in run.planned_operations:
        rows = [row for row in run.operation_rows if row.operation == planned.id]
        evidence = [row for row in rows if row.phase == "evidence"]
        verdicts = [row.took_effect for row in evidence if row.took_effect is not None]
        replies = [row.reply for row in rows if row.reply is not None]
        reasons = [row.reason for row in evidence if row.reason is not None]
        said = max(replies, default=None) or max(reasons, default=None)
        is_activation = isinstance(planned.keys, Activation | LaggedActivation)
        epoch = _EPOCH.match(said or "") if is_activation else None
        found.append(
            Operation(
                planned,
                min(
                    (r.at_ms for r in rows if r.phase == "applied" and r.at_ms is not None),
                    default=None,
                ),
                max((r.at_ms for r in evidence if r.at_ms is not None), default=None),
                all(verdicts) if verdicts else None,
                max(reasons, default=None) or said,
                int(epoch[1]) if epoch else None,
            )
        )
    return tuple(found)


def answered_epochs(run: Run, kind: str) -> set[tuple[str | None, int | None]]:
    """Database and epoch of each operation of a kind to which Active Manager said yes."""
    return {
        (each.database, each.epoch)
        for each in operations(run)
        if each.planned.kind == kind and each.epoch is not None
    }
