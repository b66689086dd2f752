"""Defects of lifecycle and connectivity logs: lives, databases and sessions that are not logged, or
late, or otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from weakref import WeakSet

from defects.decisions import does
from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.active_manager import ActiveManager
from nodes.core.interface.effects import Effect, LogConnectivity, LogLifecycle
from nodes.shell.logs.logs import Logs

CALM, DELAYED = "calm", "outbound-mail-delayed"
LOSSY, SWITCHOVER = "lossy-failover", "lossless-switchover"
OPENED = "database-opened"


class LogsNoSession(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, LogConnectivity) else (effect,)


class LogsNoSessionAfterARestart(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_passed_over = isinstance(effect, LogConnectivity) and self.starts > 1
        return () if is_passed_over else (effect,)


class SaysThatNothingWasCarried(Door):
    """At the end of a session; `is_such` says of which."""

    def is_such(self) -> bool:
        return True

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        ends = isinstance(effect, LogConnectivity) and effect.description.startswith("Messages: ")
        if isinstance(effect, LogConnectivity) and ends and self.is_such():
            said = re.sub(r"^Messages: \d+", "Messages: 0", effect.description)
            return (replace(effect, description=said),)
        return (effect,)


class SaysThatNothingWasCarriedInOneOfFive(SaysThatNothingWasCarried):
    def is_such(self) -> bool:
        return self.is_nth(5)


class LogsNoOpening(Door):
    """That there was a database; not, that there was none. `instead` says what is logged of it."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_opening = isinstance(effect, LogLifecycle) and effect.event == OPENED
        return self.instead() if is_opening else (effect,)

    def instead(self) -> Iterable[Effect]:
        return ()


class LogsTheOpeningOfAnother(LogsNoOpening):
    def instead(self) -> Iterable[Effect]:
        return (LogLifecycle(OPENED, (("database_id", f"{self.me}-{self.starts}"),)),)


class LogsNoDecision(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_decision = isinstance(effect, LogLifecycle) and effect.event == "failover-decided"
        return () if is_decision else (effect,)


class LogsNoCopy(Door):
    """What becomes of its copy of a mailbox database. `is_passed_over` says of which rows."""

    event = "copy-opened"

    def is_passed_over(self, epoch: int) -> bool:
        return True

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogLifecycle) or effect.event != self.event:
            return (effect,)
        epoch = dict(effect.fields)["epoch"]
        assert isinstance(epoch, int)
        return self.instead(effect) if self.is_passed_over(epoch) else (effect,)

    def instead(self, effect: LogLifecycle) -> Iterable[Effect]:
        return ()


class LogsNoCopyOpenedAfterARestart(LogsNoCopy):
    def is_passed_over(self, epoch: int) -> bool:
        return self.starts > 1


class LogsNoCopyThatGaveWay(LogsNoCopy):
    event = "copy-passive"


class LogsNoMountOfAnActivatedCopy(LogsNoCopy):
    event = "database-mounted"

    def is_passed_over(self, epoch: int) -> bool:
        return epoch > 0


class LogsAMountUnderTheEpochBefore(LogsNoMountOfAnActivatedCopy):
    def instead(self, effect: LogLifecycle) -> Iterable[Effect]:
        fields = dict(effect.fields)
        fields["epoch"] = int(fields["epoch"]) - 1
        return (replace(effect, fields=tuple(fields.items())),)


class LogsAMountAMinuteLate(LogsNoCopy):
    event = "database-mounted"

    def instead(self, effect: LogLifecycle) -> Iterable[Effect]:
        self.hold_back(effect, 60_000)
        return ()


@contextmanager
def logs_no_stop(*, of_first_life: bool = True) -> Iterator[None]:
    """The host says that a process has stopped; each life has logs of its own."""
    later_lives: WeakSet[Logs] = WeakSet()

    def logged(
        lifecycle: Callable[[Logs, LogLifecycle], None], logs: Logs, said: LogLifecycle
    ) -> None:
        if said.event == OPENED:
            later_lives.add(logs)
        if said.event != "stopped" or not (of_first_life or logs in later_lives):
            lifecycle(logs, said)

    with does(Logs, "lifecycle", logged):
        yield


LIFECYCLE = ("lifecycle_logged",)
COPIES = ("copies_logged",)
DEFECTS = (
    Defect(
        "logs-no-session",
        "The connectivity log stays empty.",
        "TL-4", CALM, ("discards_asked",), lambda: behind(LogsNoSession),
    ),
    Defect(
        "logs-no-session-after-a-restart",
        "After its first restart a server writes no connectivity log.",
        "TL-4", "primary-returns-in-time", ("discards_asked",),
        lambda: behind(LogsNoSessionAfterARestart),
    ),
    Defect(
        "says-that-no-session-carried-anything",
        "At the end of each session the connectivity log says that it carried no message.",
        "TL-4", CALM, ("sessions_ended",), lambda: behind(SaysThatNothingWasCarried),
    ),
    Defect(
        "says-that-one-session-in-five-carried-nothing",
        "Of five sessions the connectivity log says of one that it carried no message.",
        "TL-4", CALM, ("sessions_ended",), lambda: behind(SaysThatNothingWasCarriedInOneOfFive),
    ),
    Defect(
        "logs-no-stop",
        "No server logs that it stopped.",
        "TL-4", DELAYED, LIFECYCLE, logs_no_stop,
    ),
    Defect(
        "logs-no-stop-after-a-restart",
        "After its first restart a server does not log that it stopped.",
        "TL-4", DELAYED, LIFECYCLE, lambda: logs_no_stop(of_first_life=False),
    ),
    Defect(
        "logs-no-database-that-it-opened",
        "A server that has a queue database already does not log that it opened it.",
        "TL-4", DELAYED, LIFECYCLE, lambda: behind(LogsNoOpening),
    ),
    Defect(
        "logs-that-it-opened-another-database",
        "A server that has a queue database already logs another id than it starts with.",
        "TL-4", "primary-returns-in-time", LIFECYCLE,
        lambda: behind(LogsTheOpeningOfAnother),
    ),
    Defect(
        "active-manager-logs-no-decision",
        "Active Manager does not log that it decides for another copy.",
        "TL-4", "active-copy-dies", ("copies_logged",),
        lambda: behind(LogsNoDecision, ActiveManager),
    ),
    Defect(
        "active-manager-logs-no-database-that-it-opened",
        "Active Manager does not log after a restart that it opened its database.",
        "TL-4", "active-manager-dies", LIFECYCLE,
        lambda: behind(LogsNoOpening, ActiveManager),
    ),
    Defect(
        "logs-no-copy-that-it-opened-after-a-restart",
        "After its first restart a server does not log that it opened its copy of a database.",
        "TL-4", LOSSY, COPIES, lambda: behind(LogsNoCopyOpenedAfterARestart),
    ),
    Defect(
        "logs-no-mount-of-an-activated-copy",
        "A server does not log that its copy is mounted when Active Manager has it mounted.",
        "TL-4", SWITCHOVER, COPIES, lambda: behind(LogsNoMountOfAnActivatedCopy),
    ),
    Defect(
        "logs-a-mount-under-the-epoch-before",
        "A copy that Active Manager has activated is logged as mounted under the epoch before.",
        "TL-4", SWITCHOVER, COPIES, lambda: behind(LogsAMountUnderTheEpochBefore),
    ),
    Defect(
        "logs-a-mount-a-minute-late",
        "That a copy is mounted is logged a minute later, after the first mail for it.",
        "TL-4", SWITCHOVER, COPIES, lambda: behind(LogsAMountAMinuteLate),
    ),
    Defect(
        "logs-no-copy-that-gave-way",
        "A copy that was active follows another one, and its server does not log it.",
        "TL-4", LOSSY, COPIES, lambda: behind(LogsNoCopyThatGaveWay),
    ),
)  # fmt: skip
