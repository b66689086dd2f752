"""Defects of the answer to whoever calls: late, none, another word, or too many (SR-5, SR-6, TL-5,
TL-6).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from unittest.mock import patch

from defects.defect import Defect
from defects.door import Door, behind
from defects.settings import server
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import CloseSession, Effect, SendReply
from nodes.core.interface.inputs import (
    DiscardAsked,
    Input,
    PeerAuthenticated,
    RecipientOffered,
    SessionAccepted,
)
from nodes.core.interface.replies import (
    R250_RECIPIENT_OK,
    R421_CONNECTION_TIMEOUT,
    R451_NOT_REDUNDANT,
    R550_NO_SUCH_RECIPIENT,
    R550_NOT_ALLOWED,
    AnyReply,
    Reply,
)

CALM, REJECTED, CALLED = "calm", "shadow-unreachable-rejected", "strangers-call"
ANSWERED, REFUSED = ("answered_in_time",), ("refused_for_cause",)
FIVE_MINUTES_MS = 300_000


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


class AnswersLateNowAndThen(Door):
    """The host is asked for the reply five minutes later, and nobody is waited for meanwhile."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and takes_a_message(effect.reply) and self.is_nth(20):
            self.hold_back(effect, FIVE_MINUTES_MS)
            return ()
        return (effect,)


class RefusesRecipients(Door):
    reply = Reply(452, ("4.3.1 Insufficient system resources",))

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.reply == R250_RECIPIENT_OK and self.refuses():
            return (SendReply(effect.session, self.reply),)
        return (effect,)

    def refuses(self) -> bool:
        return self.is_nth(50)


class KnowsOneRecipientInFiftyNot(RefusesRecipients):
    reply = R550_NO_SUCH_RECIPIENT


class RefusesAllAfterARestart(RefusesRecipients):
    def refuses(self) -> bool:
        return self.starts > 1


class RejectsOneInFifty(Door):
    """It keeps the message all the same; no row says that anything was tried."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and takes_a_message(effect.reply) and self.is_nth(50):
            return (SendReply(effect.session, R451_NOT_REDUNDANT),)
        return (effect,)


class NamesNoMessage(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and takes_a_message(effect.reply) and self.is_nth(20):
            return (SendReply(effect.session, Reply(250, ("2.0.0 OK",))),)
        return (effect,)


def takes_a_message(reply: AnyReply) -> bool:
    """It is the 250 to a message from outside of the boundary."""
    return isinstance(reply, Reply) and reply.lines[0].endswith("Queued mail for delivery")


class TakesEverybodyForAServer(Door):
    """Whoever calls counts as a server of the organisation."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionAccepted):
            others = (s.name for s in self.config.servers if s.role == "mailbox")
            peer = next(name for name in others if name != self.me)
            return (happened, PeerAuthenticated(happened.session, peer))
        return (happened,)


class TakesTheNameForGranted(Door):
    """Whoever has a server's certificate may ask in the name of any server."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, PeerAuthenticated):
            self._peers[happened.session] = happened.peer
        if isinstance(happened, DiscardAsked) and happened.session in self._peers:
            return (replace(happened, asking_server=self._peers[happened.session]),)
        return (happened,)


class SaysTooMuch(Door):
    """Whoever is refused is given the id of a message."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.reply == R550_NOT_ALLOWED:
            told = Reply(550, ("5.7.1 Not authorized [InternalId=1]",))
            return (replace(effect, reply=told),)
        return (effect,)


class LetsThemTrickle(Door):
    """ConnectionTimeout ends nothing."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_over = isinstance(effect, CloseSession) and effect.reply == R421_CONNECTION_TIMEOUT
        return () if is_over else (effect,)


NOTHING = ("strangers_learn_nothing",)
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
    Defect(
        "answers-five-minutes-late-now-and-then",
        "One message in twenty is safe at once, and its sender hears of it five minutes later.",
        "SR-6", CALM, ANSWERED, lambda: behind(AnswersLateNowAndThen),
    ),
    Defect(
        "refuses-one-recipient-in-fifty",
        "One RCPT in fifty is answered with 452, and nothing is short.",
        "SR-5", CALM, REFUSED, lambda: behind(RefusesRecipients),
    ),
    Defect(
        "knows-one-recipient-in-fifty-not",
        "One RCPT in fifty is answered with 550 5.1.10, though the mailbox is there.",
        "SR-5", CALM, REFUSED, lambda: behind(KnowsOneRecipientInFiftyNot),
    ),
    Defect(
        "refuses-all-after-a-restart",
        "After its first restart a server takes no mail any more.",
        "SR-5", "primary-returns-in-time", REFUSED, lambda: behind(RefusesAllAfterARestart),
    ),
    Defect(
        "rejects-one-in-fifty-without-an-attempt",
        "One message in fifty is rejected for the lack of a shadow copy that nobody tried to make.",
        "SR-5", REJECTED, REFUSED, lambda: behind(RejectsOneInFifty),
    ),
    Defect(
        "names-no-message",
        "One message in twenty is accepted with a 250 that names nothing.",
        "TL-5", CALM, ("traceable",), lambda: behind(NamesNoMessage),
    ),
    Defect(
        "takes-everybody-for-a-server",
        "Whoever calls may use the verbs of servers of the organisation.",
        "TL-6", CALLED, NOTHING, lambda: behind(TakesEverybodyForAServer),
        only_simulated="the shell of a node refuses strangers before its core hears of them",
    ),
    Defect(
        "answers-in-the-name-of-any-server",
        "A server may ask for the discard notifications of another one.",
        "TL-6", CALLED, NOTHING, lambda: behind(TakesTheNameForGranted),
    ),
    Defect(
        "says-too-much-when-it-refuses",
        "Whoever may not ask is given the id of a message with the refusal.",
        "TL-6", CALLED, NOTHING, lambda: behind(SaysTooMuch),
    ),
    Defect(
        "takes-half-line-ends",
        "A message with a CR or LF that stands alone is taken.",
        "TL-10", CALLED, ("content_intact",),
        lambda: patch("nodes.shell.smtp.line_ends.has_bare", lambda *_: False),
    ),
    Defect(
        "never-cuts-who-trickles",
        "A session outlives ConnectionTimeout as long as its client sends something.",
        "SR-6", CALLED, NOTHING, lambda: behind(LetsThemTrickle),
    ),
)  # fmt: skip
