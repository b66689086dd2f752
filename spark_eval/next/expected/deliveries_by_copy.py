"""Which deliveries of some of a run's mail went into which copy of a mailbox database."""

from __future__ import annotations

from collections.abc import Iterable

from spark_eval.next.expected.arrivals import brought_into
from spark_eval.next.histories.deliveries import Delivered, DeliveriesByCopy, merged
from spark_eval.next.histories.message import Message
from spark_eval.next.histories.run import Run


def deliveries_by_copy(messages: Iterable[Message], run: Run) -> DeliveriesByCopy:
    """By the word of the servers of the copies; in order."""
    return merged(
        _of_message(each, run) for message in messages for each in (message, *message.dsns)
    )


def _of_message(message: Message, run: Run) -> DeliveriesByCopy:
    found: DeliveriesByCopy = {}
    for each in brought_into(message, run):
        row = each.row
        if row.event != "SEND":
            placed = row.at_ms if row.mono_ns is None else row.mono_ns
            is_new = row.event == "DELIVER"
            delivered = Delivered(
                placed, row.at_ms, each.epoch, is_new, message.message_id, row.ref
            )
            found.setdefault((each.database, each.copy), []).append(delivered)
    return found
