"""Which deliveries of some of a run's mail went into which copy of a mailbox database, by the word
of the servers of the copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from spark_eval.expected.mail.arrivals import database_of
from spark_eval.histories.deliveries import (
    Delivered,
    DeliveriesByCopy,
    Stored,
    StoredByCopy,
    add_deliveries,
    in_order,
)
from spark_eval.histories.message import Message
from spark_eval.histories.primary import order_of
from spark_eval.histories.run import Run
from spark_eval.read.rows import collected


def deliveries_by_copy(messages: Iterable[Message], run: Run) -> DeliveriesByCopy:
    """By the word of the servers of the copies; in order."""
    found: DeliveriesByCopy = {}
    for message in messages:
        for each in message.with_dsns:
            add_deliveries(found, _of_message(each, run))
    return in_order(found)


def _of_message(message: Message, run: Run) -> DeliveriesByCopy:
    found: DeliveriesByCopy = {}
    for row in message.of_event("DELIVER", "DUPLICATEDELIVER"):
        active = run.active_copies.get(database_of(row) or "")
        if active is not None:
            placed = row.at_ms if row.mono_ns is None else row.mono_ns
            epoch = active.epoch_at(row.server, placed) if row.internal_id is not None else None
            delivered = Delivered(
                placed, row.at_ms, epoch, row.event == "DELIVER", row.message_id or "", row.ref
            )
            found.setdefault((active.database, row.server), []).append(delivered)
    return found


def stored_by_copy(messages: Iterable[Message]) -> StoredByCopy:
    """What each put into DeliveredTo: an entry a mailbox (DD-1)."""
    found: StoredByCopy = {}
    for message in messages:
        for each in message.with_dsns:
            add_deliveries(found, _stored(each))
    return found


def _stored(message: Message) -> StoredByCopy:
    times = collected(
        ((database_of(row) or "", row.server, recipient), row.at_ms)
        for row in sorted(message.of_event("DELIVER"), key=order_of)
        for recipient in row.recipients or ()
    )
    return collected(
        ((database, server), Stored(at_ms, again_ms))
        for (database, server, _), given in times.items()
        for at_ms, again_ms in zip_longest(given, given[1:])
    )
