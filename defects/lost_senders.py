"""Defects of what becomes of a message whose sender is lost before its answer (SR-5, SR-6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Commit, Effect, LogTracking
from nodes.core.interface.inputs import CommitFailed, ConnectionLost, Input, MessageOffered
from nodes.core.interface.queue_changes import InsertMessage


class KeepsNothingForALostSender(Door):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._offered: dict[str, str] = {}
        self._lost: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered):
            self._offered[happened.session] = happened.header.message_id
            self._lost.discard(happened.header.message_id)
        elif isinstance(happened, ConnectionLost) and happened.session in self._offered:
            self._lost.add(self._offered.pop(happened.session))
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        """Of a message that could not be made redundant."""
        if isinstance(effect, LogTracking) and effect.event == "HAREDIRECTFAIL":
            return (self._told(effect),)
        if isinstance(effect, Commit) and self._keeps_one(effect):
            self.answer(CommitFailed(effect.commit, "its sender is gone"))
            return ()
        return (effect,)

    def _told(self, effect: LogTracking) -> LogTracking:
        if effect.header.message_id not in self._lost:
            return effect
        said = tuple(pair for pair in effect.custom if pair[0] != "Outcome")
        return replace(effect, custom=(*said, ("Outcome", "rejected")))

    def _keeps_one(self, effect: Commit) -> bool:
        kept = [each.message for each in effect.changes if isinstance(each, InsertMessage)]
        return any(m.shadow_server is None and m.header.message_id in self._lost for m in kept)


DEFECTS = (
    Defect(
        "keeps-nothing-for-a-lost-sender",
        "A message whose sender is lost before the attempts have failed is rejected, not kept.",
        "SR-6", "sender-lost", ("redundant_before_ack",),
        lambda: behind(KeepsNothingForALostSender),
    ),
)  # fmt: skip
