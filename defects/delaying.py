"""Defects of notifying senders of a delay (RT-5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Defect
from defects.door import Door, behind
from defects.expiring import rewords
from defects.settings import server
from nodes.core.delivery.dsn import delay_report
from nodes.core.interface.effects import Commit, Effect
from nodes.core.interface.queue_changes import NoteDelayNotified

MINUTE_MS = 60_000
DELAYED, NOTIFIED = "outbound-mail-delayed", ("delay_dsn_sent",)


class ForgetsWhomItNotified(Door):
    """The DSN is stored, and not that it was made."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Commit):
            return (effect,)
        kept = tuple(each for each in effect.changes if not isinstance(each, NoteDelayNotified))
        return (replace(effect, changes=kept),)


def _no_report(_decision: Any, *_arguments: Any) -> None:
    return None


def _not_of_every_third(decision: Any, config: Any, identity: Any, message: Any, *more: Any) -> Any:
    is_passed_over = message.internal_id % 3 == 0
    return None if is_passed_over else decision(config, identity, message, *more)


def _says_it_failed(decision: Any, *arguments: Any) -> Any:
    return rewords(decision(*arguments), "Action: delayed", "Action: failed")


def _names_somebody_else(decision: Any, *arguments: Any) -> Any:
    return rewords(decision(*arguments), "rfc822; ", "rfc822; not-")


DEFECTS = (
    Defect(
        "notifies-nobody-of-a-delay",
        "Mail that waits for DelayNotificationTimeout causes no DSN.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _no_report),
    ),
    Defect(
        "notifies-two-senders-of-three-of-a-delay",
        "One message in three that is delayed causes no DSN.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _not_of_every_third),
    ),
    Defect(
        "delay-dsn-says-it-failed",
        "The DSN about delayed mail says that it failed.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _says_it_failed),
    ),
    Defect(
        "delay-dsn-names-somebody-else",
        "The DSN about delayed mail says that delivery to somebody else is delayed.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _names_somebody_else),
    ),
    Defect(
        "notifies-of-a-delay-again-after-a-restart",
        "A server that starts anew does not know whom it notified before.",
        "RT-5", DELAYED, NOTIFIED, lambda: behind(ForgetsWhomItNotified),
    ),
    Defect(
        "notifies-of-a-delay-too-soon",
        "Senders hear of a delay five minutes before DelayNotificationTimeout is over.",
        "RT-5", DELAYED, NOTIFIED,
        lambda: server(lambda each: replace(
            each,
            delay_notification_timeout_ms=each.delay_notification_timeout_ms - 5 * MINUTE_MS)),
    ),
)  # fmt: skip
