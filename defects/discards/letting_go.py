"""Defects of shadow servers: how they ask for discard notifications, and what they make of them
(SM-2, SM-4, SN-2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from defects.decisions import does
from defects.defect import Defect
from defects.door import Door, behind
from defects.settings import transport
from nodes.core.config.config import NodeConfig, TransportConfig
from nodes.core.interface.effects import Commit, Effect, OpenSession
from nodes.core.interface.inputs import DiscardAnswered, Input
from nodes.core.interface.queue_changes import InsertShadow
from nodes.core.model.message import ShadowKey
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease, Session
from nodes.core.shadow.shadow_queue import ShadowQueue

CALM = "calm"
MINUTE_MS = 60_000


class TakesInAnswers(Door, ABC):
    """`taken` says what the core hears instead of a primary's answer."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}
        self.held: dict[str, list[ShadowKey]] = {}

    @abstractmethod
    def taken(self, primary: str, answer: DiscardAnswered) -> DiscardAnswered: ...

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DiscardAnswered) and happened.session in self._peers:
            return (self.taken(self._peers[happened.session], happened),)
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession):
            self._peers[effect.session] = effect.peer
        for change in effect.changes if isinstance(effect, Commit) else ():
            if isinstance(change, InsertShadow):
                self.held.setdefault(change.shadow.key.primary, []).append(change.shadow.key)
        return (effect,)


class LetsGoOfEverything(TakesInAnswers):
    """With each answer, whatever it says."""

    def taken(self, primary: str, answer: DiscardAnswered) -> DiscardAnswered:
        keys = self.chosen(self.held.pop(primary, []))
        let_go = tuple((0, key.primary_internal_id, self.now_ms, self.now_ms) for key in keys)
        return replace(answer, notifications=(*let_go, *answer.notifications))

    def chosen(self, keys: list[ShadowKey]) -> list[ShadowKey]:
        return keys


class LetsGoOfOneInFifty(LetsGoOfEverything):
    def chosen(self, keys: list[ShadowKey]) -> list[ShadowKey]:
        return [key for key in keys if self.is_nth(50)]


class TakesInAllButTheLast(TakesInAnswers):
    """The last notification of an answer is confirmed and not acted on."""

    def taken(self, primary: str, answer: DiscardAnswered) -> DiscardAnswered:
        if len(answer.notifications) < 2:
            return answer
        *rows, (sequence, _, delivered_ms, first_ms) = answer.notifications
        return replace(answer, notifications=(*rows, (sequence, 0, delivered_ms, first_ms)))


class TakesOneInTwentyAsDeliveredLater(TakesInAnswers):
    """Ten minutes after it was."""

    def taken(self, primary: str, answer: DiscardAnswered) -> DiscardAnswered:
        rows = tuple(
            (sequence, number, delivered_ms + 10 * MINUTE_MS * self.is_nth(20), first_ms)
            for sequence, number, delivered_ms, first_ms in answer.notifications
        )
        return replace(answer, notifications=rows)


def _only_for_heartbeats(ask_first: Any, queue: ShadowQueue, lease: Lease) -> None:
    request = lease.session.request
    if request is not None and request.purpose == "heartbeat":
        ask_first(queue, lease)


def _every_five_seconds(config: TransportConfig) -> TransportConfig:
    return replace(config, shadow_heartbeat_frequency_ms=5_000)


def _hung_up(release: Any, sessions: Sessions, session: Session) -> None:
    if session.request is not None and session.request.purpose == "heartbeat":
        sessions.hang_up(session)
    else:
        release(sessions, session)


@contextmanager
def _one_session_for_each_question() -> Iterator[None]:
    with transport(_every_five_seconds), does(Sessions, "release", _hung_up):
        yield


DISCARD, PACED = ("discard_after_delivery",), ("heartbeats_paced",)
DEFECTS = (
    Defect(
        "asks-in-heartbeats-only",
        "The shadow server does not ask in sessions that it opens for something else.",
        "SM-2", CALM, DISCARD, lambda: does(ShadowQueue, "ask_first", _only_for_heartbeats),
    ),
    Defect(
        "asks-ten-times-too-seldom",
        "The shadow server asks ten times less often than ShadowHeartbeatFrequency says.",
        "SM-2", CALM, DISCARD,
        lambda: transport(
            lambda t: replace(
                t, shadow_heartbeat_frequency_ms=10 * t.shadow_heartbeat_frequency_ms
            )
        ),
    ),
    Defect(
        "opens-a-session-every-five-seconds",
        "The shadow server opens a session every five seconds, asks in it and hangs up.",
        "SM-2", CALM, PACED, _one_session_for_each_question,
    ),
    Defect(
        "asks-every-five-seconds-where-nobody-answers",
        "Once a primary server cannot be reached, it is tried every five seconds.",
        "SM-2", "primary-returns-in-time", PACED, lambda: transport(_every_five_seconds),
    ),
    Defect(
        "lets-go-with-every-answer",
        "The shadow server lets go of all it holds for a primary as soon as that answers.",
        "SM-4", "half-done-fork", DISCARD, lambda: behind(LetsGoOfEverything),
    ),
    Defect(
        "lets-one-in-fifty-go-too-soon",
        "The shadow server lets one message in fifty go before it is notified.",
        "SM-4", "half-done-fork", DISCARD, lambda: behind(LetsGoOfOneInFifty),
    ),
    Defect(
        "takes-in-all-but-the-last",
        "Of several notifications in one answer the last is confirmed and not acted on.",
        "SM-4", "discard-notifications-survive", DISCARD, lambda: behind(TakesInAllButTheLast),
    ),
    Defect(
        "takes-one-in-twenty-as-delivered-later",
        "Of twenty shadow messages one is kept as if it had been delivered ten minutes later.",
        "SN-2", CALM, DISCARD, lambda: behind(TakesOneInTwentyAsDeliveredLater),
    ),
)  # fmt: skip
