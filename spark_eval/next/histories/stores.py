"""What the databases of a run's servers held at the end, beside its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spark_eval.next.read.json_lines import Rows
from spark_eval.next.read.names import Ref
from spark_eval.next.read.rows import CopyRow, QueueRow

# what a store holds though no promise keeps it
LEFT_OVER = ("left-body", "left-fork", "left-head", "running-request")


class Waiting(NamedTuple):
    """Discard notifications of one server that wait for another one: how many, and the oldest."""

    notifications: int
    oldest: QueueRow


@dataclass(frozen=True, slots=True)
class Stores:
    """`copies` of mailbox databases; `waiting` notifications by their server and who is to ask;
    `left_over`; `unnamed`, entries of queues that name no message.
    """

    copies: tuple[CopyRow, ...]
    waiting: Mapping[tuple[str, str], Waiting]
    left_over: tuple[QueueRow, ...]
    unnamed: tuple[QueueRow, ...]


def stores_of(rows: Rows) -> Stores:
    return Stores(
        copies=tuple(rows.copies),
        waiting=_waiting(rows),
        left_over=tuple(row for row in rows.queues if row.queue in LEFT_OVER),
        unnamed=tuple(row for row in rows.queues if row.message_id is None),
    )


def _waiting(rows: Rows) -> dict[tuple[str, str], Waiting]:
    found: dict[tuple[str, str], list[QueueRow]] = {}
    for row in rows.queues:
        if row.queue == "discard" and row.shadow_server is not None:
            found.setdefault((row.server, row.shadow_server), []).append(row)
    return {pair: Waiting(len(own), min(own, key=_by_delivery)) for pair, own in found.items()}


def _by_delivery(row: QueueRow) -> tuple[int, str, Ref]:
    return -1 if row.delivered_ms is None else row.delivered_ms, row.message_id or "", row.ref
