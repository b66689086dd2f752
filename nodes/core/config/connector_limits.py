"""Limits of a Receive connector on clients and their messages (F§3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nodes.core.config.parameters import Value


@dataclass(frozen=True, slots=True)
class ConnectorLimits:
    """By Exchange's names. `max_local_hop_count` 0 is no limit; connections are counted at a time,
    messages in a minute of a source. `tarpit_interval_ms`: how late a recipient is refused.
    """

    max_hop_count: int
    max_local_hop_count: int
    max_recipients_per_message: int
    max_protocol_errors: int
    max_inbound_connection: int
    max_inbound_connection_per_source: int
    max_inbound_connection_percentage_per_source: int
    message_rate_limit: int
    tarpit_interval_ms: int


def connector_limits(values: Mapping[str, Value]) -> ConnectorLimits:
    """Of the parameters of a Receive connector."""
    return ConnectorLimits(
        max_hop_count=int(values["MaxHopCount"]),
        max_local_hop_count=int(values["MaxLocalHopCount"]),
        max_recipients_per_message=int(values["MaxRecipientsPerMessage"]),
        max_protocol_errors=int(values["MaxProtocolErrors"]),
        max_inbound_connection=int(values["MaxInboundConnection"]),
        max_inbound_connection_per_source=int(values["MaxInboundConnectionPerSource"]),
        max_inbound_connection_percentage_per_source=int(
            values["MaxInboundConnectionPercentagePerSource"]
        ),
        message_rate_limit=int(values["MessageRateLimit"]),
        tarpit_interval_ms=int(values["TarpitInterval"]),
    )
