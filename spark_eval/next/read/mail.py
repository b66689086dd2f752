"""Rows about messages: all of a record's, or those about some messages, all of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_eval.next.read.plan import PlannedMessage
from spark_eval.next.read.record import Record
from spark_eval.next.read.rows import (
    AttemptRow,
    OutcomeRow,
    QueueRow,
    SentRow,
    TrackingRow,
    VisibleRow,
)


@dataclass(frozen=True, slots=True)
class Mail:
    """`planned`: what the plan says of them. Rows in the order of files and lines; what names no
    message is nobody's.
    """

    planned: Sequence[PlannedMessage]
    sent: Sequence[SentRow]
    attempts: Sequence[AttemptRow]
    outcomes: Sequence[OutcomeRow]
    tracking: Sequence[TrackingRow]
    queues: Sequence[QueueRow]
    visible: Sequence[VisibleRow]


def mail_of(record: Record) -> Mail:
    rows = record.rows
    return Mail(
        record.heading.plan.messages, rows.sent, rows.attempts, rows.outcomes, record.tracking,
        rows.queues, rows.visible,
    )  # fmt: skip
