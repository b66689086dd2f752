"""Defects of saying 250: before the message, or its shadow, is durable (SR-1, TL-7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.engine.tracking_rows import shadow_row
from nodes.core.interface.effects import (
    Commit,
    Effect,
    LogTracking,
    SendReply,
    ShadowRequest,
    Transmit,
)
from nodes.core.interface.inputs import CommitFailed, Committed, Input, MessageOffered
from nodes.core.interface.queue_changes import InsertMessage, InsertShadow
from nodes.core.interface.replies import Reply, r250_queued_for_delivery, r250_queued_for_redundancy

CALM, KILLED = "calm", "killed-before-the-commit"


class AnswersTooSoon(Door, ABC):
    """Says 250 just before the effect that `sign_of` knows, and not again when it should."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._offered: dict[str, MessageOffered] = {}
        self._answered: set[str] = set()

    @abstractmethod
    def sign_of(self, _effect: Effect) -> tuple[str, int]:
        """Handle and internal id of the message that is acknowledged now; no handle: of none."""

    def reply(self, message_id: str, internal_id: int) -> Reply:
        return r250_queued_for_delivery(message_id, internal_id, self.config.me.fqdn)

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MessageOffered):
            self._offered[happened.body] = happened
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.session in self._answered:
            self._answered.discard(effect.session)
            return ()
        body, internal_id = self.sign_of(effect)
        offered = self._offered.pop(body, None)
        if offered is None:
            return (effect,)
        self._answered.add(offered.session)
        reply = self.reply(offered.header.message_id, internal_id)
        return (SendReply(offered.session, reply), effect)


class AnswersBeforeTheShadowStands(AnswersTooSoon):
    def sign_of(self, effect: Effect) -> tuple[str, int]:
        if isinstance(effect, Transmit) and isinstance(effect.prologue, ShadowRequest):
            return effect.body, effect.prologue.internal_id
        return "", 0


class AnswersBeforeItsCommit(AnswersTooSoon):
    def sign_of(self, effect: Effect) -> tuple[str, int]:
        changes = effect.changes if isinstance(effect, Commit) else ()
        made = (c for c in changes if isinstance(c, InsertMessage))
        return next(((c.body, c.message.internal_id) for c in made), ("", 0))


class ShadowServerAnswersBeforeItsCommit(AnswersTooSoon):
    def sign_of(self, effect: Effect) -> tuple[str, int]:
        changes = effect.changes if isinstance(effect, Commit) else ()
        made = (c for c in changes if isinstance(c, InsertShadow))
        return next(((c.body, c.shadow.internal_id) for c in made), ("", 0))

    def reply(self, message_id: str, internal_id: int) -> Reply:
        return r250_queued_for_redundancy(message_id, internal_id, self.config.me.fqdn)


class AnswersBeforeALoneCommit(AnswersBeforeItsCommit):
    """Only while its disk writes nothing else."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._writing: set[int] = set()

    def sign_of(self, effect: Effect) -> tuple[str, int]:
        return ("", 0) if self._writing else super().sign_of(effect)

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, Committed | CommitFailed):
            self._writing.discard(happened.commit)
        return super().enters(happened)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        left = super().leaves(effect)
        if isinstance(effect, Commit):
            self._writing.add(effect.commit)
        return left


class ShadowServerSaysAllBeforeItsCommit(ShadowServerAnswersBeforeItsCommit):
    """In its log, too."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._logged: set[int] = set()

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == "HARECEIVE":
            return () if effect.internal_id in self._logged else (effect,)
        changes = effect.changes if isinstance(effect, Commit) else ()
        shadows = [c.shadow for c in changes if isinstance(c, InsertShadow)]
        self._logged.update(shadow.internal_id for shadow in shadows)
        rows = (shadow_row("HARECEIVE", "SMTP", shadow) for shadow in shadows)
        return (*rows, *super().leaves(effect))


REDUNDANT = ("redundant_before_ack",)
DEFECTS = (
    Defect(
        "acknowledges-before-the-shadow-stands",
        "The sender hears 250 when the shadow copy is sent, not when it stands.",
        "SR-1", CALM, REDUNDANT, lambda: behind(AnswersBeforeTheShadowStands),
    ),
    Defect(
        "acknowledges-before-its-commit",
        "The sender hears 250 just before the primary's own copy is durable.",
        "TL-7", "power-fails", ("no_loss",), lambda: behind(AnswersBeforeItsCommit),
    ),
    Defect(
        "acknowledges-before-its-commit-when-idle",
        "While the disk has nothing else to write, the sender hears 250 before the commit.",
        "TL-7", KILLED, ("no_loss",), lambda: behind(AnswersBeforeALoneCommit),
    ),
    Defect(
        "shadow-server-says-all-before-its-commit",
        "The primary hears 250 just before the shadow copy is durable, and the log says it too.",
        "TL-7", KILLED, ("no_loss",), lambda: behind(ShadowServerSaysAllBeforeItsCommit),
    ),
    Defect(
        "shadow-server-acknowledges-before-its-commit",
        "The primary hears 250 just before the shadow copy is durable.",
        "SR-1", CALM, REDUNDANT, lambda: behind(ShadowServerAnswersBeforeItsCommit),
    ),
)  # fmt: skip
