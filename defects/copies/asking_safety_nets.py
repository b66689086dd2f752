"""Defects of whom Active Manager asks for what a failover may have lost (SN-4 to SN-7, TP-6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.copies.manager import manager
from defects.defect import Defect
from defects.door import Door
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, OpenSession, RequestResubmit
from nodes.core.interface.inputs import (
    Input,
    ManagerOpened,
    MountAnswered,
    ResubmitAnswered,
    SessionFailed,
)
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState

LOSSY, DIES, CUT_OFF = "lossy-failover", "active-manager-dies", "active-manager-cut-off"
MINUTE_MS = 60_000
NO_SUCH_EPOCH = 2**31


class AsksNobody(Door):
    """Active Manager takes a Safety Net for asked; `passes_over` says which."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}
        self._failed: set[str] = set()

    def passes_over(self, server: str) -> bool:
        return True

    def has_failed(self, server: str) -> bool:
        """Whether it could not be reached at some time."""
        return server in self._failed

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionFailed):
            self._failed.add(self._peers[happened.session])
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession):
            self._peers[effect.session] = effect.peer
        if isinstance(effect, RequestResubmit) and self.passes_over(self._peers[effect.session]):
            self.answer(ResubmitAnswered(effect.session, ResubmitState.COMPLETED, 0))
            return ()
        return (effect,)


class PassesOverTheLast(AsksNobody):
    def passes_over(self, server: str) -> bool:
        return server == max(s.name for s in self.config.servers if s.role == "mailbox")


class PassesOverWhoWasAway(AsksNobody):
    def passes_over(self, server: str) -> bool:
        return self.has_failed(server)


class AsksForTooLittle(Door):
    """`demanded` says for what."""

    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, end_ms=demand.end_ms - 2 * MINUTE_MS)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, RequestResubmit):
            return (replace(effect, demand=self.demanded(effect.demand)),)
        return (effect,)


class AsksFromTooLateOn(AsksForTooLittle):
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, start_ms=min(demand.start_ms + 8 * MINUTE_MS, demand.end_ms - 1))


class MissesALog(Door):
    """The new copy seems to lack a log."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MountAnswered):
            return (replace(happened, last_log=happened.last_log - 1),)
        return (happened,)


class KnowsOneBranch(Door):
    """However another copy went its own way, its last log seems to be of the branch before."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, MountAnswered):
            return (replace(happened, last_log_epoch=NO_SUCH_EPOCH),)
        return (happened,)


class ForgetsWhomToAsk(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ManagerOpened):
            return (replace(happened, askings=()),)
        return (happened,)


COMPLETE, BOUNDED = ("resubmission_complete",), ("resubmission_bounded",)
DEFECTS = (
    Defect(
        "asks-no-safety-net",
        "After a failover Active Manager asks nobody.",
        "SN-4", LOSSY, COMPLETE, lambda: manager(AsksNobody),
    ),
    Defect(
        "passes-over-one-safety-net",
        "After a failover Active Manager asks all Safety Nets but one.",
        "SN-6", LOSSY, COMPLETE, lambda: manager(PassesOverTheLast),
    ),
    Defect(
        "passes-over-who-was-away",
        "A server that could not be reached once is not asked when it is back.",
        "SN-7", LOSSY, COMPLETE, lambda: manager(PassesOverWhoWasAway),
    ),
    Defect(
        "asks-without-the-end",
        "Safety Nets are not asked for the last two minutes.",
        "SN-4", CUT_OFF, COMPLETE, lambda: manager(AsksForTooLittle),
    ),
    Defect(
        "asks-from-too-late-on",
        "Safety Nets are not asked for the first minutes.",
        "SN-4", LOSSY, COMPLETE, lambda: manager(AsksFromTooLateOn),
    ),
    Defect(
        "knows-one-branch",
        "Safety Nets are asked from the new copy's last log on, though that is of another branch.",
        "SN-4", "two-branches", COMPLETE, lambda: manager(KnowsOneBranch),
    ),
    Defect(
        "asks-after-a-lossless-switchover",
        "Safety Nets are asked, though the new copy lacks nothing.",
        "SN-4", "lossless-switchover", BOUNDED, lambda: manager(MissesALog),
    ),
    Defect(
        "forgets-whom-to-ask-at-a-restart",
        "Active Manager forgets at a restart which Safety Nets are still to be asked.",
        "TP-6", DIES, COMPLETE, lambda: manager(ForgetsWhomToAsk),
    ),
)  # fmt: skip
