"""Discard notifications of this server as a primary: kept per shadow server until it has confirmed
them.

A shadow server that asks names its own last confirmed sequence number under the database id it
knows; only then are those forgotten (SM-16), so a lost answer is given again. What nobody asks for
is dropped after ShadowMessageAutoDiscardInterval (SM-11). All are on disk before anybody is told
(SM-5).
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from nodes.core.config import NodeConfig
from nodes.core.effects import SendReply
from nodes.core.identity import Identity
from nodes.core.inputs import DiscardAsked
from nodes.core.message import DiscardNotification
from nodes.core.queue_changes import DropOldDiscards, ForgetDiscards
from nodes.core.replies import r250_discards
from nodes.core.work import Work

PAGE = 200


class Discards:
    """What each shadow server is still to be told."""

    def __init__(self, config: NodeConfig, work: Work, identity: Identity) -> None:
        self._interval_ms = config.transport.shadow_message_auto_discard_interval_ms
        self._work = work
        self._identity = identity
        self._by_server: dict[str, deque[DiscardNotification]] = {}
        self._sweep_is_set = False

    def opened(self, notifications: tuple[DiscardNotification, ...]) -> None:
        for notification in sorted(notifications, key=lambda n: n.sequence):
            self.add(notification)

    def add(self, notification: DiscardNotification) -> None:
        """A notification that is durable by now."""
        self._by_server.setdefault(notification.shadow_server, deque()).append(notification)
        self._set_sweep(notification.delivered_ms + self._interval_ms)

    def answer(self, asked: DiscardAsked) -> None:
        """Reply with the next page for the asking server, and forget what it confirms."""
        waiting = self._by_server.get(asked.asking_server, deque())
        if asked.known_database_id == self._identity.database_id:
            self._forget(asked.asking_server, waiting, asked.confirmed_sequence)
        page = tuple(islice(waiting, PAGE))
        listed = tuple(map(_listed, page))
        more = len(waiting) > len(page)
        reply = r250_discards(self._identity.database_id, listed, more)
        self._work.emit(SendReply(asked.session, reply))

    def _forget(self, server: str, waiting: deque[DiscardNotification], confirmed: int) -> None:
        """Forgetting may be lost with a crash: the shadow server takes a notification it has had as
        nothing new.
        """
        forgotten = False
        while waiting and waiting[0].sequence <= confirmed:
            waiting.popleft()
            forgotten = True
        if forgotten:
            change = ForgetDiscards(server, confirmed)
            self._work.commit((change,), lambda: None, lambda reason: None)

    def _set_sweep(self, due_ms: int) -> None:
        if not self._sweep_is_set:
            self._sweep_is_set = True
            self._work.at(due_ms, self._sweep)

    def _sweep(self) -> None:
        self._sweep_is_set = False
        before_ms = self._work.now_ms - self._interval_ms + 1
        for waiting in self._by_server.values():
            while waiting and waiting[0].delivered_ms < before_ms:
                waiting.popleft()
        self._work.commit((DropOldDiscards(before_ms),), lambda: None, lambda reason: None)
        oldest = min((w[0].delivered_ms for w in self._by_server.values() if w), default=None)
        if oldest is not None:
            self._set_sweep(oldest + self._interval_ms)


def _listed(told: DiscardNotification) -> tuple[int, int, int, int]:
    first_ms = told.first_delivered_ms
    return (
        told.sequence,
        told.internal_id,
        told.delivered_ms,
        told.delivered_ms if first_ms is None else first_ms,
    )
