"""Rows about messages: all of a record's, or those about some messages, all of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from spark_eval.read.clocks import Life
from spark_eval.read.json_lines.rows_by_kind import Rows
from spark_eval.read.plan import PlannedMessage
from spark_eval.read.record import Lines, Record
from spark_eval.read.rows import (
    AttemptRow,
    OutcomeRow,
    QueueRow,
    SentRow,
    TrackingRow,
    VisibleRow,
)


@dataclass(slots=True)
class Mail:
    """`planned`: what the plan says of them. Rows in the order of files and lines; an entry of a
    queue that names no message is nobody's.
    """

    planned: list[PlannedMessage] = field(default_factory=list)
    sent: list[SentRow] = field(default_factory=list)
    attempts: list[AttemptRow] = field(default_factory=list)
    outcomes: list[OutcomeRow] = field(default_factory=list)
    tracking: list[TrackingRow] = field(default_factory=list)
    queues: list[QueueRow] = field(default_factory=list)
    visible: list[VisibleRow] = field(default_factory=list)

    def add(self, other: Mail) -> None:
        """Rows are in no order then."""
        for each in fields(self):
            getattr(self, each.name).extend(getattr(other, each.name))

    def sort(self) -> None:
        """What one line says of several recipients stays together."""
        for rows in (self.sent, self.attempts, self.outcomes, self.tracking, self.queues):
            rows.sort(key=lambda row: row.ref)
        self.visible.sort(key=lambda row: row.ref)

    def go_by(self, lives: Mapping[str, tuple[Life, ...]]) -> None:
        """What servers kept by their own clocks, in lab time."""
        kept = Rows(queues=self.queues, visible=self.visible)
        kept.go_by(lives)
        self.queues, self.visible = kept.queues, kept.visible


OF_MESSAGES = ("sent", "attempts", "outcomes", "queues", "visible")


def mail_of(record: Record) -> Mail:
    rows = record.rows
    return Mail(
        list(record.heading.plan.messages), rows.sent, rows.attempts, rows.outcomes,
        record.tracking, rows.queues, rows.visible,
    )  # fmt: skip


def taken_out(read: Lines, place_of: Callable[[str], int]) -> dict[int, Mail]:
    """The mail of some lines by the place of its Message-Id; none of it is left in them. A row of a
    log that names no message is nobody's, and dropped.
    """
    found: dict[int, Mail] = {}
    for row in read.tracking:
        if row.message_id is not None:
            found.setdefault(place_of(row.message_id), Mail()).tracking.append(row)
    read.tracking.clear()
    for kind in OF_MESSAGES:
        rows = getattr(read.rows, kind)
        for row in rows:
            mail = found.setdefault(place_of(row.message_id or ""), Mail())
            getattr(mail, kind).append(row)
        rows.clear()
    return found
