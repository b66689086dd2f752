"""Defects of message tracking logs: rows that are not written, late, or say something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogTracking

CALM, DELAYED, EXPIRES = "calm", "outbound-mail-delayed", "outbound-mail-expires"


class LogsOneUnderAnotherId(Door):
    """One message in twenty; `event` says of which rows."""

    event = "DELIVER"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == self.event and self.is_nth(20):
            return (replace(effect, network_message_id=effect.network_message_id[::-1]),)
        return (effect,)


class HoldsOneUnderAnotherId(LogsOneUnderAnotherId):
    event = "HARECEIVE"


class LeavesOut(Door):
    """Rows of `event`; `is_passed_over` says which of them."""

    event = "DEFER"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == self.event:
            return () if self.is_passed_over(effect) else (effect,)
        return (effect,)

    def is_passed_over(self, effect: LogTracking) -> bool:
        return True


class LeavesOutOneInFifty(LeavesOut):
    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.is_nth(50)


class LogsFirstDeferralOfSeveral(LeavesOut):
    """Of what fails within a second."""

    last_ms = -1_000

    def is_passed_over(self, effect: LogTracking) -> bool:
        is_another = self.now_ms - self.last_ms < 1_000
        self.last_ms = self.now_ms
        return is_another


class LogsFirstDeferralOfAMessage(LeavesOut):
    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._known: set[str] = set()

    def is_passed_over(self, effect: LogTracking) -> bool:
        is_known = effect.network_message_id in self._known
        self._known.add(effect.network_message_id)
        return is_known


class LeavesOutAfterARestart(LeavesOut):
    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.starts > 1


class LogsNoIntakeOfOneInTwenty(LeavesOut):
    """On containers the first one in a life is a probe."""

    event = "RECEIVE"

    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.is_nth(20)


class LogsNoIntakeAfterARestart(LeavesOutAfterARestart):
    event = "RECEIVE"


class LogsAnIntakeAMinuteLate(LeavesOut):
    event = "RECEIVE"

    def is_passed_over(self, effect: LogTracking) -> bool:
        self.hold_back(effect, 60_000)
        return True


class LogsNoDsn(LeavesOut):
    event = "DSN"


class LogsOneInTwentyNotAsGivenBack(LeavesOut):
    event = "RESUBMIT"

    def is_passed_over(self, effect: LogTracking) -> bool:
        return self.is_nth(20)


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


DEFERRALS = ("deferrals_logged",)
INTAKE = ("intake_logged",)
STATUSES = ("statuses_fit",)
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
        "logs-no-deferral",
        "No delivery that is put off is logged.",
        "TL-2", "site-cut", DEFERRALS, lambda: behind(LeavesOut),
    ),
    Defect(
        "logs-no-deferral-of-one-in-fifty",
        "One delivery in fifty that is put off is not logged.",
        "TL-2", "site-cut", DEFERRALS, lambda: behind(LeavesOutOneInFifty),
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
        "TL-2", "outbound-mail-delayed", DEFERRALS, lambda: behind(LeavesOutAfterARestart),
    ),
    Defect(
        "logs-one-in-twenty-not-as-taken-in",
        "One message in twenty that a server takes in is not logged before it is sent on.",
        "TL-2", "site-cut", INTAKE, lambda: behind(LogsNoIntakeOfOneInTwenty),
    ),
    Defect(
        "logs-nothing-as-taken-in-after-a-restart",
        "After its first restart a server logs no message that it takes in.",
        "TL-2", DELAYED, INTAKE, lambda: behind(LogsNoIntakeAfterARestart),
    ),
    Defect(
        "logs-what-it-takes-in-a-minute-late",
        "That a message was taken in is logged a minute later, after it was sent on.",
        "TL-2", "site-cut", INTAKE, lambda: behind(LogsAnIntakeAMinuteLate),
    ),
    Defect(
        "logs-no-dsn-that-it-makes",
        "A DSN is not logged before it is sent on.",
        "TL-2", EXPIRES, INTAKE, lambda: behind(LogsNoDsn),
    ),
    Defect(
        "logs-one-in-twenty-not-as-given-back",
        "Of twenty messages that a Safety Net gives back one is not logged before it is sent on.",
        "TL-2", "lossy-failover", INTAKE, lambda: behind(LogsOneInTwentyNotAsGivenBack),
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
)  # fmt: skip
