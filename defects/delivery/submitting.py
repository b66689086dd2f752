"""Defects of the Outbox and of the service that submits what is in it (SR-8, SR-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import transport
from defects.shadows.making import BelievesInShadows
from nodes.core.config.config import NodeConfig
from nodes.core.interface.copy_changes import InsertOutboxItem, RemoveOutboxItem
from nodes.core.interface.effects import ChangeCopy, Effect, LogTracking, SendReply, Transmit
from nodes.core.interface.inputs import CopyChanged, Input, MessageOffered
from nodes.core.interface.replies import R250_OUTBOX_NEXT, R432_NOT_ACTIVE_HERE, r250_in_outbox
from nodes.core.model.database_copy import CopyStanding
from nodes.core.model.outbox import OUTBOX
from nodes.core.submission.submission import Submission
from nodes.store.mailbox import outbox

INTERNAL, WAITS, FAILS_OVER = "internal-mail", "outbox-waits", "outbox-fails-over"
SUBMITTED, LOST = ("submitted_from_outbox",), ("no_loss",)
DEFERRED = "SUBMITDEFER"


class BelievesInShadowsOfSubmittedMail(BelievesInShadows):
    def believes(self, sent: Transmit) -> bool:
        return sent.body.startswith(f"{OUTBOX}:")


class AnswersBeforeItIsInTheOutbox(Door):
    """Its disk takes two seconds more."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._sessions: dict[str, str] = {}
        self._answered: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered):
            self._sessions[happened.body] = happened.session
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.session in self._answered:
            self._answered.discard(effect.session)
            return ()
        if not isinstance(effect, ChangeCopy) or not isinstance(effect.what, InsertOutboxItem):
            return (effect,)
        session, item = self._sessions.pop(effect.what.body), effect.what.item
        self._answered.add(session)
        self.hold_back(effect, 2_000)
        reply = r250_in_outbox(item.header.message_id, item.item_id, self.config.me.fqdn)
        return (SendReply(session, reply),)


class OfRemovals(Door):
    """`removes`: what becomes of the removal of an item, with the answer that it is done."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._standing: CopyStanding | None = None
        self._own = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, CopyChanged):
            return (happened,)
        self._standing = happened.standing
        return () if happened.change < 0 else (happened,)

    def is_removed(self, effect: ChangeCopy) -> None:
        assert self._standing is not None
        self.answer(CopyChanged(effect.change, self._standing))


class RemovesNothing(OfRemovals):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ChangeCopy) and isinstance(effect.what, RemoveOutboxItem):
            self.is_removed(effect)
            return ()
        return (effect,)


class RemovesWhatItDefers(OfRemovals):
    """Before any 250 of Transport's; its database has no other copy."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogTracking) or effect.event != DEFERRED:
            return (effect,)
        place, item, _ = effect.source_context.split(", ", 2)
        self._own -= 1
        remove = RemoveOutboxItem(item.removeprefix("Item:"), self.now_ms)
        return (effect, ChangeCopy(self._own, place.removeprefix("MDB:"), remove))


class SaysSubmitted(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == DEFERRED:
            effect = replace(effect, event="SUBMIT")
        return (effect,)


class SaysNothingOf(Door):
    """Leaves out rows of `event`."""

    event = DEFERRED

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_left_out = isinstance(effect, LogTracking) and effect.event == self.event
        return () if is_left_out else (effect,)


class SaysNothingOfAnItem(SaysNothingOf):
    event = "NOTIFYMAPI"


class RefusesOneInFive(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendReply) or effect.reply != R250_OUTBOX_NEXT:
            return (effect,)
        return (replace(effect, reply=R432_NOT_ACTIVE_HERE) if self.is_nth(5) else effect,)


def _tries_again_after(wait_ms: int) -> Callable[[], Context]:
    return lambda: patch("nodes.core.submission.submission.SUBMIT_AGAIN_MS", wait_ms)


def _takes_in(kind: str) -> Callable[[], Context]:
    """Of the logs about an Outbox those of the other kind alone."""

    def taken_in(take_in: Any, database: Any, record: Any) -> None:
        if record["kind"] != kind:
            take_in(database, record)

    return lambda: decides(outbox.take_in, taken_in)


DEFECTS = (
    Defect(
        "shadow-not-sent-for-submitted-mail",
        "Mail from an Outbox gets no shadow copy, and the node says that it did.",
        "SR-8", INTERNAL, ("redundant_before_ack",),
        lambda: behind(BelievesInShadowsOfSubmittedMail),
    ),
    Defect(
        "acknowledged-before-it-is-in-the-outbox",
        "A client hears 250 before its item is durable in the Outbox.",
        "SR-8", INTERNAL, SUBMITTED, lambda: behind(AnswersBeforeItIsInTheOutbox),
    ),
    Defect(
        "never-leaves-the-outbox",
        "What was submitted stays in the Outbox, and is submitted again after each start.",
        "SR-8", WAITS, SUBMITTED, lambda: behind(RemovesNothing),
    ),
    Defect(
        "leaves-the-outbox-when-put-off",
        "What Transport does not take for now is removed from the Outbox.",
        "SR-15", WAITS, LOST, lambda: behind(RemovesWhatItDefers),
    ),
    Defect(
        "never-submits-again",
        "What was put off once is never tried again.",
        "SR-15", WAITS, SUBMITTED, _tries_again_after(10**10),
    ),
    Defect(
        "submits-again-too-soon",
        "What was put off is tried again after five seconds.",
        "SR-15", WAITS, SUBMITTED, _tries_again_after(5_000),
    ),
    Defect(
        "says-submitted-when-put-off",
        "SUBMIT is logged of what Transport did not take.",
        "SR-15", WAITS, ("redundant_before_ack",), lambda: behind(SaysSubmitted),
    ),
    Defect(
        "says-nothing-when-put-off",
        "No SUBMITDEFER is logged of what Transport did not take.",
        "SR-15", WAITS, SUBMITTED, lambda: behind(SaysNothingOf),
    ),
    Defect(
        "says-nothing-of-an-item",
        "No NOTIFYMAPI is logged of what is in the Outbox.",
        "SR-8", INTERNAL, SUBMITTED, lambda: behind(SaysNothingOfAnItem),
    ),
    Defect(
        "takes-submitted-mail-unprotected",
        "Mail from an Outbox is taken without a shadow copy although it is to be rejected then.",
        "SR-15", WAITS, ("redundant_before_ack",),
        lambda: transport(lambda t: replace(t, reject_message_on_shadow_failure=False)),
    ),
    Defect(
        "forgets-the-outbox-at-a-start",
        "A server that starts does not look into the Outboxes that it has.",
        "SR-15", WAITS, LOST, lambda: does(Submission, "opened", lambda opened, self: None),
    ),
    Defect(
        "leaves-the-outbox-of-a-new-active-copy",
        "A server whose copy becomes active does not look into its Outbox.",
        "SR-15", FAILS_OVER, LOST,
        lambda: does(Submission, "moved", lambda moved, self, event: None),
    ),
    Defect(
        "replays-without-the-outbox",
        "A copy that replays a log leaves out what was put into the Outbox.",
        "SR-15", FAILS_OVER, SUBMITTED, _takes_in(outbox.SUBMISSION),
    ),
    Defect(
        "replays-without-leaving-the-outbox",
        "A copy that replays a log keeps in its Outbox what was submitted.",
        "SR-8", FAILS_OVER, SUBMITTED, _takes_in(outbox.SUBMITTED),
    ),
    Defect(
        "refuses-an-active-outbox",
        "A server says to one client in five that its copy is not active, and it is.",
        "SR-8", INTERNAL, ("refused_for_cause",), lambda: behind(RefusesOneInFive),
    ),
)  # fmt: skip
