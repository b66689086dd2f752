"""What was delivered into the copies of mailbox databases."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from spark_eval.read.names import Ref


class Delivered(NamedTuple):
    """By the server of the copy: `placed` on the monotonic clock, or by its date where there is
    none; `is_new`: stored, and not turned away as a duplicate; `epoch` under which it was active,
    None where it never was.
    """

    placed: int
    at_ms: int
    epoch: int | None
    is_new: bool
    message_id: str
    ref: Ref


Copy = tuple[str, str]
"""Database and server."""
DeliveriesByCopy = dict[Copy, list[Delivered]]


class Stored(NamedTuple):
    """What a mailbox was given of a message, by the date of the copy's server; `again_ms`: when it
    was given the same there again.
    """

    at_ms: int
    again_ms: int | None


StoredByCopy = dict[Copy, list[Stored]]
"""Of all mailbox databases."""
Found = TypeVar("Found", Delivered, Stored)


def add_deliveries(found: dict[Copy, list[Found]], more: dict[Copy, list[Found]]) -> None:
    """Parts of a run's mail add up to the whole."""
    for copy, rows in more.items():
        found.setdefault(copy, []).extend(rows)


def in_order(found: DeliveriesByCopy) -> DeliveriesByCopy:
    return {
        copy: sorted(rows, key=lambda row: (row.placed, row.ref)) for copy, rows in found.items()
    }
