"""Defects of failovers: which copy Active Manager makes the active one, and when, and what servers
make of that (TP-4, TP-6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from defects.copies.manager import manager
from defects.decisions import does
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import goes_by
from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.copies.local_copy import CopyHere
from nodes.core.failover import copy_monitor
from nodes.core.failover.copy_choice import CopyChoice
from nodes.core.interface.copy_commands import DismountDatabase
from nodes.core.interface.effects import Effect, ManageCopy, SendReply
from nodes.core.interface.inputs import (
    ActiveCopyNamed,
    CopyStatusAnswered,
    DismountAnswered,
    DismountAsked,
    Input,
    LogAnnounced,
    ManagerOpened,
    SeedAnnounced,
)
from nodes.core.interface.replies import R451_COPY_BUSY, ActiveCopyReply, DismountReply

LOSSY, DIES, CUT_OFF = "lossy-failover", "active-copy-dies", "active-manager-cut-off"
SWITCHOVER, BEST_COPY = "lossless-switchover", "best-copy"
POLICIES, DIALS = "copies-not-to-activate", "mount-dials"


class ForgetsLogsAtARestart(Door):
    """How many the active copy had."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, ManagerOpened):
            forgotten = tuple(replace(each, last_log=0) for each in happened.databases)
            return (replace(happened, databases=forgotten),)
        return (happened,)


class TakesEveryCopyForComplete(Door):
    """Each is said to have as many logs as any."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._most = 0

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, CopyStatusAnswered):
            return (happened,)
        self._most = max(self._most, happened.status.last_log)
        return (replace(happened, status=replace(happened.status, last_log=self._most)),)


def prefers_the_last(config: NodeConfig) -> NodeConfig:
    """The copies in the opposite order; the first one is active as before."""
    copies = {
        name: tuple(replace(copy, preference=-copy.preference) for copy in reversed(copies))
        for name, copies in config.copies.items()
    }
    return replace(config, copies=copies)


def takes(setting: str, value: str, other: str) -> Context:
    """Active Manager takes one value of a setting of mailbox servers for another."""

    changed_to: dict[str, Any] = {setting: other}

    def changed(config: NodeConfig) -> NodeConfig:
        servers = tuple(
            replace(each, **changed_to) if getattr(each, setting) == value else each
            for each in config.servers
        )
        return replace(config, servers=servers)

    return goes_by(changed, ActiveManager)


def takes_policy(policy: str, other: str = "Unrestricted") -> Context:
    """DatabaseCopyAutoActivationPolicy."""
    return takes("auto_activation", policy, other)


def finds_by_itself(find: Callable[[Callable[..., str | None]], str | None]) -> Context:
    """What Active Manager finds to be mounted when nobody asks: `find` is given how it looks for
    the best copy, without the `last_log` that one is held against.
    """

    def best(
        method: Callable[..., str | None], *of: object, last_log: int | None = None
    ) -> str | None:
        look = partial(method, *of)
        return look() if last_log is None else find(look)

    return does(CopyChoice, "best", best)


class MountsBesideTheFirst(Door):
    """Active Manager takes the copy before for dismounted, and never asks."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ManageCopy) and isinstance(effect.command, DismountDatabase):
            self.answer(DismountAnswered(effect.session, last_log=0, last_log_ms=0))
            return ()
        return (effect,)


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


@contextmanager
def hears_of_no_other_by_its_logs() -> Iterator[None]:
    with behind(HearsOfNoOtherByItsLogs), does(CopyHere, "superseded", lambda *_: None):
        yield


ON_TIME, ALLOWED = ("failover_on_time",), ("failover_allowed",)
BEST = ("best_copy_mounted",)
ONE_ACTIVE = ("one_active_copy",)
DEFECTS = (
    Defect(
        "asks-forty-times-before-it-fails-over",
        "A copy whose server is gone gives way after forty questions instead of three.",
        "TP-6", DIES, ON_TIME, lambda: patch.object(copy_monitor, "MISSES", 40),
    ),
    Defect(
        "never-fails-over-by-itself",
        "Active Manager finds a copy to be mounted only where somebody asks for it.",
        "TP-6", DIES, ON_TIME, lambda: finds_by_itself(lambda look: None),
    ),
    Defect(
        "mounts-whatever-a-copy-lacks",
        "Active Manager mounts by itself a copy that lacks more than AutoDatabaseMountDial allows.",
        "TP-6", LOSSY, ALLOWED, lambda: finds_by_itself(lambda look: look(last_log=0)),
    ),
    Defect(
        "forgets-at-a-restart-how-many-logs-there-are",
        "Active Manager forgets at a restart how many logs an active copy had.",
        "TP-6", "lossy-mount-refused", ALLOWED, lambda: manager(ForgetsLogsAtARestart),
    ),
    Defect(
        "mounts-by-a-dial-that-is-not-lossless",
        "A copy lacks logs, its server's mount dial is Lossless, and Active Manager mounts it.",
        "TP-6", DIALS, ALLOWED, lambda: takes("mount_dial", "Lossless", "BestAvailability"),
    ),
    Defect(
        "mounts-a-copy-of-a-blocked-server",
        "Active Manager mounts by itself a copy whose server is Blocked.",
        "TP-6", POLICIES, ALLOWED, lambda: takes_policy("Blocked"),
    ),
    Defect(
        "mounts-an-intrasite-copy-for-one-of-another-site",
        "Active Manager mounts by itself a copy whose server is IntrasiteOnly, in another site.",
        "TP-6", POLICIES, ALLOWED, lambda: takes_policy("IntrasiteOnly"),
    ),
    Defect(
        "leaves-an-intrasite-copy-alone",
        "Active Manager mounts by itself no copy of an IntrasiteOnly server, in its site either.",
        "TP-6", POLICIES, ON_TIME, lambda: takes_policy("IntrasiteOnly", "Blocked"),
    ),
    Defect(
        "mounts-the-preferred-copy-whatever-it-lacks",
        "Active Manager takes every copy for complete, and mounts the one that is preferred.",
        "TP-6", BEST_COPY, BEST, lambda: manager(TakesEveryCopyForComplete),
    ),
    Defect(
        "mounts-the-copy-that-is-preferred-least",
        "Of equal copies Active Manager mounts the one with the highest activation preference.",
        "TP-6", BEST_COPY, BEST, lambda: goes_by(prefers_the_last, ActiveManager),
    ),
    Defect(
        "goes-on-with-the-copy-before",
        "Servers say that they know the new active copy, and deliver to the one before.",
        "TP-4", CUT_OFF, ("no_loss", "drains_after_heal"), lambda: behind(IgnoresActiveManager),
    ),
    Defect(
        "mounts-beside-the-first",
        "In a switchover the second copy is mounted, and the first is not dismounted.",
        "TP-4", SWITCHOVER, ONE_ACTIVE, lambda: manager(MountsBesideTheFirst),
    ),
    Defect(
        "hears-of-no-other-copy-by-its-logs",
        "An active copy that Active Manager cannot reach goes on, whatever servers of others say.",
        "TP-4", CUT_OFF, ONE_ACTIVE, hears_of_no_other_by_its_logs,
    ),
    Defect(
        "goes-on-after-a-dismount",
        "A copy that is said to be dismounted takes its own server's mail.",
        "TP-4", SWITCHOVER, ONE_ACTIVE, lambda: behind(GoesOnAfterADismount),
    ),
)  # fmt: skip
