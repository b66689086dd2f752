"""Defects of message tracking logs: rows that say of a message what it is not (TL-1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import Effect, LogTracking


class SaysOtherwise(Door):
    """In rows of `event`, of one in `every` of them; `instead` says what is logged."""

    event = "RECEIVE"
    every = 1

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, recipients=row.recipients[:1])

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogTracking) or effect.event != self.event:
            return (effect,)
        is_other = self.every == 1 or self.is_nth(self.every)
        return (self.instead(effect),) if is_other else (effect,)


class NamesTheFirstRecipientAsHeld(SaysOtherwise):
    event = "HARECEIVE"


class ForgetsTheSender(SaysOtherwise):
    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, envelope=replace(row.envelope, sender=""))


class SaysAnotherSize(SaysOtherwise):
    event = "DELIVER"
    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, size_bytes=row.size_bytes + 1)


class NamesItself(SaysOtherwise):
    """As the server that a message went to."""

    event = "SEND"
    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        return replace(row, server=self.me)


class NamesAnother(SaysOtherwise):
    """As the server that took a message in."""

    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        other = next(server for server in self.config.servers if server.name != self.me)
        return replace(row, server=other.name)


class HasAnothersReply(SaysOtherwise):
    """Of a shadow message."""

    event = "HAREDIRECT"
    every = 20

    def instead(self, row: LogTracking) -> LogTracking:
        _, _, reply = row.source_context.partition(" = ")
        return replace(row, source_context=f"{self.config.me.fqdn} = {reply}")


CALM, FIT = "calm", ("rows_fit",)
DEFECTS = (
    Defect(
        "logs-the-first-recipient-of-what-it-takes-in",
        "Of the recipients of a message that was taken in the first alone is logged.",
        "TL-1", CALM, FIT, lambda: behind(SaysOtherwise),
    ),
    Defect(
        "logs-the-first-recipient-of-a-shadow-message",
        "Of the recipients of a shadow message the first alone is logged.",
        "TL-1", CALM, FIT, lambda: behind(NamesTheFirstRecipientAsHeld),
    ),
    Defect(
        "logs-no-sender-of-one-in-twenty",
        "One message in twenty is logged as if it had the null sender.",
        "TL-1", CALM, FIT, lambda: behind(ForgetsTheSender),
    ),
    Defect(
        "logs-another-size-of-one-in-twenty",
        "One delivery in twenty is logged with a byte more than it has.",
        "TL-1", CALM, FIT, lambda: behind(SaysAnotherSize),
    ),
    Defect(
        "logs-itself-as-the-next-hop",
        "Of twenty messages that went to another server one is logged as if it had stayed.",
        "TL-1", CALM, FIT, lambda: behind(NamesItself),
    ),
    Defect(
        "logs-another-server-of-what-it-takes-in",
        "Of twenty messages that a server takes in one is logged as if another one had done so.",
        "TL-1", CALM, FIT, lambda: behind(NamesAnother),
    ),
    Defect(
        "logs-its-own-reply-to-a-shadow-message",
        "Of twenty shadow messages one is logged with a reply of the server that made it.",
        "TL-1", CALM, FIT, lambda: behind(HasAnothersReply),
    ),
)  # fmt: skip
