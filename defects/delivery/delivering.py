"""Defects of delivery: mail that is lost or doubled (SM-15, TL-7, DD)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.reporting import tells_nobody
from defects.settings import goes_by
from defects.store import (
    keeps_bodies,
    opens_with,
    replays_without_delivered_to,
)
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.dsn import non_delivery_report
from nodes.core.interface.effects import (
    Commit,
    DeliverToMailboxes,
    Effect,
    ShadowRequest,
    ShipLog,
    ShipMailbox,
    ShipSeed,
    Transmit,
)
from nodes.core.interface.inputs import (
    DatabaseOpened,
    Input,
    MailboxesDelivered,
    MessageOffered,
    SessionFailed,
    TransmissionAnswered,
)
from nodes.core.interface.queue_changes import ForgetDiscards

CALM, CUT = "calm", "site-cut"
MINUTE_MS = 60_000


class DeliversLess(Door):
    """`left_out` names recipients who are said to have a message and have not."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._left_out: dict[int, tuple[str, ...]] = {}

    def left_out(self, asked: DeliverToMailboxes) -> tuple[str, ...]:
        return ()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MailboxesDelivered):
            less = self._left_out.pop(happened.delivery, ())
            return (replace(happened, delivered=(*happened.delivered, *less)),)
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, DeliverToMailboxes):
            return (effect,)
        less = self.left_out(effect)
        left = tuple(each for each in effect.recipients if each not in less)
        if not left:
            self.answer(MailboxesDelivered(effect.delivery, less, ()))
            return ()
        self._left_out[effect.delivery] = less
        return (replace(effect, recipients=left),)


class LosesOneInFifty(DeliversLess):
    def left_out(self, asked: DeliverToMailboxes) -> tuple[str, ...]:
        return asked.recipients if self.is_nth(50) else ()


class ForgetsTheSecondRecipient(DeliversLess):
    def left_out(self, asked: DeliverToMailboxes) -> tuple[str, ...]:
        return asked.recipients[1:2]


class LosesAfterARestart(DeliversLess):
    def left_out(self, asked: DeliverToMailboxes) -> tuple[str, ...]:
        return asked.recipients if self.starts > 1 and self.is_nth(5) else ()


class AddsARecipient(Door):
    """One delivery in fifty goes to a mailbox more."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, DeliverToMailboxes) or not self.is_nth(50):
            return (effect,)
        others = (a for a, db in self.config.mailboxes.items() if db == effect.database)
        more = next(a for a in others if a not in effect.recipients)
        return (replace(effect, recipients=(*effect.recipients, more)),)


class DeliversTwice(Door):
    """One delivery in fifty is done once more, and what was there before is not looked for."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, DeliverToMailboxes) or not self.is_nth(50):
            return (effect,)
        first = replace(effect, delivery=-effect.delivery)  # the core hears of the second alone
        return (first, replace(effect, window_ms=-1))

    def enters(self, happened: Input) -> Iterable[Input]:
        is_first = isinstance(happened, MailboxesDelivered) and happened.delivery < 0
        return () if is_first else (happened,)


class SaysSent(Door, ABC):
    """`drops` says which messages for another server are never sent, `said` what it is said to have
    answered.
    """

    said: ClassVar = (250, "2.6.0 Queued mail for delivery")

    @abstractmethod
    def drops(self, sent: Transmit) -> bool: ...

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Transmit):
            return (effect,)
        is_mail = not isinstance(effect.prologue, ShadowRequest | ShipLog | ShipMailbox | ShipSeed)
        if not is_mail or not self.drops(effect):
            return (effect,)
        self.answer(TransmissionAnswered(effect.session, *self.said))
        return ()


class LosesOutboundMail(SaysSent):
    """One message in fifty that leaves the organisation."""

    def drops(self, sent: Transmit) -> bool:
        return sent.prologue is None and self.is_nth(50)


class SaysItWasRefused(SaysSent):
    """One message in ten."""

    said = (550, "5.7.1 Not wanted")

    def drops(self, sent: Transmit) -> bool:
        return self.is_nth(10)


@contextmanager
def throws_away_one_in_ten() -> Iterator[None]:
    with behind(SaysItWasRefused), decides(non_delivery_report, tells_nobody):
        yield


class LosesWhileALinkIsDown(SaysSent):
    """For some minutes after a session could not be opened."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._failed_ms = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionFailed):
            self._failed_ms = self.now_ms
        return (happened,)

    def drops(self, sent: Transmit) -> bool:
        return self.now_ms < self._failed_ms + 5 * MINUTE_MS


class ForgetsItsQueue(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            return (replace(happened, messages=()),)
        return (happened,)


class ForgetsOneOfItsQueueInFive(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            left = tuple(m for n, m in enumerate(happened.messages) if n % 5)
            return (replace(happened, messages=left),)
        return (happened,)


class KeepsConfirmedDiscards(Door):
    """On disk, for ever."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Commit):
            left = tuple(c for c in effect.changes if not isinstance(c, ForgetDiscards))
            return (replace(effect, changes=left),)
        return (effect,)


class TakesAnotherDate(Door):
    """As when the message comes."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered):
            header = replace(happened.header, submitted_ms=self.now_ms)
            return (replace(happened, header=header),)
        return (happened,)


def window(window_ms: int) -> Context:
    def narrowed(config: NodeConfig) -> NodeConfig:
        windows = dict.fromkeys(config.duplicate_windows_ms, window_ms)
        return replace(config, duplicate_windows_ms=windows)

    return goes_by(narrowed)


LOSS, TWICE = ("no_loss",), ("no_visible_duplicate",)
DEFECTS = (
    Defect(
        "loses-one-delivery-in-fifty",
        "One delivery in fifty is logged and never stored.",
        "SM-15", CALM, LOSS, lambda: behind(LosesOneInFifty),
    ),
    Defect(
        "forgets-the-second-recipient",
        "The second recipient of each delivery is logged and gets nothing.",
        "SM-15", CALM, LOSS, lambda: behind(ForgetsTheSecondRecipient),
    ),
    Defect(
        "loses-deliveries-after-a-restart",
        "After its first restart a server logs one delivery in five that it never stored.",
        "SM-15", "one-server-at-a-time", LOSS, lambda: behind(LosesAfterARestart), is_rare=True,
    ),
    Defect(
        "loses-outbound-mail",
        "One message in fifty for the outside is logged as sent and is not.",
        "SM-15", CALM, LOSS, lambda: behind(LosesOutboundMail),
    ),
    Defect(
        "loses-mail-while-a-link-is-down",
        "While some server cannot be reached, mail for the others is dropped and logged as sent.",
        "SM-15", CUT, LOSS, lambda: behind(LosesWhileALinkIsDown),
    ),
    Defect(
        "throws-away-one-in-ten",
        "One message in ten for another server is said to be refused there, and no DSN is sent.",
        "SM-15", CALM, LOSS, throws_away_one_in_ten,
    ),
    Defect(
        "says-one-in-ten-was-refused",
        "One message in ten for another server is said to be refused there; its sender gets a DSN.",
        "SM-15", CALM, LOSS, lambda: behind(SaysItWasRefused),
    ),
    Defect(
        "adds-a-recipient",
        "One delivery in fifty goes to somebody whom nobody sent it to.",
        "TP-5", CALM, ("no_phantom",), lambda: behind(AddsARecipient),
    ),
    Defect(
        "delivers-twice",
        "One delivery in fifty is done twice, and detected as no duplicate.",
        "DD-1", CALM, TWICE, lambda: behind(DeliversTwice),
    ),
    Defect(
        "forgets-its-queue-at-a-restart",
        "A primary that restarts forgets what it has acknowledged.",
        "TL-7", "primary-returns-in-time", LOSS, lambda: behind(ForgetsItsQueue),
    ),
    Defect(
        "forgets-a-fifth-of-its-queue-at-a-restart",
        "A primary that restarts forgets one in five of what it has acknowledged.",
        "TL-7", "primary-returns-in-time", LOSS, lambda: behind(ForgetsOneOfItsQueueInFive),
    ),
    Defect(
        "databases-are-never-synced",
        "Databases are opened with synchronous=OFF: the disk may keep what it likes.",
        "TL-7", "power-fails", LOSS, lambda: opens_with("synchronous = OFF"),
    ),
    Defect(
        "databases-are-synced-now-and-then",
        "Databases are opened with synchronous=NORMAL: what follows a checkpoint may be lost.",
        "TL-7", "power-fails", LOSS, lambda: opens_with("synchronous = NORMAL"),
    ),
    Defect(
        "keeps-confirmed-discards",
        "Confirmed discard notifications are never removed from the disk.",
        "SM-16", CALM, ("nothing_left_over",), lambda: behind(KeepsConfirmedDiscards),
    ),
    Defect(
        "keeps-bodies",
        "What a Safety Net lets go leaves its body on the disk.",
        "SN-1", CALM, ("nothing_left_over",), keeps_bodies,
    ),
    Defect(
        "detects-no-duplicate",
        "Duplicate detection is off; a primary that returns after a promotion shows it.",
        "SM-9", "primary-returns-after-promotion", TWICE, lambda: window(-1),
    ),
    Defect(
        "detects-no-duplicate-of-a-second-attempt",
        "A sender that missed its 250 makes a second copy in the mailbox.",
        "SR-7", "acknowledgement-lost", TWICE, lambda: window(-1),
    ),
    Defect(
        "detects-no-duplicate-of-a-resubmission",
        "What comes back from Safety Net stands in the mailbox twice.",
        "SN-15", "lossy-failover", TWICE, lambda: window(-1),
    ),
    Defect(
        "detects-duplicates-for-a-minute",
        "The window of duplicate detection is a minute long.",
        "DD-2", "half-done-fork", TWICE, lambda: window(MINUTE_MS),
    ),
    Defect(
        "takes-the-time-of-arrival-for-the-submit-time",
        "A message that comes a second time has another key.",
        "DD-1", "acknowledgement-lost", TWICE, lambda: behind(TakesAnotherDate),
    ),
    Defect(
        "duplicates-are-not-replicated",
        "A copy of a database that replays logs does not remember what was delivered.",
        "DD-3", "lossy-failover", TWICE, replays_without_delivered_to,
    ),
)  # fmt: skip
