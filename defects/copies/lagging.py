"""Defects of lagged copies: how far they lag, who activates them, and what comes back for that
(TP-4, SN-5, SN-7, SN-9, SN-20).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.copies.asking_safety_nets import AsksForTooLittle, AsksNobody
from defects.copies.manager import manager
from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import goes_by
from nodes.core.config.config import NodeConfig
from nodes.core.failover import safety_net_requests
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.interface.copy_changes import ReplayKeptLog
from nodes.core.interface.copy_commands import MountDatabase
from nodes.core.interface.effects import ChangeCopy, Effect, ManageCopy, RequestResubmit
from nodes.core.interface.inputs import CopyNotChanged, ResubmitAnswered
from nodes.core.model.resubmit_request import ResubmitDemand, ResubmitState, SafetyNetSource
from nodes.store.mailbox.database import MailboxDatabase

AS_IT_STANDS, BACK, SEVEN = "lagged-copy-activated", "back-in-time", "safety-net-lost-at-seven"
SILENCE = "twelve-hours-of-silence"
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


def lags(otherwise: Callable[[int], int]) -> Context:
    """Lagged copies have another ReplayLagTime, in ms."""

    def lagged(config: NodeConfig) -> NodeConfig:
        copies = {
            name: tuple(replace(c, replay_lag_ms=otherwise(c.replay_lag_ms)) for c in those)
            for name, those in config.copies.items()
        }
        return replace(config, copies=copies)

    return goes_by(lagged)


def chooses_the_lagged_copy() -> Context:
    """Active Manager, by itself."""

    def best(
        method: Callable[..., str | None], self: Any, database: str, active: str, **last_log: Any
    ) -> str | None:
        found = method(self, database, active, **last_log)
        return "lyo-mbx2" if found is not None and database == "DB1" else found

    return does(CopyChoice, "best", best)


class MountsAsOf(Door):
    """Active Manager has a lagged copy mounted as of another moment; `moment` says which."""

    def moment(self, before_ms: int) -> int | None:
        return None

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ManageCopy) and isinstance(effect.command, MountDatabase):
            before_ms = effect.command.before_ms
            if before_ms is not None:
                command = replace(effect.command, before_ms=self.moment(before_ms))
                return (replace(effect, command=command),)
        return (effect,)


class MountsAsOfNow(MountsAsOf):
    def moment(self, before_ms: int) -> int | None:
        return self.now_ms


class AsksForHalfTheLag(AsksForTooLittle):
    def demanded(self, demand: ResubmitDemand) -> ResubmitDemand:
        return replace(demand, start_ms=(demand.start_ms + demand.end_ms) // 2)


class PassesOnNoHead(Door):
    """A server takes those whom it should ask for a missing head for asked."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, RequestResubmit) and effect.demand.source is SafetyNetSource.SHADOW:
            self.answer(ResubmitAnswered(effect.session, ResubmitState.COMPLETED, 0))
            return ()
        return (effect,)


class AsksForMoreThanTheHead(Door):
    """By half an hour."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, RequestResubmit) and effect.demand.source is SafetyNetSource.SHADOW:
            demand = replace(effect.demand, end_ms=effect.demand.end_ms + HOUR_MS // 2)
            return (replace(effect, demand=demand),)
        return (effect,)


def waits_for(hours: int) -> Context:
    """Active Manager, for a Safety Net that does not answer."""
    return patch.object(safety_net_requests, "SILENCE_MS", hours * HOUR_MS)


@contextmanager
def replays_no_kept_log() -> Iterator[None]:
    """When its lag is over, the disk refuses it."""
    change = MailboxDatabase.change

    def changed(self: MailboxDatabase, asked: ChangeCopy, fetch: Any) -> Any:
        if isinstance(asked.what, ReplayKeptLog) and asked.what.number > 20:
            return CopyNotChanged(asked.change, "no room for logs")
        return change(self, asked, fetch)

    with patch.object(MailboxDatabase, "change", changed):
        yield


LAG, COMPLETE, HEAD = ("lag_kept",), ("resubmission_complete",), ("missing_head_asked",)
STAND_INS = ("stand_ins_asked",)
DEFECTS = (
    Defect(
        "replays-at-once",
        "A lagged copy replays each log as soon as it comes.",
        "TP-4", AS_IT_STANDS, LAG, lambda: lags(lambda ms: 0),
    ),
    Defect(
        "lags-half-as-long",
        "A lagged copy replays each log when half its ReplayLagTime is over.",
        "TP-4", AS_IT_STANDS, LAG, lambda: lags(lambda ms: ms // 2),
    ),
    Defect(
        "lags-half-as-long-again",
        "A lagged copy keeps each log for half its ReplayLagTime longer.",
        "TP-4", AS_IT_STANDS, LAG, lambda: lags(lambda ms: ms * 3 // 2),
    ),
    Defect(
        "replays-no-kept-log-after-the-twentieth",
        "A lagged copy gives up on the twenty-first log that it kept.",
        "TP-4", AS_IT_STANDS, ("copies_agree",), replays_no_kept_log,
    ),
    Defect(
        "activates-a-lagged-copy-by-itself",
        "Active Manager mounts the lagged copy when the active one is gone.",
        "TP-6", AS_IT_STANDS, ("failover_allowed",), chooses_the_lagged_copy,
    ),
    Defect(
        "goes-back-as-far-as-it-can",
        "A lagged copy that is activated at a point in time replays nothing of what it keeps.",
        "SN-20", BACK, LAG, lambda: manager(MountsAsOf),
    ),
    Defect(
        "goes-back-to-now",
        "A lagged copy that is activated at a point in time replays all that it keeps.",
        "SN-20", BACK, (*LAG, "no_loss"), lambda: manager(MountsAsOfNow),
    ),
    Defect(
        "asks-nobody-from-the-point-in-time-on",
        "After an activation at a point in time Active Manager asks no Safety Net.",
        "SN-20", BACK, (*COMPLETE, "no_loss"), lambda: manager(AsksNobody),
    ),
    Defect(
        "asks-for-half-the-lag",
        "After a lagged copy is activated Safety Nets are asked for the later half of its lag.",
        "SN-5", AS_IT_STANDS, COMPLETE, lambda: manager(AsksForHalfTheLag),
    ),
    Defect(
        "asks-for-no-missing-head",
        "A Primary Safety Net that is too young gives back what it has, and asks nobody else.",
        "SN-9", SEVEN, (*HEAD, "no_loss"), lambda: behind(PassesOnNoHead),
    ),
    Defect(
        "asks-for-more-than-the-missing-head",
        "A Primary Safety Net that is too young has others answer for half an hour that it has.",
        "SN-9", SEVEN, HEAD, lambda: behind(AsksForMoreThanTheHead),
    ),
    Defect(
        "waits-for-six-hours",
        "Active Manager has others stand in for a Safety Net that is silent for six hours.",
        "SN-7", SILENCE, STAND_INS, lambda: waits_for(6),
    ),
    Defect(
        "has-nobody-stand-in",
        "Active Manager waits for a silent Safety Net, and asks nobody in its place.",
        "SN-7", SILENCE, STAND_INS, lambda: waits_for(10_000),
    ),
)  # fmt: skip
