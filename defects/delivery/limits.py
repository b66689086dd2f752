"""Defects of limits: what one client may say, and one message may have (TL-5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from defects.decisions import decides
from defects.defect import Context, Defect
from defects.settings import server, transport
from nodes.core.categorizer.limits import TOO_MANY_RECIPIENTS, limit_exceeded
from nodes.core.config.config import TransportConfig
from nodes.core.interface.replies import R552_MESSAGE_TOO_LARGE, R554_TOO_MANY_HOPS, Reply
from nodes.core.receiving.limits import message_refusal

RATE = "retries-and-idle-queues"
SCENARIO, KEPT, LIMITED = "limits", ("limits_kept",), ("connections_limited",)
UNLIMITED = 2_147_483_647


def _set(name: str, value: int) -> Context:
    """A limit of the Receive connector that is another one."""
    limit: dict[str, Any] = {name: value}
    return server(lambda each: replace(each, limits=replace(each.limits, **limit)))


def _of_connections(limit: int) -> Context:
    """Another MaxConnectionRatePerMinute."""
    return server(lambda each: replace(each, max_connection_rate_per_minute=limit))


def _of_all(name: str, change: Callable[[int], int]) -> Context:
    """A limit of the organisation that is another one."""

    def changed(config: TransportConfig) -> TransportConfig:
        limit: dict[str, Any] = {name: change(getattr(config, name))}
        return replace(config, **limit)

    return transport(changed)


def _never_as(reply: Reply, instead: Reply | None = None) -> Context:
    """What would be refused with that is taken, or refused with another word."""

    def decide(decision: Any, *arguments: Any) -> Reply | None:
        said: Reply | None = decision(*arguments)
        return instead if said == reply else said

    return decides(message_refusal, decide)


def _names_another_limit(decision: Any, *arguments: Any) -> Any:
    return None if decision(*arguments) is None else TOO_MANY_RECIPIENTS


DEFECTS = (
    Defect(
        "takes-mail-too-large-to-receive",
        "Messages beyond MaxReceiveSize are taken.",
        "TL-5", SCENARIO, KEPT, lambda: _never_as(R552_MESSAGE_TOO_LARGE),
        only_simulated="the shell refuses it before its core sees it",
    ),
    Defect(
        "takes-mail-with-too-many-hops",
        "Messages beyond MaxHopCount and MaxLocalHopCount are taken.",
        "TL-5", SCENARIO, KEPT, lambda: _never_as(R554_TOO_MANY_HOPS),
    ),
    Defect(
        "counts-no-local-hops",
        "MaxLocalHopCount is not looked at.",
        "TL-5", SCENARIO, KEPT, lambda: _set("max_local_hop_count", 0),
    ),
    Defect(
        "says-too-large-of-loops",
        "A message with too many hops is refused as too large.",
        "TL-5", SCENARIO, KEPT, lambda: _never_as(R554_TOO_MANY_HOPS, R552_MESSAGE_TOO_LARGE),
    ),
    Defect(
        "takes-one-recipient-too-many",
        "A message may have one recipient more than MaxRecipientsPerMessage.",
        "TL-5", SCENARIO, KEPT, lambda: _set("max_recipients_per_message", 7),
    ),
    Defect(
        "takes-one-recipient-too-few",
        "A message may have one recipient less than MaxRecipientsPerMessage.",
        "TL-5", SCENARIO, KEPT, lambda: _set("max_recipients_per_message", 5),
    ),
    Defect(
        "bears-one-line-too-many",
        "A session goes on for one line more than MaxProtocolErrors.",
        "TL-5", SCENARIO, KEPT, lambda: _set("max_protocol_errors", 5),
    ),
    Defect(
        "bears-one-line-too-few",
        "A session is ended one line before MaxProtocolErrors.",
        "TL-5", SCENARIO, KEPT, lambda: _set("max_protocol_errors", 3),
    ),
    Defect(
        "sends-to-too-many",
        "MaxRecipientEnvelopeLimit is one more than it is set to.",
        "TL-5", SCENARIO, KEPT, lambda: _of_all("max_recipient_envelope_limit", lambda n: n + 1),
    ),
    Defect(
        "sends-to-too-few",
        "MaxRecipientEnvelopeLimit is one less than it is set to.",
        "TL-5", SCENARIO, KEPT, lambda: _of_all("max_recipient_envelope_limit", lambda n: n - 1),
    ),
    Defect(
        "sends-what-is-too-large",
        "MaxSendSize is a tenth more than it is set to.",
        "TL-5", SCENARIO, KEPT, lambda: _of_all("max_send_size_bytes", lambda n: n * 11 // 10),
    ),
    Defect(
        "gives-up-what-is-not-too-large",
        "MaxSendSize is a tenth less than it is set to.",
        "TL-5", SCENARIO, KEPT, lambda: _of_all("max_send_size_bytes", lambda n: n * 9 // 10),
    ),
    Defect(
        "names-another-limit",
        "What is too large to send is given up for its recipients.",
        "TL-5", SCENARIO, KEPT, lambda: decides(limit_exceeded, _names_another_limit),
    ),
    Defect(
        "refuses-unknown-recipients-at-once",
        "TarpitInterval is not looked at.",
        "TL-5", SCENARIO, KEPT, lambda: _set("tarpit_interval_ms", 0),
    ),
    Defect(
        "refuses-unknown-recipients-minutes-later",
        "A recipient whom nobody knows is refused minutes after TarpitInterval.",
        "TL-5", SCENARIO, KEPT, lambda: _set("tarpit_interval_ms", 240_000),
    ),
    Defect(
        "lets-clients-crowd-in",
        "MaxInboundConnectionPerSource is not looked at.",
        "TL-5", SCENARIO, LIMITED, lambda: _set("max_inbound_connection_per_source", UNLIMITED),
    ),
    Defect(
        "sends-clients-away-too-soon",
        "Clients are sent away long before MaxInboundConnectionPerSource of them are there.",
        "TL-5", SCENARIO, LIMITED, lambda: _set("max_inbound_connection_per_source", 3),
    ),
    Defect(
        "counts-no-messages",
        "MessageRateLimit is not looked at.",
        "TL-5", SCENARIO, LIMITED, lambda: _set("message_rate_limit", UNLIMITED),
    ),
    Defect(
        "permits-one-message-too-few",
        "A client is refused its last message of MessageRateLimit.",
        "TL-5", SCENARIO, LIMITED, lambda: _set("message_rate_limit", 1),
    ),
    Defect(
        "opens-one-session-too-many",
        "MaxOutboundConnections is one more than it is set to.",
        "TL-5", SCENARIO, LIMITED,
        lambda: server(lambda each: replace(
            each, max_outbound_connections=each.max_outbound_connections + 1)),
    ),
    Defect(
        "counts-no-connections",
        "MaxConnectionRatePerMinute is not looked at.",
        "TL-5", RATE, LIMITED, lambda: _of_connections(UNLIMITED),
    ),
    Defect(
        "lets-one-connection-too-many-in",
        "MaxConnectionRatePerMinute is one more than it is set to.",
        "TL-5", RATE, LIMITED, lambda: _of_connections(7),
    ),
    Defect(
        "refuses-connections-too-soon",
        "A server takes no more than two connections of clients in a minute.",
        "TL-5", RATE, LIMITED, lambda: _of_connections(2),
    ),
)  # fmt: skip
