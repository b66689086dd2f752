"""Defects of what a server logs, while it does all else as it should (TL)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from weakref import WeakSet

from defects.decisions import does
from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.active_manager import ActiveManager
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogConnectivity, LogLifecycle, LogTracking
from nodes.shell.logs.logs import Logs

CALM, DELAYED, EXPIRES = "calm", "outbound-mail-delayed", "outbound-mail-expires"
LOSSY, SWITCHOVER = "lossy-failover", "lossless-switchover"
OPENED = "database-opened"


class LogsOneUnderAnotherId(Door):
    """One message in twenty; `event` says of which rows."""

    event = "DELIVER"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == self.event and self.is_nth(20):
            return (replace(effect, network_message_id=effect.network_message_id[::-1]),)
        return (effect,)


class HoldsOneUnderAnotherId(LogsOneUnderAnotherId):
    event = "HARECEIVE"


class LogsNoSession(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, LogConnectivity) else (effect,)


class LogsNoSessionAfterARestart(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_passed_over = isinstance(effect, LogConnectivity) and self.starts > 1
        return () if is_passed_over else (effect,)


class LogsNoDeferral(Door):
    event = "DEFER"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == self.event:
            return () if self.is_passed_over(effect) else (effect,)
        return (effect,)

    def is_passed_over(self, effect: LogTracking) -> bool:
        return True


class LogsNoDeferralOfOneInFifty(LogsNoDeferral):
    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.is_nth(50)


class LogsFirstDeferralOfSeveral(LogsNoDeferral):
    """Of what fails within a second."""

    last_ms = -1_000

    def is_passed_over(self, effect: LogTracking) -> bool:
        is_another = self.now_ms - self.last_ms < 1_000
        self.last_ms = self.now_ms
        return is_another


class LogsFirstDeferralOfAMessage(LogsNoDeferral):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._known: set[str] = set()

    def is_passed_over(self, effect: LogTracking) -> bool:
        is_known = effect.network_message_id in self._known
        self._known.add(effect.network_message_id)
        return is_known


class LogsNoDeferralAfterARestart(LogsNoDeferral):
    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.starts > 1


class LogsNoIntakeOfOneInFifty(LogsNoDeferralOfOneInFifty):
    event = "RECEIVE"


class LogsNoIntakeAfterARestart(LogsNoDeferralAfterARestart):
    event = "RECEIVE"


class LogsAnIntakeAMinuteLate(LogsNoIntakeAfterARestart):
    def is_passed_over(self, effect: LogTracking) -> bool:
        self.hold_back(effect, 60_000)
        return True


class LogsAnotherReply(Door):
    """In rows of `event`; `instead` says what is logged, `is_told_otherwise` of which rows."""

    event = "FAIL"

    def is_told_otherwise(self, effect: LogTracking) -> bool:
        return True

    def instead(self, effect: LogTracking) -> Iterable[Effect]:
        return (replace(effect, recipient_status=_for_now(effect.recipient_status)),)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogTracking) or effect.event != self.event:
            return (effect,)
        return self.instead(effect) if self.is_told_otherwise(effect) else (effect,)


class LogsOneInFiftyGivenUpAsPutOff(LogsAnotherReply):
    def is_told_otherwise(self, effect: LogTracking) -> bool:
        return self.is_nth(50)


class LogsAllButTheFirstAsPutOff(LogsAnotherReply):
    def instead(self, effect: LogTracking) -> Iterable[Effect]:
        first, others = effect.recipients[:1], effect.recipients[1:]
        yield replace(effect, recipients=first)
        if others:
            put_off = _for_now(effect.recipient_status)
            yield replace(effect, recipients=others, recipient_status=put_off)


class LogsNoReplyOfWhatItGivesUp(LogsAnotherReply):
    def instead(self, effect: LogTracking) -> Iterable[Effect]:
        return (replace(effect, recipient_status=""),)


class LogsAReplyForNowAsOneForGood(LogsAnotherReply):
    event = "DEFER"

    def instead(self, effect: LogTracking) -> Iterable[Effect]:
        said = effect.source_context
        told = f"5{said[1:]}" if said.startswith("4") else said
        return (replace(effect, source_context=told),)


class LogsADeferralAsAFailureAfterARestart(LogsAnotherReply):
    event = "DEFER"

    def is_told_otherwise(self, effect: LogTracking) -> bool:
        return self.starts > 1

    def instead(self, effect: LogTracking) -> Iterable[Effect]:
        return (replace(effect, recipient_status=f"550 4.4.1 {effect.source_context}"),)


def _for_now(reply: str) -> str:
    return f"4{reply[1:]}"


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


DEFERRALS = ("deferrals_logged",)
STATUSES = ("statuses_fit",)
LIFECYCLE = ("lifecycle_logged",)
COPIES = ("copies_logged",)
DEFECTS = (
    Defect(
        "delivers-one-in-twenty-under-another-id",
        "One delivery in twenty is logged under a network message id that nobody else has.",
        "TL-3", CALM, ("traceable",), lambda: behind(LogsOneUnderAnotherId),
    ),
    Defect(
        "holds-one-in-twenty-under-another-id",
        "One shadow message in twenty is logged under another network message id than its primary.",
        "TL-3", CALM, ("traceable",), lambda: behind(HoldsOneUnderAnotherId),
    ),
    Defect(
        "logs-no-session",
        "The connectivity log stays empty.",
        "TL-4", CALM, ("discard_after_delivery",), lambda: behind(LogsNoSession),
    ),
    Defect(
        "logs-no-session-after-a-restart",
        "After its first restart a server writes no connectivity log.",
        "TL-4", "primary-returns-in-time", ("discard_after_delivery",),
        lambda: behind(LogsNoSessionAfterARestart),
    ),
    Defect(
        "logs-no-deferral",
        "No delivery that is put off is logged.",
        "TL-2", "site-cut", DEFERRALS, lambda: behind(LogsNoDeferral),
    ),
    Defect(
        "logs-no-deferral-of-one-in-fifty",
        "One delivery in fifty that is put off is not logged.",
        "TL-2", "site-cut", DEFERRALS, lambda: behind(LogsNoDeferralOfOneInFifty),
    ),
    Defect(
        "logs-the-first-deferral-of-several",
        "Of deliveries that are put off within a second one alone is logged.",
        "TL-2", "primary-returns-after-promotion", DEFERRALS,
        lambda: behind(LogsFirstDeferralOfSeveral),
    ),
    Defect(
        "logs-the-first-deferral-of-a-message",
        "A message that is put off again is not logged again.",
        "TL-2", "site-cut", DEFERRALS, lambda: behind(LogsFirstDeferralOfAMessage),
    ),
    Defect(
        "logs-no-deferral-after-a-restart",
        "After its first restart a server logs no delivery that is put off.",
        "TL-2", "outbound-mail-delayed", DEFERRALS, lambda: behind(LogsNoDeferralAfterARestart),
    ),
    Defect(
        "logs-one-in-fifty-not-as-taken-in",
        "One message in fifty that a server takes in is not logged before it is sent on.",
        "TL-2", "site-cut", ("intake_logged",), lambda: behind(LogsNoIntakeOfOneInFifty),
    ),
    Defect(
        "logs-nothing-as-taken-in-after-a-restart",
        "After its first restart a server logs no message that it takes in.",
        "TL-2", DELAYED, ("intake_logged",), lambda: behind(LogsNoIntakeAfterARestart),
    ),
    Defect(
        "logs-what-it-takes-in-a-minute-late",
        "That a message was taken in is logged a minute later, after it was sent on.",
        "TL-2", "site-cut", ("intake_logged",), lambda: behind(LogsAnIntakeAMinuteLate),
    ),
    Defect(
        "logs-what-it-gives-up-as-put-off",
        "Mail that is given up is logged with a reply that says: not now.",
        "TL-1", EXPIRES, STATUSES, lambda: behind(LogsAnotherReply),
    ),
    Defect(
        "logs-one-in-fifty-given-up-as-put-off",
        "Of fifty messages that are given up one is logged with a reply that says: not now.",
        "TL-1", EXPIRES, STATUSES, lambda: behind(LogsOneInFiftyGivenUpAsPutOff),
    ),
    Defect(
        "logs-all-recipients-but-the-first-as-put-off",
        "Of a message that is given up all recipients but the first are logged as put off.",
        "TL-1", "every-hop-expires", STATUSES, lambda: behind(LogsAllButTheFirstAsPutOff),
    ),
    Defect(
        "logs-no-reply-of-what-it-gives-up",
        "Mail that is given up is logged without a reply.",
        "TL-1", EXPIRES, STATUSES, lambda: behind(LogsNoReplyOfWhatItGivesUp),
    ),
    Defect(
        "logs-a-reply-for-now-as-one-for-good",
        "Mail that a next hop cannot take now is logged with a reply that says: never.",
        "TL-1", "disk-full", STATUSES, lambda: behind(LogsAReplyForNowAsOneForGood),
    ),
    Defect(
        "logs-a-deferral-as-a-failure-after-a-restart",
        "After its first restart a server logs mail that is put off with a permanent reply.",
        "TL-1", DELAYED, STATUSES, lambda: behind(LogsADeferralAsAFailureAfterARestart),
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
