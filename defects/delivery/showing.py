"""Defects of what a server shows of its queues while it runs (TL-9, SM-20)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace

from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import server
from nodes.core.interface.effects import Effect, SendReply
from nodes.core.interface.replies import QueueShown, QueuesReply

SHOWN = "queues-shown"


class ShowsOtherwise(Door):
    """`shown` is what whoever looks sees instead."""

    @abstractmethod
    def shown(self, reply: QueuesReply) -> QueuesReply: ...

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and isinstance(effect.reply, QueuesReply):
            effect = replace(effect, reply=self.shown(effect.reply))
        return (effect,)


class ShowsNone(ShowsOtherwise):
    kind = "shadow"

    def shown(self, reply: QueuesReply) -> QueuesReply:
        return replace(reply, queues=tuple(q for q in reply.queues if q.kind != self.kind))


class ShowsNoSafetyNet(ShowsNone):
    kind = "primary-safety-net"


class ShowsNoShadowServer(ShowsNone):
    kind = "shadowed-by"


class ShowsQuestionsLate(ShowsOtherwise):
    """As if whoever holds its shadow messages had asked two minutes before it did."""

    def shown(self, reply: QueuesReply) -> QueuesReply:
        return replace(reply, queues=tuple(map(self._late, reply.queues)))

    def _late(self, queue: QueueShown) -> QueueShown:
        ago_ms = queue.asked_ago_ms
        return queue if ago_ms is None else replace(queue, asked_ago_ms=ago_ms + 120_000)


class ShowsNoQuestion(ShowsQuestionsLate):
    def _late(self, queue: QueueShown) -> QueueShown:
        return replace(queue, asked_ago_ms=None)


class ShowsFewer(ShowsOtherwise):
    """Of the messages in its queues half."""

    def shown(self, reply: QueuesReply) -> QueuesReply:
        return replace(reply, queues=tuple(map(self._halved, reply.queues)))

    def _halved(self, queue: QueueShown) -> QueueShown:
        return replace(queue, length=queue.length // 2) if queue.kind == "messages" else queue


class CountsTwice(ShowsOtherwise):
    def shown(self, reply: QueuesReply) -> QueuesReply:
        figures = ((name, self._twice(value)) for name, value in reply.figures)
        return replace(reply, figures=tuple(figures))

    def _twice(self, value: str) -> str:
        return str(2 * int(value)) if value.isdecimal() else value


class ShowsNormalLevels(ShowsOtherwise):
    def shown(self, reply: QueuesReply) -> QueuesReply:
        figures = ((name, v if v.isdecimal() else "normal") for name, v in reply.figures)
        return replace(reply, figures=tuple(figures))


class ShowsNoEmptyQueues(ShowsOtherwise):
    def shown(self, reply: QueuesReply) -> QueuesReply:
        queues = (each for each in reply.queues if each.length or each.kind != "delivery")
        return replace(reply, queues=tuple(queues))


def _keeps_them_for(change: Callable[[int], int]) -> Context:
    """Another QueueMaxIdleTime."""
    return server(
        lambda each: replace(each, queue_max_idle_time_ms=change(each.queue_max_idle_time_ms))
    )


IDLE, DAY_MS = "retries-and-idle-queues", 24 * 60 * 60_000
BY = ("queues_shown",)
DEFECTS = (
    Defect(
        "shows-no-shadow-queues",
        "A server leaves shadow queues out of what it shows.",
        "TL-9", SHOWN, BY, lambda: behind(ShowsNone),
    ),
    Defect(
        "shows-no-safety-net",
        "A server leaves its Primary Safety Net out of what it shows.",
        "TL-9", SHOWN, BY, lambda: behind(ShowsNoSafetyNet),
    ),
    Defect(
        "shows-no-shadow-servers",
        "A server does not show who holds the shadow messages of what is in its queues.",
        "SM-20", SHOWN, BY, lambda: behind(ShowsNoShadowServer),
    ),
    Defect(
        "shows-questions-late",
        "A server shows that each shadow server asked two minutes before it did.",
        "SM-20", SHOWN, BY, lambda: behind(ShowsQuestionsLate),
    ),
    Defect(
        "shows-no-question",
        "A server shows of no shadow server when it asked.",
        "SM-20", SHOWN, BY, lambda: behind(ShowsNoQuestion),
    ),
    Defect(
        "shows-half-of-its-messages",
        "A server shows half of the messages in its delivery queues.",
        "TL-9", SHOWN, BY, lambda: behind(ShowsFewer),
    ),
    Defect(
        "counts-shadow-messages-twice",
        "A server counts each step of shadow redundancy twice.",
        "TL-9", SHOWN, BY, lambda: behind(CountsTwice),
    ),
    Defect(
        "shows-normal-levels",
        "A server under back pressure shows its levels as normal.",
        "TL-9", SHOWN, BY, lambda: behind(ShowsNormalLevels),
    ),
    Defect(
        "shows-no-empty-queues",
        "A server does not show a delivery queue that is empty.",
        "TL-9", IDLE, BY, lambda: behind(ShowsNoEmptyQueues),
    ),
    Defect(
        "keeps-empty-queues",
        "A delivery queue that is empty is kept for a day.",
        "TL-9", IDLE, BY, lambda: _keeps_them_for(lambda _: DAY_MS),
    ),
    Defect(
        "keeps-empty-queues-for-three-times-as-long",
        "A delivery queue that is empty is kept for three times QueueMaxIdleTime.",
        "TL-9", IDLE, BY, lambda: _keeps_them_for(lambda idle_ms: 3 * idle_ms),
    ),
    Defect(
        "removes-empty-queues-at-once",
        "A delivery queue is removed as soon as it is empty.",
        "TL-9", IDLE, BY, lambda: _keeps_them_for(lambda _: 1),
    ),
    Defect(
        "removes-empty-queues-in-a-third-of-the-time",
        "A delivery queue that is empty is removed after a third of QueueMaxIdleTime.",
        "TL-9", IDLE, BY, lambda: _keeps_them_for(lambda idle_ms: idle_ms // 3),
        only_simulated="some seconds of lab time are less than a row may be late there",
    ),
)  # fmt: skip
