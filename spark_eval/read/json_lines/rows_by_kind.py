"""Rows of JSON Lines by kind, in lab time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from spark_eval.read.clocks import Life, kept_ms
from spark_eval.read.rows import (
    AttemptRow,
    CopyRow,
    FaultRow,
    LifecycleRow,
    OperationRow,
    OutcomeRow,
    QueueRow,
    SentRow,
    StrangerRow,
    VisibleRow,
)


@dataclass(slots=True)
class Rows:
    """Rows by kind, in the order of files and lines."""

    sent: list[SentRow] = field(default_factory=list)
    attempts: list[AttemptRow] = field(default_factory=list)
    outcomes: list[OutcomeRow] = field(default_factory=list)
    faults: list[FaultRow] = field(default_factory=list)
    operations: list[OperationRow] = field(default_factory=list)
    strangers: list[StrangerRow] = field(default_factory=list)
    lifecycle: list[LifecycleRow] = field(default_factory=list)
    queues: list[QueueRow] = field(default_factory=list)
    copies: list[CopyRow] = field(default_factory=list)
    visible: list[VisibleRow] = field(default_factory=list)

    def add(self, other: Rows) -> None:
        for each in fields(self):
            getattr(self, each.name).extend(getattr(other, each.name))

    def go_by(self, lives: Mapping[str, tuple[Life, ...]]) -> None:
        """What servers kept by their own clocks, in lab time. Some times of a Shadow Safety Net
        came with the message, from another server.
        """
        askew = {server: known for server, known in lives.items() if any(x.skew_ms for x in known)}
        if not askew:
            return
        self.queues = [_queue_by(row, askew.get(row.server, ())) for row in self.queues]
        self.copies = [
            row._replace(last_log_ms=kept_ms(row.last_log_ms, askew.get(row.server, ())))
            for row in self.copies
        ]
        self.visible = [
            row._replace(copied_ms=kept_ms(row.copied_ms, askew.get(row.server or "", ())))
            if row.kind == "mailbox"
            else row
            for row in self.visible
        ]


def _queue_by(row: QueueRow, lives: tuple[Life, ...]) -> QueueRow:
    row = row._replace(entered_ms=kept_ms(row.entered_ms, lives))
    if row.queue == "shadow-safety-net":
        return row
    return row._replace(
        delivered_ms=kept_ms(row.delivered_ms, lives), expires_ms=kept_ms(row.expires_ms, lives)
    )
