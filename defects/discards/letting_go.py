"""Defects of shadow servers: what they make of discard notifications (SM-4, SN-2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Commit, Effect, OpenSession
from nodes.core.interface.inputs import DiscardAnswered, Input
from nodes.core.interface.queue_changes import InsertShadow
from nodes.core.model.message import ShadowKey

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


DISCARD = ("discard_after_delivery",)
DEFECTS = (
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
