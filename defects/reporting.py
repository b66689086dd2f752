"""Defects of DSNs: when mail expires or is delayed, and who hears of it (SM-12, RT-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import server, transport
from nodes.core.config.config import NodeConfig, ServerConfig
from nodes.core.delivery.dsn import Report, delay_report, non_delivery_report
from nodes.core.interface.effects import Commit, DeliverToMailboxes, Effect, LogTracking
from nodes.core.interface.inputs import Input, MailboxesDelivered
from nodes.core.interface.queue_changes import NoteDelayNotified
from nodes.core.model.message import Fork, Header
from nodes.core.model.next_hop import NextHop

EXPIRING, DELAYED = "outbound-mail-expires", "outbound-mail-delayed"
NOT_ALL_HEAR = "delays-not-notified"
MINUTE_MS = 60_000


def expires_after(change: Callable[[int], int]) -> Context:
    def changed(config: ServerConfig) -> ServerConfig:
        timeout_ms = change(config.message_expiration_timeout_ms)
        return replace(config, message_expiration_timeout_ms=timeout_ms)

    return server(changed)


def tells_nobody(_decision: Any, *_arguments: Any) -> None:
    return None


def _one_report_in_five(decision: Any, config: Any, identity: Any, message: Any, *more: Any) -> Any:
    is_lost = message.internal_id % 5 == 0
    return None if is_lost else decision(config, identity, message, *more)


def _of_partners_alone(
    decision: Any, config: NodeConfig, identity: Any, original: Any, recipients: Any, *more: Any
) -> Any:
    is_outside = not set(recipients) & set(config.mailboxes)
    return decision(config, identity, original, recipients, *more) if is_outside else None


def _to_a_stranger(decision: Any, config: NodeConfig, *more: Any) -> Any:
    made = decision(config, *more)
    if made is None:
        return None
    report = made.message
    stranger = next(a for a in config.mailboxes if a not in report.envelope.recipients)
    fork = Fork(NextHop.into(config.mailboxes[stranger]), (stranger,))
    envelope = replace(report.envelope, recipients=(stranger,))
    return replace(made, message=replace(report, envelope=envelope, forks=(fork,)))


def rewords(made: Report | None, old: str, new: str) -> Report | None:
    """The same DSN with other words in it."""
    if made is None:
        return None
    assert old in made.body, "a DSN says it in other words now"
    body = made.body.replace(old, new)
    size_bytes = made.message.size_bytes + len(body) - len(made.body)
    return replace(made, message=replace(made.message, size_bytes=size_bytes), body=body)


def _says(old: str, new: str) -> Context:
    def decide(decision: Any, *arguments: Any) -> Report | None:
        return rewords(decision(*arguments), old, new)

    return decides(non_delivery_report, decide)


def _of_the_first_alone(
    decision: Any, config: Any, identity: Any, message: Any, recipients: Any, *more: Any
) -> Any:
    return decision(config, identity, message, recipients[:1], *more)


class TellsSendersTwice(Door):
    """It logs and delivers each DSN under another id as well."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == "DSN":
            return (effect, replace(effect, header=_under_another_id(effect.header)))
        if not isinstance(effect, DeliverToMailboxes) or effect.sender:
            return (effect,)
        header = _under_another_id(effect.header)
        # the core hears of the second alone
        return (replace(effect, delivery=-effect.delivery, header=header), effect)

    def enters(self, happened: Input) -> Iterable[Input]:
        is_first = isinstance(happened, MailboxesDelivered) and happened.delivery < 0
        return () if is_first else (happened,)


def _under_another_id(header: Header) -> Header:
    return replace(header, message_id=f"<again.{header.message_id[1:]}")


class ForgetsWhomItNotified(Door):
    """The DSN is stored, and not that it was made."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Commit):
            return (effect,)
        kept = tuple(each for each in effect.changes if not isinstance(each, NoteDelayNotified))
        return (replace(effect, changes=kept),)


def _not_of_every_third(decision: Any, config: Any, identity: Any, message: Any, *more: Any) -> Any:
    is_passed_over = message.internal_id % 3 == 0
    return None if is_passed_over else decision(config, identity, message, *more)


def _says_it_failed(decision: Any, *arguments: Any) -> Any:
    return rewords(decision(*arguments), "Action: delayed", "Action: failed")


def _names_somebody_else(decision: Any, *arguments: Any) -> Any:
    return rewords(decision(*arguments), "rfc822; ", "rfc822; not-")


def _from_somebody(decision: Any, config: NodeConfig, *more: Any) -> Report | None:
    made: Report | None = decision(config, *more)
    if made is None:
        return None
    envelope = replace(made.message.envelope, sender=f"postmaster@{config.accepted_domain}")
    return replace(made, message=replace(made.message, envelope=envelope))


def _about_itself(decision: Any, *arguments: Any) -> Report | None:
    """As if it were the message that was given up."""
    made: Report | None = decision(*arguments)
    about = arguments[2].header.message_id
    return rewords(made, f"To: {about}", f"To: {made.message.header.message_id}") if made else None


def _names_all(decision: Any, config: Any, identity: Any, original: Any, _: Any, *more: Any) -> Any:
    return decision(config, identity, original, original.envelope.recipients, *more)


def _names_the_first_alone(
    decision: Any, config: Any, identity: Any, original: Any, recipients: Any, *more: Any
) -> Any:
    return decision(config, identity, original, recipients[:1], *more)


NOTIFIED, FITS = ("delay_dsn_sent",), ("dsns_fit",)
DEFECTS = (
    Defect(
        "tells-nobody-of-what-expired",
        "Mail that expires causes no DSN.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: decides(non_delivery_report, tells_nobody),
    ),
    Defect(
        "tells-four-senders-of-five",
        "One message in five that expires causes no DSN.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: decides(non_delivery_report, _one_report_in_five),
    ),
    Defect(
        "tells-senders-twice",
        "Mail that expires causes two DSNs.",
        "SM-12", EXPIRING, ("dsn_sent",), lambda: behind(TellsSendersTwice),
    ),
    Defect(
        "tells-of-partners-alone",
        "A message that expires for colleagues too causes a DSN about partners alone.",
        "SM-12", "every-hop-expires", ("dsn_sent",),
        lambda: decides(non_delivery_report, _of_partners_alone),
    ),
    Defect(
        "tells-a-stranger",
        "The DSN about a message goes to somebody else.",
        "SM-12", EXPIRING, ("dsn_sent",), lambda: decides(non_delivery_report, _to_a_stranger),
    ),
    Defect(
        "dsn-names-somebody-else",
        "The DSN says that delivery to somebody else has failed.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"), lambda: _says("rfc822; ", "rfc822; not-"),
    ),
    Defect(
        "dsn-names-the-first-recipient-alone",
        "Of several recipients for whom mail is given up, the DSN names one.",
        "SM-12", "every-hop-expires", ("dsn_sent", "no_loss"),
        lambda: decides(non_delivery_report, _of_the_first_alone),
    ),
    Defect(
        "dsn-says-it-is-late",
        "The DSN about mail that is given up says that it is delayed.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: _says("Action: failed", "Action: delayed"),
    ),
    Defect(
        "dsn-for-people-alone",
        "What a DSN says is in its text, and not in fields that a program could read.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: _says("message/delivery-status", "text/plain"),
    ),
    Defect(
        "expires-too-soon",
        "Mail expires after half of MessageExpirationTimeout.",
        "SM-12", EXPIRING, ("held_long_enough",), lambda: expires_after(lambda ms: ms // 2),
    ),
    Defect(
        "expires-too-late",
        "Mail stays in its queue for far longer than MessageExpirationTimeout.",
        "SM-12", EXPIRING, ("held_long_enough",), lambda: expires_after(lambda ms: 10 * ms),
    ),
    Defect(
        "notifies-nobody-of-a-delay",
        "Mail that waits for DelayNotificationTimeout causes no DSN.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, tells_nobody),
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
    Defect(
        "notifies-colleagues-of-a-delay-all-the-same",
        "InternalDelayDsnEnabled is not looked at.",
        "RT-5", NOT_ALL_HEAR, NOTIFIED,
        lambda: transport(lambda each: replace(each, internal_delay_dsn_enabled=True)),
    ),
    Defect(
        "notifies-nobody-outside-of-a-delay",
        "ExternalDelayDsnEnabled is taken for InternalDelayDsnEnabled.",
        "RT-5", NOT_ALL_HEAR, NOTIFIED,
        lambda: transport(lambda each: replace(each, external_delay_dsn_enabled=False)),
    ),
    Defect(
        "dsn-has-a-sender",
        "The DSN about mail that is given up has a reverse-path, as if it could be answered.",
        "SM-12", EXPIRING, FITS, lambda: decides(non_delivery_report, _from_somebody),
    ),
    Defect(
        "delay-dsn-has-a-sender",
        "The DSN about delayed mail has a reverse-path, as if it could be answered.",
        "RT-5", DELAYED, FITS, lambda: decides(delay_report, _from_somebody),
    ),
    Defect(
        "dsn-replies-to-itself",
        "The DSN about mail that is given up has its own Message-Id in In-Reply-To.",
        "SM-12", EXPIRING, FITS, lambda: decides(non_delivery_report, _about_itself),
    ),
    Defect(
        "dsn-has-no-references",
        "The DSN about mail that is given up has no References.",
        "SM-12", EXPIRING, FITS, lambda: _says("References: ", "X-References: "),
    ),
    Defect(
        "dsn-has-the-status-of-a-success",
        "The DSN about mail that is given up has a status that says: delivered.",
        "SM-12", EXPIRING, FITS, lambda: _says("Status: 4", "Status: 2"),
    ),
    Defect(
        "dsn-names-another-server",
        "The DSN about mail that is given up names another server as the one that says so.",
        "SM-12", EXPIRING, FITS, lambda: _says("Reporting-MTA: dns; ", "Reporting-MTA: dns; not-"),
    ),
    Defect(
        "delay-dsn-names-all-recipients",
        "The DSN about delayed mail names those too who have it.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _names_all),
    ),
    Defect(
        "delay-dsn-names-the-first-alone",
        "Of several recipients for whom mail is delayed, the DSN names one.",
        "RT-5", DELAYED, NOTIFIED, lambda: decides(delay_report, _names_the_first_alone),
    ),
)  # fmt: skip
