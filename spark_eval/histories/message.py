"""A message: as its sender wrote it down, as servers logged it, as recipients see it.

DSNs about it are messages of their own and belong to its history, since what is asked of it is
asked of them: who was notified, and by what.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from spark_eval.histories.primary import Key, Primary, is_made_here, order_of, primaries_of
from spark_eval.histories.sending import ACKNOWLEDGED, Attempt, attempts_of, fate_of
from spark_eval.histories.shadow import Shadow, ShadowKey, shadows_of
from spark_eval.read.mail import Mail
from spark_eval.read.names import message_id
from spark_eval.read.rows import (
    AttemptRow,
    OutcomeRow,
    QueueRow,
    SentRow,
    TrackingRow,
    VisibleRow,
    grouped,
)

RELAYED, INTERNAL = "relay", "internal"


@dataclass(eq=False)
class Message:
    """Rows about one Message-Id; `dsns`, `journal_reports`: those about it. `sent` is None of what
    the workload did not write down. `front_ends` are those of the run.
    """

    message_id: str
    sent: SentRow | None = None
    begun: list[AttemptRow] = field(default_factory=list)
    ended: list[OutcomeRow] = field(default_factory=list)
    tracking: list[TrackingRow] = field(default_factory=list)
    visible: list[VisibleRow] = field(default_factory=list)
    queued: list[QueueRow] = field(default_factory=list)
    dsns: list[Message] = field(default_factory=list)
    front_ends: frozenset[str] = frozenset()
    journal_reports: list[Message] = field(default_factory=list)

    @property
    def with_dsns(self) -> tuple[Message, ...]:
        """This message, and those about it, journal reports too: each is mail, of which the same is
        asked.
        """
        return (self, *self.dsns, *self.journal_reports)

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        return attempts_of(self.begun, self.ended, self.front_ends)

    @cached_property
    def fate(self) -> str:
        return fate_of(self.attempts)

    @property
    def is_acknowledged(self) -> bool:
        return self.fate == ACKNOWLEDGED

    @cached_property
    def ok(self) -> Attempt | None:
        """The first attempt that was acknowledged."""
        return next((each for each in self.attempts if each.outcome == "ok"), None)

    @property
    def is_relayed(self) -> bool:
        """Whether it came from outside for somebody outside (SR-16)."""
        return self.sent is not None and self.sent.mail == RELAYED

    @property
    def is_internal(self) -> bool:
        """Whether its client put it into an Outbox: Transport's 250 is its server's (SR-8)."""
        return self.sent is not None and self.sent.mail == INTERNAL

    @cached_property
    def seen_by(self) -> dict[str, list[VisibleRow]]:
        """By recipient, in the order of the listings."""
        in_order = sorted(self.visible, key=lambda each: each.ref)
        return grouped(in_order, lambda each: each.recipient)

    @cached_property
    def submissions(self) -> list[TrackingRow]:
        """The rows by which a Submission service had Transport's 250, in order."""
        return sorted(self.of_event("SUBMIT"), key=order_of)

    @cached_property
    def made_here(self) -> list[TrackingRow]:
        """Of a side effect of another message: by which its server made it."""
        return [row for row in self.tracking if is_made_here(row)]

    @cached_property
    def primaries(self) -> dict[Key, Primary]:
        return primaries_of(self.tracking)

    @cached_property
    def shadows(self) -> dict[ShadowKey, Shadow]:
        return shadows_of(self.tracking)

    def of_event(self, *events: str) -> list[TrackingRow]:
        return [row for row in self.tracking if row.event in events]


def messages_of(mail: Mail, front_ends: frozenset[str] = frozenset()) -> list[Message]:
    """Every message that anybody speaks of, DSNs in what they are about; in the order of ids."""
    found: dict[str, Message] = {}

    def named(name: str) -> Message:
        return found.setdefault(name, Message(name, front_ends=front_ends))

    for sent in mail.sent:
        message = named(sent.message_id)
        message.sent = message.sent or sent
    for begun in mail.attempts:
        named(begun.message_id).begun.append(begun)
    for ended in mail.outcomes:
        named(ended.message_id).ended.append(ended)
    for event in mail.tracking:
        if event.message_id is not None:
            named(event.message_id).tracking.append(event)
    for seen in mail.visible:
        named(seen.message_id).visible.append(seen)
    for queued in mail.queues:
        if queued.message_id is not None:
            named(queued.message_id).queued.append(queued)
    return _with_dsns(found)


def _with_dsns(found: dict[str, Message]) -> list[Message]:
    """A DSN, or a journal report, about a message that nobody speaks of stands by itself."""
    abouts = {name: about for name, each in found.items() if (about := subject_of(each.tracking))}
    for name, about in sorted(abouts.items()):
        if about in found and about not in abouts:
            side_effect, message = found.pop(name), found[about]
            is_dsn = bool(side_effect.of_event("DSN"))
            (message.dsns if is_dsn else message.journal_reports).append(side_effect)
    return [found[name] for name in sorted(found)]


def subject_of(rows: Iterable[TrackingRow]) -> str | None:
    """Of a DSN or a journal report: the Message-Id that it is about; None of any other message."""
    return next((message_id(row.reference) for row in rows if is_made_here(row)), None)
