"""What the databases of a run's servers held at the end, beside its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.read.names import Ref
from spark_eval.read.rows import QueueRow

# what a store holds though no promise keeps it
LEFT_OVER = ("left-body", "left-fork", "left-head", "running-request")


class Waiting(NamedTuple):
    """Discard notifications of one server that wait for another one: how many, and the oldest."""

    notifications: int
    oldest: QueueRow

    def plus(self, other: Waiting) -> Waiting:
        oldest = min(self.oldest, other.oldest, key=_by_delivery)
        return Waiting(self.notifications + other.notifications, oldest)


@dataclass(slots=True)
class Stores:
    """`waiting` notifications by their server and who is to ask; `left_over`; `unnamed`, entries of
    queues that name no message. Sums: parts of a record add up to the whole.
    """

    waiting: dict[tuple[str, str], Waiting] = field(default_factory=dict)
    left_over: list[QueueRow] = field(default_factory=list)
    unnamed: list[QueueRow] = field(default_factory=list)

    def add(self, other: Stores) -> None:
        self.left_over += other.left_over
        self.unnamed += other.unnamed
        for pair, waiting in other.waiting.items():
            known = self.waiting.get(pair)
            self.waiting[pair] = waiting if known is None else known.plus(waiting)


def stores_of(queues: Iterable[QueueRow]) -> Stores:
    found = Stores()
    for row in queues:
        if row.queue == "discard" and row.shadow_server is not None:
            one = Stores(waiting={(row.server, row.shadow_server): Waiting(1, row)})
            found.add(one)
        if row.queue in LEFT_OVER:
            found.left_over.append(row)
        if row.message_id is None:
            found.unnamed.append(row)
    return found


def _by_delivery(row: QueueRow) -> tuple[int, str, Ref]:
    return -1 if row.delivered_ms is None else row.delivered_ms, row.message_id or "", row.ref
