"""Discard notifications of this server as a primary: kept per shadow server until it has confirmed
them.

A shadow server that asks names its own last confirmed sequence number under the database id it
knows; only then are those forgotten (SM-16), so a lost answer is given again, over a restart too:
when a shadow server last asked is on disk. What nobody asks for, or asks for again, is dropped
after ShadowMessageAutoDiscardInterval (SM-11). All are on disk before anybody is notified (SM-5).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Work
from nodes.core.interface.effects import SendReply
from nodes.core.interface.inputs import DiscardAsked
from nodes.core.interface.queue_changes import (
    Change,
    DropOldDiscards,
    ForgetDiscards,
    NoteDiscardsAsked,
)
from nodes.core.interface.replies import DiscardReply, QueueShown
from nodes.core.model.identity import Identity
from nodes.core.model.message import DiscardNotification

SWEEP_INTERVAL_MS = 60_000


@dataclass(frozen=True, slots=True)
class DiscardsAsked:
    """A shadow server has asked, whatever there was to say."""

    shadow_server: str


class Discards:
    """What each shadow server is still to be notified of."""

    def __init__(self, config: NodeConfig, work: Work, identity: Identity) -> None:
        self._interval_ms = config.transport.shadow_message_auto_discard_interval_ms
        self._per_answer = config.server.discard_notifications_per_answer
        self._work = work
        self._identity = identity
        self._by_server: dict[str, deque[DiscardNotification]] = {}
        self._asked_ms: dict[str, int] = {}
        self._sweep_is_set = False

    def opened(
        self,
        notifications: tuple[DiscardNotification, ...],
        asked: tuple[tuple[str, int], ...],
    ) -> None:
        """`asked`: shadow servers, and when each last asked for what waited for it."""
        self._asked_ms.update(asked)
        for notification in sorted(notifications, key=lambda n: n.sequence):
            self.add(notification)

    def shown(self) -> tuple[QueueShown, ...]:
        """By shadow server, what it is still to be notified of."""
        waiting = sorted(self._by_server.items())
        return tuple(QueueShown("discard", name, len(own)) for name, own in waiting if own)

    def add(self, notification: DiscardNotification) -> None:
        """A notification that is durable by now."""
        self._by_server.setdefault(notification.shadow_server, deque()).append(notification)
        self._set_sweep(notification.delivered_ms + self._interval_ms)

    def answer(self, asked: DiscardAsked) -> None:
        """Reply with the next page for the asking server, and forget what it confirms."""
        server = asked.asking_server
        self._work.report(DiscardsAsked(server))
        waiting = self._by_server.get(server, deque())
        changes: list[Change] = []
        if asked.known_database_id == self._identity.database_id:
            changes += self._forget(server, waiting, asked.confirmed_sequence)
        changes += self._note_asked(server, waiting)
        if changes:
            self._work.commit(tuple(changes), lambda: None, lambda reason: None)
        page = tuple(islice(waiting, self._per_answer))
        listed = tuple(map(_listed, page))
        more = len(waiting) > len(page)
        reply = DiscardReply(self._identity.database_id, listed, more)
        self._work.emit(SendReply(asked.session, reply))

    def _forget(
        self, server: str, waiting: deque[DiscardNotification], confirmed: int
    ) -> list[Change]:
        """Forgetting may be lost with a crash: the shadow server takes a notification it has had as
        nothing new.
        """
        forgotten = False
        while waiting and waiting[0].sequence <= confirmed:
            waiting.popleft()
            forgotten = True
        return [ForgetDiscards(server, confirmed)] if forgotten else []

    def _note_asked(self, server: str, waiting: deque[DiscardNotification]) -> list[Change]:
        """It asks for everything that waits for it now, whether the answer has room for it or
        not.
        """
        if not waiting:
            return []
        self._asked_ms[server] = self._work.now_ms
        return [NoteDiscardsAsked(server, self._work.now_ms)]

    def _set_sweep(self, due_ms: int) -> None:
        if not self._sweep_is_set:
            self._sweep_is_set = True
            self._work.at(due_ms, self._sweep)

    def _sweep(self) -> None:
        self._sweep_is_set = False
        before_ms = self._work.now_ms - self._interval_ms + 1
        dropped = [self._drop(server, before_ms) for server in self._by_server]
        changes = tuple(change for change in dropped if change is not None)
        if changes:
            self._work.commit(changes, lambda: None, lambda reason: None)
        counted = [self._counts_from_ms(server) for server in self._by_server]
        oldest_ms = min((at_ms for at_ms in counted if at_ms is not None), default=None)
        if oldest_ms is not None:
            next_ms = self._work.now_ms + SWEEP_INTERVAL_MS
            self._set_sweep(max(oldest_ms + self._interval_ms, next_ms))

    def _counts_from_ms(self, server: str) -> int | None:
        """When the oldest that waits for it was made, or it last asked; None where nothing does."""
        oldest_ms = min((n.delivered_ms for n in self._by_server[server]), default=None)
        return None if oldest_ms is None else max(oldest_ms, self._asked_ms.get(server, oldest_ms))

    def _drop(self, server: str, before_ms: int) -> Change | None:
        counted_ms = self._counts_from_ms(server)
        if counted_ms is None or counted_ms >= before_ms:
            return None
        kept = (n for n in self._by_server[server] if n.delivered_ms >= before_ms)
        self._by_server[server] = deque(kept)
        return DropOldDiscards(server, before_ms)


def _listed(told: DiscardNotification) -> tuple[int, int, int, int]:
    first_ms = told.first_delivered_ms
    return (
        told.sequence,
        told.internal_id,
        told.delivered_ms,
        told.delivered_ms if first_ms is None else first_ms,
    )
