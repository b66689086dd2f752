"""Defects of the answer to whoever handed over a message: late, none, or another word (SR-6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from defects.settings import server
from nodes.core.interface.effects import CloseSession, Effect, SendReply
from nodes.core.interface.inputs import Input, RecipientOffered
from nodes.core.interface.replies import (
    R421_CONNECTION_TIMEOUT,
    R451_NOT_REDUNDANT,
    AnyReply,
    Reply,
)

CALM, REJECTED = "calm", "shadow-unreachable-rejected"
ANSWERED = ("answered_in_time",)


class ForgetsOneAnswerInFifty(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and takes_a_message(effect.reply) and self.is_nth(50):
            return ()
        return (effect,)


class LeavesOneRecipientInFiftyUnanswered(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        is_passed_over = isinstance(happened, RecipientOffered) and self.is_nth(50)
        return () if is_passed_over else (happened,)


class HangsUpInsteadOfRejecting(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.reply == R451_NOT_REDUNDANT:
            return (CloseSession(effect.session, R421_CONNECTION_TIMEOUT),)
        return (effect,)


def takes_a_message(reply: AnyReply) -> bool:
    """It is the 250 to a message from outside of the boundary."""
    return isinstance(reply, Reply) and reply.lines[0].endswith("Queued mail for delivery")


DEFECTS = (
    Defect(
        "forgets-one-answer-in-fifty",
        "One message in fifty is taken, kept and delivered; its sender is left without a word.",
        "SR-6", CALM, ANSWERED, lambda: behind(ForgetsOneAnswerInFifty),
    ),
    Defect(
        "leaves-one-recipient-in-fifty-unanswered",
        "One RCPT in fifty gets no answer; its client waits until it gives up.",
        "SR-6", CALM, ANSWERED, lambda: behind(LeavesOneRecipientInFiftyUnanswered),
    ),
    Defect(
        "hangs-up-instead-of-rejecting",
        "Where no shadow message could be made, the session times out instead of a 451.",
        "SR-6", REJECTED, ANSWERED, lambda: behind(HangsUpInsteadOfRejecting),
    ),
    Defect(
        "shares-out-more-than-the-session",
        "Attempts at a shadow message use twice ConnectionTimeout; the answer comes after its end.",
        "SR-6", REJECTED, ANSWERED,
        lambda: server(lambda each: replace(
            each, receive_connection_timeout_ms=2 * each.receive_connection_timeout_ms)),
    ),
)  # fmt: skip
