"""Defects of failovers: Active Manager, and who hears of the copy that is active (TP-6, SN-4 to
SN-7).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Context, Defect
from defects.door import Door, behind
from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.interface.copy_commands import DismountDatabase
from nodes.core.interface.effects import (
    CloseSession,
    Effect,
    ManageCopy,
    OpenSession,
    RequestResubmit,
    SendReply,
)
from nodes.core.interface.inputs import (
    ActiveCopyNamed,
    DiscardAsked,
    DismountAnswered,
    Input,
    ManagerOpened,
    MountAnswered,
    PeerAuthenticated,
    ResubmitAnswered,
    SessionAccepted,
    SessionFailed,
)
from nodes.core.interface.replies import (
    R421_CONNECTION_TIMEOUT,
    R550_NOT_ALLOWED,
    ActiveCopyReply,
    Reply,
)
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState

LOSSY, DIES, CUT_OFF = "lossy-failover", "active-manager-dies", "active-manager-cut-off"
CALLED = "strangers-call"
MINUTE_MS = 60_000


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


class ForgetsWhomToAsk(Door):
    """At a restart."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ManagerOpened):
            return (replace(happened, askings=()),)
        return (happened,)


class IgnoresActiveManager(Door):
    """Says that it knows the new active copy, and goes on with the one before."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, ActiveCopyNamed):
            return (happened,)
        self.hold_back(SendReply(happened.session, ActiveCopyReply(self.now_ms)), 0)
        return ()


class MountsBesideTheFirst(Door):
    """Active Manager takes the copy before for dismounted, and never asks."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ManageCopy) and isinstance(effect.command, DismountDatabase):
            self.answer(DismountAnswered(effect.session, last_log=0, last_log_ms=0))
            return ()
        return (effect,)


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
    """Whoever is refused is told the id of a message."""

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


def manager(make: type[Door]) -> Context:
    return behind(make, ActiveManager)


COMPLETE, BOUNDED = ("resubmission_complete",), ("resubmission_bounded",)
NOTHING = ("strangers_learn_nothing",)
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
        "asks-after-a-lossless-switchover",
        "Safety Nets are asked, though the new copy lacks nothing.",
        "SN-4", "lossless-switchover", BOUNDED, lambda: manager(MissesALog),
    ),
    Defect(
        "forgets-whom-to-ask-at-a-restart",
        "Active Manager forgets at a restart which Safety Nets are still to be asked.",
        "TP-6", DIES, COMPLETE, lambda: manager(ForgetsWhomToAsk),
    ),
    Defect(
        "goes-on-with-the-copy-before",
        "Servers say that they know the new active copy, and deliver to the one before.",
        "TP-4", CUT_OFF, ("no_loss", "drains_after_heal"), lambda: behind(IgnoresActiveManager),
    ),
    Defect(
        "mounts-beside-the-first",
        "In a switchover the second copy is mounted, and the first is not dismounted.",
        "TP-4", "lossless-switchover", ("one_active_copy",), lambda: manager(MountsBesideTheFirst),
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
        "Whoever may not ask is told the id of a message with the refusal.",
        "TL-6", CALLED, NOTHING, lambda: behind(SaysTooMuch),
    ),
    Defect(
        "never-cuts-who-trickles",
        "A session outlives ConnectionTimeout as long as its client sends something.",
        "SR-6", CALLED, NOTHING, lambda: behind(LetsThemTrickle),
    ),
)  # fmt: skip
