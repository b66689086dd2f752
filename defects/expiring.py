"""Defects of giving mail up: when it expires, and who gets a DSN (SM-12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.settings import server
from nodes.core.config.config import NodeConfig, ServerConfig
from nodes.core.delivery.dsn import Report, non_delivery_report
from nodes.core.model.message import Fork

EXPIRING = "outbound-mail-expires"


def expires_after(change: Callable[[int], int]) -> Context:
    def changed(config: ServerConfig) -> ServerConfig:
        timeout_ms = change(config.message_expiration_timeout_ms)
        return replace(config, message_expiration_timeout_ms=timeout_ms)

    return server(changed)


def _no_report(_decision: Any, *_arguments: Any) -> None:
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
    fork = Fork(f"database:{config.mailboxes[stranger]}", (stranger,))
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


DEFECTS = (
    Defect(
        "tells-nobody-of-what-expired",
        "Mail that expires causes no DSN.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: decides(non_delivery_report, _no_report),
    ),
    Defect(
        "tells-four-senders-of-five",
        "One message in five that expires causes no DSN.",
        "SM-12", EXPIRING, ("dsn_sent", "no_loss"),
        lambda: decides(non_delivery_report, _one_report_in_five),
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
)  # fmt: skip
