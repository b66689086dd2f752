"""Defects of failovers: Active Manager, who hears of the copy that is active, and the logs that
make copies equal (TP-4, TP-6, SN-4 to SN-7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeGuard
from unittest.mock import patch

from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.copies.local_copy import CopyHere
from nodes.core.copies.log_shipping import SERVICE, LogShipping
from nodes.core.failover import copy_monitor
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.interface.copy_commands import DismountDatabase
from nodes.core.interface.effects import (
    Effect,
    ManageCopy,
    OpenSession,
    RequestResubmit,
    SendReply,
)
from nodes.core.interface.inputs import (
    ActiveCopyNamed,
    DismountAnswered,
    DismountAsked,
    Input,
    LogAnnounced,
    ManagerOpened,
    MountAnswered,
    ResubmitAnswered,
    SeedAnnounced,
    SessionFailed,
)
from nodes.core.interface.replies import (
    R451_COPY_BUSY,
    ActiveCopyReply,
    DismountReply,
)
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState

LOSSY, DIES, CUT_OFF = "lossy-failover", "active-manager-dies", "active-manager-cut-off"
SWITCHOVER = "lossless-switchover"
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


class IgnoresActiveManager(Door):
    """Says that it knows the new active copy, and goes on with the one before."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, ActiveCopyNamed):
            return (happened,)
        self.hold_back(SendReply(happened.session, ActiveCopyReply(self.now_ms)), 0)
        return ()


class GoesOnAfterADismount(IgnoresActiveManager):
    """It says that its copy is dismounted, and takes its own mail into it."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._kept: set[str] = set()

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DismountAsked):
            self._kept.add(happened.database)
            self.hold_back(SendReply(happened.session, DismountReply(0, 0)), 0)
            return ()
        is_kept = isinstance(happened, ActiveCopyNamed) and happened.database in self._kept
        return super().enters(happened) if is_kept else (happened,)


class HearsOfNoOtherByItsLogs(Door):
    """A copy that was active at first takes no logs of a later one before Active Manager has said
    that it is active; until then it goes on.
    """

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._epochs: dict[str, int] = {}

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ActiveCopyNamed):
            self._epochs[happened.database] = happened.epoch
        if isinstance(happened, LogAnnounced | SeedAnnounced) and self._is_news(happened):
            self.hold_back(SendReply(happened.session, R451_COPY_BUSY), 0)
            return ()
        return (happened,)

    def _is_news(self, told: LogAnnounced | SeedAnnounced) -> bool:
        database = told.log.database if isinstance(told, LogAnnounced) else told.database
        was_active = self.config.databases.get(database) == self.me
        return was_active and told.epoch > self._epochs.get(database, 0)


class MountsBesideTheFirst(Door):
    """Active Manager takes the copy before for dismounted, and never asks."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ManageCopy) and isinstance(effect.command, DismountDatabase):
            self.answer(DismountAnswered(effect.session, last_log=0, last_log_ms=0))
            return ()
        return (effect,)


def is_for_logs(effect: Effect) -> TypeGuard[OpenSession]:
    return isinstance(effect, OpenSession) and effect.service == SERVICE


def ships(is_sent: Callable[[LogShipping], bool]) -> Context:
    """Logs are sent where this is so."""

    def pump(method: Callable[[LogShipping], None], shipping: LogShipping) -> None:
        if is_sent(shipping):
            method(shipping)

    return does(LogShipping, "pump", pump)


class DoesNotReachTheLastForLogs(Door):
    """`gives_up` says whom."""

    def gives_up(self, peer: str) -> bool:
        return peer == max(s.name for s in self.config.servers if s.role == "mailbox")

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect) and self.gives_up(effect.peer):
            self.answer(SessionFailed(effect.session, "connection refused"))
            return ()
        return (effect,)


class DoesNotReachWhoWasAwayForLogs(DoesNotReachTheLastForLogs):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._peers: dict[str, str] = {}
        self._failed: set[str] = set()

    def gives_up(self, peer: str) -> bool:
        return peer in self._failed

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, SessionFailed) and happened.session in self._peers:
            self._failed.add(self._peers[happened.session])
        return (happened,)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect):
            self._peers[effect.session] = effect.peer
        return super().leaves(effect)


class CallsForLogsAMinuteLate(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_for_logs(effect):
            self.hold_back(effect, MINUTE_MS)
            return ()
        return (effect,)


@contextmanager
def hears_of_no_other_by_its_logs() -> Iterator[None]:
    with behind(HearsOfNoOtherByItsLogs), does(CopyHere, "superseded", lambda *_: None):
        yield


def manager(make: type[Door]) -> Context:
    return behind(make, ActiveManager)


class ForgetsLogsAtARestart(Door):
    """How many the active copy had."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ManagerOpened):
            forgotten = tuple(replace(each, last_log=0) for each in happened.databases)
            return (replace(happened, databases=forgotten),)
        return (happened,)


def _whatever_it_lacks(
    best: Callable[..., str | None],
    choice: CopyChoice,
    database: str,
    active: str,
    *,
    last_log: int | None = None,
) -> str | None:
    return best(choice, database, active, last_log=None if last_log is None else 0)


def _on_request(
    best: Callable[..., str | None],
    choice: CopyChoice,
    database: str,
    active: str,
    *,
    last_log: int | None = None,
) -> str | None:
    return best(choice, database, active) if last_log is None else None


COMPLETE, BOUNDED = ("resubmission_complete",), ("resubmission_bounded",)
FOLLOW, ON_TIME = ("copies_follow",), ("failover_on_time",)
ALLOWED = ("failover_allowed",)
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
    Defect(
        "asks-forty-times-before-it-fails-over",
        "A copy whose server is gone gives way after forty questions instead of three.",
        "TP-6", "active-copy-dies", ON_TIME, lambda: patch.object(copy_monitor, "MISSES", 40),
    ),
    Defect(
        "never-fails-over-by-itself",
        "Active Manager finds a copy to be mounted only where somebody asks for it.",
        "TP-6", "active-copy-dies", ON_TIME, lambda: does(CopyChoice, "best", _on_request),
    ),
    Defect(
        "mounts-whatever-a-copy-lacks",
        "Active Manager mounts by itself a copy that lacks more than AutoDatabaseMountDial allows.",
        "TP-6", LOSSY, ALLOWED, lambda: does(CopyChoice, "best", _whatever_it_lacks),
    ),
    Defect(
        "forgets-at-a-restart-how-many-logs-there-are",
        "Active Manager forgets at a restart how many logs an active copy had.",
        "TP-6", "lossy-mount-refused", ALLOWED, lambda: manager(ForgetsLogsAtARestart),
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
        "hears-of-no-other-copy-by-its-logs",
        "An active copy that Active Manager cannot reach goes on, whatever servers of others say.",
        "TP-4", CUT_OFF, ("one_active_copy",), hears_of_no_other_by_its_logs,
    ),
    Defect(
        "goes-on-after-a-dismount",
        "A copy that is said to be dismounted takes its own server's mail.",
        "TP-4", SWITCHOVER, ("one_active_copy",), lambda: behind(GoesOnAfterADismount),
    ),
    Defect(
        "ships-no-logs",
        "No passive copy is given any log.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: ships(lambda shipping: False),
    ),
    Defect(
        "ships-no-logs-once-activated",
        "A copy that Active Manager has activated gives the others no logs.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: ships(lambda shipping: shipping.epoch == 0),
    ),
    Defect(
        "ships-no-logs-to-one-server",
        "One server of several with passive copies is never reached for logs.",
        "TP-4", "active-manager-cut-off", FOLLOW, lambda: behind(DoesNotReachTheLastForLogs),
    ),
    Defect(
        "ships-no-logs-to-whoever-was-away",
        "A server that was not reached for logs once is never called for them again.",
        "TP-4", "failovers", FOLLOW, lambda: behind(DoesNotReachWhoWasAwayForLogs), is_rare=True,
    ),
    Defect(
        "ships-logs-a-minute-late",
        "A session for logs is opened a minute after there are some.",
        "TP-4", SWITCHOVER, FOLLOW, lambda: behind(CallsForLogsAMinuteLate),
        only_simulated="a minute of lab time is a second there, and a timer may be two late",
    ),
)  # fmt: skip
