"""How many sessions there may be at a time, in all and of one source: MaxInboundConnection,
MaxInboundConnectionPerSource, MaxInboundConnectionPercentagePerSource (F§3.3).

Exchange refuses the newcomer. Here the client from outside that was silent the longest gives way to
it, with the same words: who a newcomer is, is known only once it is in, and so no stranger keeps
servers of the organisation out. These never give way, and are of no source.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from nodes.core.config.connector_limits import ConnectorLimits
from nodes.core.interface.replies import (
    R421_TOO_MANY_CONNECTIONS,
    R421_TOO_MANY_OF_SOURCE,
    Reply,
)
from nodes.core.sessions.inbound_session import InboundSession


def gives_way(
    limits: ConnectorLimits, sessions: Collection[InboundSession], newcomer: InboundSession
) -> tuple[InboundSession, Reply] | None:
    """Who is sent away, and how, where `newcomer`, one of `sessions`, is one too many."""
    if len(sessions) <= _least(limits):
        return None
    there = [each for each in sessions if not each.is_closed]
    alike = [each for each in there if _is_of(each, newcomer.client_address)]
    if len(alike) > _most_of_a_source(limits, len(there) - 1):
        return _most_silent(alike, newcomer), R421_TOO_MANY_OF_SOURCE
    if len(there) > limits.max_inbound_connection:
        outside = [each for each in there if each.peer is None]
        return _most_silent(outside, newcomer), R421_TOO_MANY_CONNECTIONS
    return None


def _is_of(session: InboundSession, address: str) -> bool:
    return session.peer is None and session.client_address == address


def _most_of_a_source(limits: ConnectorLimits, others: int) -> int:
    """The percentage is of the connections that are left; 100 is as many as there may be."""
    most, percent = (
        limits.max_inbound_connection_per_source,
        limits.max_inbound_connection_percentage_per_source,
    )
    left = max(0, limits.max_inbound_connection - others)
    return most if percent == 100 else min(most, max(1, left * percent // 100))


def _least(limits: ConnectorLimits) -> int:
    """So few sessions exceed no limit, whosesoever they are."""
    most = limits.max_inbound_connection
    return min(most, _most_of_a_source(limits, most))


def _most_silent(sessions: Iterable[InboundSession], newcomer: InboundSession) -> InboundSession:
    """Of equals who came first; the newcomer where nobody else may give way."""
    may = [each for each in sessions if each.may_give_way]
    return min(may, key=lambda each: each.active_ms, default=newcomer)
