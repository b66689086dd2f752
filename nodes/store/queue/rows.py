"""Rows of the queue database as the core's plain values, and back. Lists of addresses are JSON
arrays in one column.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, TypeAlias

from nodes.core.model.message import (
    Contact,
    DiscardNotification,
    Envelope,
    Fork,
    ForkState,
    Header,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop

Row: TypeAlias = tuple[Any, ...]

# the first ten columns are the same in every message table
_COMMON = (
    "internal_id, network_message_id, message_id, submitted_ms, subject, sender, recipients, "
    "size_bytes, received_ms, body_id"
)
MESSAGE_COLUMNS = f"{_COMMON}, shadow_server, side_effect_of, resubmit_request, shadow_database_id"
SHADOW_COLUMNS = (
    f"{_COMMON}, primary_server, primary_database_id, primary_internal_id, resubmit_request"
)
FORK_COLUMNS = "internal_id, position, next_hop, recipients, state, done_ms"


def addresses_text(addresses: tuple[str, ...]) -> str:
    return json.dumps(addresses, separators=(",", ":"))


def addresses_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def message_row(message: PrimaryMessage, body_id: int) -> Row:
    """Columns as in MESSAGE_COLUMNS."""
    return (
        *_common_row(message, body_id),
        message.shadow_server,
        message.side_effect_of,
        message.resubmit_request,
        message.shadow_database_id,
    )


def shadow_row(shadow: ShadowMessage, body_id: int) -> Row:
    """Columns as in SHADOW_COLUMNS."""
    return (*_common_row(shadow, body_id), *key_row(shadow.key), shadow.resubmit_request)


def key_row(key: ShadowKey) -> Row:
    return (key.primary, key.primary_database_id, key.primary_internal_id)


def fork_rows(message: PrimaryMessage) -> Iterator[Row]:
    """Columns as in FORK_COLUMNS."""
    for position, fork in enumerate(message.forks):
        recipients = addresses_text(fork.recipients)
        yield (
            message.internal_id,
            position,
            str(fork.next_hop),
            recipients,
            fork.state.value,
            fork.done_ms,
        )


def messages_of(rows: Iterable[Row], forks: Iterable[Row]) -> tuple[PrimaryMessage, ...]:
    """Primary messages of their rows, which have `delay_notified` and `promoted` behind
    MESSAGE_COLUMNS, and fork rows, both in the order of internal ids.
    """
    by_message = {
        key: tuple(map(_fork, group)) for key, group in groupby(forks, lambda row: row[0])
    }
    return tuple(_message(row, by_message.get(row[0], ())) for row in rows)


def shadow_of(row: Row) -> ShadowMessage:
    internal_id, network_message_id, header, envelope, size_bytes, received_ms = _common(row)
    return ShadowMessage(
        ShadowKey(*row[10:13]),
        internal_id,
        network_message_id,
        header,
        envelope,
        size_bytes,
        received_ms,
        row[13],
    )


def discard_of(row: Row) -> DiscardNotification:
    return DiscardNotification(*row)


def contact_of(row: Row) -> Contact:
    return Contact(*row)


def _common_row(message: PrimaryMessage | ShadowMessage, body_id: int) -> Row:
    header, envelope = message.header, message.envelope
    return (
        message.internal_id,
        message.network_message_id,
        header.message_id,
        header.submitted_ms,
        header.subject,
        envelope.sender,
        addresses_text(envelope.recipients),
        message.size_bytes,
        message.received_ms,
        body_id,
    )


def _common(row: Row) -> tuple[int, str, Header, Envelope, int, int]:
    header = Header(row[2], row[3], row[4])
    envelope = Envelope(row[5], addresses_of(row[6]))
    return row[0], row[1], header, envelope, row[7], row[8]


def _message(row: Row, forks: tuple[Fork, ...]) -> PrimaryMessage:
    internal_id, network_message_id, header, envelope, size_bytes, received_ms = _common(row)
    return PrimaryMessage(
        internal_id,
        network_message_id,
        header,
        envelope,
        size_bytes,
        received_ms,
        shadow_server=row[10],
        forks=forks,
        side_effect_of=row[11],
        resubmit_request=row[12],
        shadow_database_id=row[13],
        delay_notified=bool(row[14]),
        promoted=bool(row[15]),
    )


def _fork(row: Row) -> Fork:
    return Fork(NextHop.of(row[2]), addresses_of(row[3]), ForkState(row[4]), row[5])
