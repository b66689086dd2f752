"""Defects of making a message redundant: of whether it is (SR)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.answering import RejectsOneInFifty
from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import transport
from defects.shadows.attempting import CALM, PLACED, REJECTED, UNREACHABLE, any_mailbox_server
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import (
    DeliverTo,
    Effect,
    LogTracking,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import (
    Input,
    SessionFailed,
    SessionOpened,
    TransmissionAnswered,
)
from nodes.core.model.message import PrimaryMessage
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.boundary import is_inside
from nodes.core.routing.routing import hop_into
from nodes.core.shadow.primary_side import Redundancy
from nodes.core.shadow.shadow_attempts import Made
from nodes.shell.verbs.shadow import offers_shadow

QUEUED = "2.6.0 Queued mail for redundancy"
ACROSS = "across-boundaries"
OFF = "shadow-redundancy-off"


def shadow_sent(effect: Effect) -> Transmit | None:
    """The effect, if it sends a shadow message."""
    if isinstance(effect, Transmit) and isinstance(effect.prologue, ShadowRequest):
        return effect
    return None


class BelievesInShadows(Door):
    """Takes a shadow message for made that was never sent; `believes` says which."""

    def believes(self, _sent: Transmit) -> bool:
        return True

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        sent = shadow_sent(effect)
        if sent is None or not self.believes(sent):
            return (effect,)
        self.answer(TransmissionAnswered(sent.session, 250, QUEUED))
        return ()


class SeesAnOffer(Door):
    """Takes whoever offers no shadow verbs for one that does."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionOpened):
            return (replace(happened, offers_shadow=True),)
        return (happened,)


@contextmanager
def makes_shadows_though_they_are_off() -> Iterator[None]:
    with (
        transport(lambda t: replace(t, shadow_redundancy_enabled=True)),
        behind(SeesAnOffer),
    ):
        yield


class BelievesInOneOfFifty(BelievesInShadows):
    def believes(self, _sent: Transmit) -> bool:
        return self.is_nth(50)


class BelievesAfterARestart(BelievesInShadows):
    def believes(self, _sent: Transmit) -> bool:
        return self.starts > 1


class BelievesForManyRecipients(BelievesInShadows):
    def believes(self, sent: Transmit) -> bool:
        return len(sent.envelope.recipients) > 2


class BelievesForItsOwnMailboxes(BelievesInShadows):
    """Of mail that was submitted from a mailbox of the organisation."""

    def believes(self, sent: Transmit) -> bool:
        return sent.envelope.sender.lower() in self.config.mailboxes


class BelievesOnceAnAttemptFailed(BelievesInShadows):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._has_failed = False

    def enters(self, happened: Input) -> Iterable[Input]:
        self._has_failed |= isinstance(happened, SessionFailed)
        return (happened,)

    def believes(self, _sent: Transmit) -> bool:
        return self._has_failed


class BelievesForWhatIsResubmitted(BelievesInShadows):
    def believes(self, sent: Transmit) -> bool:
        asked = sent.prologue
        return isinstance(asked, ShadowRequest) and asked.resubmit_request is not None


class NeverSaysUnprotected(Door):
    """The row of the log that says so is missing."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_row = isinstance(effect, LogTracking) and effect.event == "HAREDIRECTFAIL"
        return () if is_row and self.hides() else (effect,)

    def hides(self) -> bool:
        return True


class HidesOneInTen(NeverSaysUnprotected):
    def hides(self) -> bool:
        return self.is_nth(10)


class HidesHalf(NeverSaysUnprotected):
    def hides(self) -> bool:
        return self.is_nth(2)


class NamesNoDatabase(Door):
    """When it sends one shadow message in ten."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        sent = shadow_sent(effect)
        if sent is None or not isinstance(sent.prologue, ShadowRequest) or not self.is_nth(10):
            return (effect,)
        return (replace(sent, prologue=replace(sent.prologue, database_id="")),)


class TakesTwoHops(Door):
    """What is to go into a mailbox is sent as if from outside."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Transmit) and isinstance(effect.prologue, DeliverTo):
            return (replace(effect, prologue=None),)
        return (effect,)


def _straight(_decision: Any, _config: NodeConfig, database: str) -> NextHop:
    return NextHop.into(database)


def _unless_it_passes_through(
    make: Callable[..., None], self: Redundancy, message: PrimaryMessage, *rest: Any
) -> None:
    if any(each.endswith(OURS) for each in message.envelope.recipients):
        make(self, message, *rest)
    else:
        done = rest[-1]
        done(Made("lyo-mbx2", "250 2.6.0 Queued mail for redundancy", 1, "nowhere"))


@contextmanager
def puts_mail_into_mailboxes_of_another_boundary() -> Iterator[None]:
    with decides(hop_into, _straight), decides(is_inside, any_mailbox_server):
        yield


def rejects(is_rejecting: bool) -> Context:
    return transport(lambda t: replace(t, reject_message_on_shadow_failure=is_rejecting))


OURS = "@shadowlab.example"
REDUNDANT, AGAIN = ("redundant_before_ack",), ("shadowed_again",)
DEFECTS = (
    Defect(
        "no-shadow-at-all",
        "No message is made redundant: the node takes shadow redundancy for switched off.",
        "SR-1", CALM, REDUNDANT,
        lambda: transport(lambda t: replace(t, shadow_redundancy_enabled=False)),
    ),
    Defect(
        "shadow-of-one-in-fifty-not-sent",
        "Of one message in fifty the shadow copy is never sent, and the node says it was made.",
        "SR-1", CALM, REDUNDANT, lambda: behind(BelievesInOneOfFifty),
    ),
    Defect(
        "shadow-not-sent-after-a-restart",
        "After its first restart a node sends no shadow copy, and says that they were made.",
        "SR-1", "flapping-link", REDUNDANT, lambda: behind(BelievesAfterARestart),
    ),
    Defect(
        "shadow-not-sent-for-many-recipients",
        "Messages with more than two recipients get no shadow copy, and the node says they did.",
        "SR-1", CALM, REDUNDANT, lambda: behind(BelievesForManyRecipients),
    ),
    Defect(
        "shadow-not-sent-for-own-mailboxes",
        "Mail from mailboxes of the organisation gets no shadow copy, and the node says it did.",
        "SR-8", CALM, REDUNDANT, lambda: behind(BelievesForItsOwnMailboxes),
    ),
    Defect(
        "shadow-not-sent-once-a-server-failed",
        "Once a server could not be reached, no shadow copy is sent any more, and all are said "
        "to be made.",
        "SR-1", "site-cut", REDUNDANT, lambda: behind(BelievesOnceAnAttemptFailed),
    ),
    Defect(
        "resubmitted-mail-is-said-to-have-a-shadow",
        "Resubmitted messages get no shadow copy, and the node says they did.",
        "SM-13", "lossy-failover", AGAIN, lambda: behind(BelievesForWhatIsResubmitted),
    ),
    Defect(
        "rejects-what-is-to-be-accepted",
        "A message that cannot be made redundant is refused, where it is to be accepted.",
        "SR-5", UNREACHABLE, REDUNDANT, lambda: rejects(True),
    ),
    Defect(
        "accepts-what-is-to-be-rejected",
        "A message that cannot be made redundant is accepted, where it is to be refused.",
        "SR-5", REJECTED, REDUNDANT, lambda: rejects(False),
    ),
    Defect(
        "never-says-unprotected",
        "What is accepted unprotected is not logged as that.",
        "SR-1", UNREACHABLE, REDUNDANT, lambda: behind(NeverSaysUnprotected),
    ),
    Defect(
        "hides-one-unprotected-in-ten",
        "One message in ten that is accepted unprotected is not logged as that.",
        "SR-1", UNREACHABLE, REDUNDANT, lambda: behind(HidesOneInTen),
    ),
    Defect(
        "half-of-what-is-unprotected-in-silence",
        "Every second message that is accepted unprotected is not logged as that.",
        "SM-15", UNREACHABLE, ("redundancy_exposure",), lambda: behind(HidesHalf),
    ),
    Defect(
        "straight-into-a-mailbox-of-another-boundary",
        "Mail for another boundary goes into the mailbox in one hop, without a new shadow there.",
        "SR-10", ACROSS, REDUNDANT, puts_mail_into_mailboxes_of_another_boundary,
    ),
    Defect(
        "makes-no-shadow-of-what-passes-through",
        "Mail for nobody here is not made redundant, though its server says so.",
        "SR-16", "relayed", REDUNDANT, lambda: does(Redundancy, "make", _unless_it_passes_through),
    ),
    Defect(
        "two-hops-inside-a-boundary",
        "What could go into a mailbox in one hop is received once more on the way.",
        "SR-12", ACROSS, REDUNDANT, lambda: behind(TakesTwoHops),
    ),
    Defect(
        "makes-shadows-though-they-are-off",
        "Shadow copies are made and taken, though ShadowRedundancyEnabled is false.",
        "SR-9", OFF, PLACED,
        makes_shadows_though_they_are_off,
    ),
    Defect(
        "offers-shadow-verbs-though-they-are-off",
        "EHLO offers servers XSHADOWREQUEST, though ShadowRedundancyEnabled is false.",
        "SR-9", OFF, ("strangers_learn_nothing",),
        lambda: decides(offers_shadow, lambda decision, config, peer: peer is not None),
    ),
    Defect(
        "refuses-one-in-fifty-though-shadows-are-off",
        "One message in fifty is refused for the lack of a shadow copy that nobody would make.",
        "SR-14", OFF, PLACED, lambda: behind(RejectsOneInFifty),
    ),
    Defect(
        "shadow-under-no-database-id",
        "One shadow copy in ten is held under no database id of its primary.",
        "SR-11", CALM, PLACED, lambda: behind(NamesNoDatabase),
    ),
)  # fmt: skip
