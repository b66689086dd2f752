"""Redirect-Message while it lasts: what the delivery queues held when it was asked for, and what of
that is still in them (F§5.4).

It is one shot. It is over when none of that is left, or as soon as the other server does not take a
message: the rest is delivered as usual. Whatever else gets into a queue meanwhile goes there too,
and is not waited for. Nothing of it is durable; after a restart every message is delivered as
usual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.delivery.delivery_queue import DeliveryQueue
from nodes.core.delivery.results import Answered, Parcel, Result
from nodes.core.model.next_hop import DeliveryType, NextHop

Left: TypeAlias = set[tuple[int, NextHop]]
"""Forks by internal id and queue."""


@dataclass(slots=True)
class Redirected:
    """`hop`: the server that takes them; `left`: of the forks that were there, those without an end
    so far; `moved`: how many forks went there.
    """

    hop: NextHop
    left: Left
    moved: int = 0


class Redirecting:
    """Of all delivery queues of a server; at most one at a time."""

    def __init__(self, queues: Mapping[NextHop, DeliveryQueue]) -> None:
        self._queues = queues
        self._now: Redirected | None = None
        self._over: Callable[[Redirected], None] = lambda redirected: None

    @property
    def is_under_way(self) -> bool:
        return self._now is not None

    def hop_of(self, queue: NextHop) -> NextHop:
        """Where mail of a queue goes now. What will never pass goes nowhere."""
        if self._now is None or queue.delivery_type is DeliveryType.UNREACHABLE:
            return queue
        return self._now.hop

    def begin(self, hop: NextHop, left: Left, over: Callable[[Redirected], None]) -> None:
        """Hand out everything to that server; `over` is called at the end of that."""
        self._now, self._over = Redirected(hop, left), over
        for queue in list(self._queues.values()):
            queue.redirect()
        if not left:
            self._end()

    def reported(self, parcel: Parcel, result: Result, *, has_ended: bool) -> None:
        """What became of a fork that was handed out."""
        if self._now is None:
            return
        if parcel.redirected_to == self._now.hop:
            if isinstance(result, Answered):
                self._now.moved += bool(result.delivered)
            else:
                self._end()
        if has_ended:
            self.ended(parcel.message.internal_id, parcel.queue)

    def ended(self, internal_id: int, queue: NextHop) -> None:
        """A fork has its end, by whatever."""
        if self._now is not None:
            self._now.left.discard((internal_id, queue))
            if not self._now.left:
                self._end()

    def _end(self) -> None:
        if self._now is not None:
            redirected, self._now = self._now, None
            for queue in list(self._queues.values()):
                queue.redirect_no_more()
            self._over(redirected)
