"""Which deliveries of some of a run's mail went into which copy of a mailbox database."""

from __future__ import annotations

from collections.abc import Iterable

from spark_eval.expected.mail.arrivals import database_of
from spark_eval.histories.deliveries import (
    Delivered,
    DeliveriesByCopy,
    add_deliveries,
    in_order,
)
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run


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
