"""How a server says that it could not make a message redundant, and takes it not (SR-5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

REJECTION = "451 4.4.0 Message failed to be made redundant"
_CODE = "451 4.4.0"


class Rejected(NamedTuple):
    """An attempt of the workload: `row`, which says so; `kept`, by which its server took the
    message all the same.
    """

    attempt: Attempt
    row: Ref | None
    kept: Ref | None


def is_rejection(row: TrackingRow) -> bool:
    return row.event == "HAREDIRECTFAIL" and row.outcome == "rejected"


def rejection_of(attempt: Attempt, message: Message, run: Run) -> Ref | None:
    """The row that says that no shadow message could be made in this attempt."""
    return _first((row for row in message.tracking if is_rejection(row)), attempt, run)


def _first(rows: Iterator[TrackingRow], attempt: Attempt, run: Run) -> Ref | None:
    asked = run.behind(attempt.called)
    own = (row for row in rows if row.server in asked and attempt.spans(row.mono_ns))
    return min((row.ref for row in own), default=None)


def rejected(message: Message, run: Run) -> Iterator[Rejected]:
    """By the reply or by the log. A row may be of an earlier attempt, which its sender had left
    open, and this one refused for another reason.
    """
    left_open: set[str] = set()
    for attempt in message.attempts:
        is_after_open = attempt.server in left_open
        if attempt.reply is None:
            left_open.add(attempt.server)
        if attempt.outcome == "failed":
            row, says = rejection_of(attempt, message, run), (attempt.reply or "").startswith(_CODE)
            is_of_another = run.config.reject and is_after_open and not says
            if (row is not None or says) and not is_of_another:
                born = (each.born for each in message.primaries.values() if each.born is not None)
                kept = _first((each for each in born if each.event == "RECEIVE"), attempt, run)
                yield Rejected(attempt, row, kept)
