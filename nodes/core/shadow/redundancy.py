"""Shadow redundancy as a whole: a shadow queue per primary server, and what happens to its
messages.

A server is primary for some messages and shadow for others at the same time (SM-14); this part is
the shadow's side. Promotion turns a shadow message into a primary message of this server in one
durable step (SM-13), in pages, so that a server killed in the middle goes on with the rest: the
database id is kept per message and the last contact is on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.categorizer.categorizer import AsReceived, Categorised, Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.safety_net import SafetyNet, ShadowExpired
from nodes.core.engine.tracking_rows import shadow_row
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Because, Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import DatabaseOpened
from nodes.core.interface.queue_changes import InsertShadow, PromoteShadow
from nodes.core.interface.replies import QueueShown
from nodes.core.model.identity import Identity
from nodes.core.model.message import BodyHandle, PrimaryMessage, ShadowKey, ShadowMessage
from nodes.core.sessions.outbound import PeerReached, Sessions
from nodes.core.shadow.shadow_queue import ShadowQueue

Accepted: TypeAlias = Callable[[ShadowMessage], None]


@dataclass(frozen=True, slots=True)
class ShadowPromoted:
    """A shadow message is a primary message of this server now, durably."""

    message: PrimaryMessage
    former_primary: str


@dataclass(frozen=True, slots=True)
class Keeping(Waiting):
    """A shadow message is being made durable."""

    redundancy: ShadowRedundancy
    shadow: ShadowMessage
    accepted: Accepted
    failed: Because

    def committed(self) -> None:
        self.redundancy.kept(self)

    def refused(self, reason: str) -> None:
        self.redundancy.not_kept(self, reason)

    def __str__(self) -> str:
        key = self.shadow.key
        return f"acknowledges the shadow of message {key.primary_internal_id} to {key.primary}"


class ShadowRedundancy:
    """All shadow queues of this server."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        identity: Identity,
        safety_net: SafetyNet,
        categorizer: Categorizer,
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._identity = identity
        self._safety_net = safety_net
        self._categorizer = categorizer
        self._queues: dict[str, ShadowQueue] = {}
        self._arriving: set[ShadowKey] = set()

    def opened(self, happened: DatabaseOpened) -> None:
        for contact in happened.contacts:
            self._queue(contact.primary).opened(contact)
        for shadow in happened.shadows:
            self._queue(shadow.key.primary).held[shadow.key] = shadow
            self._work.emit(shadow_row("LOAD", "BOOTLOADER", shadow, source_context="shadow"))
        for queue in self._queues.values():
            queue.resume()

    def shown(self) -> tuple[QueueShown, ...]:
        """Every queue that holds something, by its primary server."""
        queues = sorted(self._queues.items())
        return tuple(queue.shown() for _, queue in queues if queue.held)

    def reached(self, event: PeerReached) -> None:
        queue = self._queues.get(event.lease.peer)
        if queue is not None:
            queue.ask_first(event.lease)

    def expired(self, event: ShadowExpired) -> None:
        for queue in self._queues.values():
            for key, shadow in queue.held.items():
                if shadow.internal_id == event.internal_id:
                    queue.remove(key)
                    return

    def accept(
        self, shadow: ShadowMessage, body: BodyHandle, accepted: Accepted, failed: Because
    ) -> None:
        """Make a shadow message durable. One that is held already is accepted again and not stored
        twice.
        """
        queue = self._queue(shadow.key.primary)
        known = queue.held.get(shadow.key)
        if known is not None:
            accepted(known)
            return
        if shadow.key in self._arriving:
            failed("the same shadow message is being stored")
            return
        self._arriving.add(shadow.key)
        expires_ms = self._safety_net.expiry_of_unacknowledged(shadow.received_ms)
        keeping = Keeping(self, shadow, accepted, failed)
        change = InsertShadow(shadow, body, expires_ms)
        self._work.commit((change,), keeping.committed, keeping.refused)

    def kept(self, keeping: Keeping) -> None:
        """It is durable."""
        shadow = keeping.shadow
        self._arriving.discard(shadow.key)
        self._queue(shadow.key.primary).add(shadow)
        self._work.emit(shadow_row("HARECEIVE", "SMTP", shadow))
        keeping.accepted(shadow)

    def not_kept(self, keeping: Keeping, reason: str) -> None:
        self._arriving.discard(keeping.shadow.key)
        keeping.failed(reason)

    def _promote(self, shadows: tuple[ShadowMessage, ...], cause: str, contact_ms: int) -> None:
        fields = (("primary", shadows[0].key.primary), ("cause", cause), ("count", len(shadows)))
        self._work.emit(LogLifecycle("promotion-begun", fields))
        page = self._config.server.promotion_page_size
        for start in range(0, len(shadows), page):
            self._promote_page(shadows[start : start + page], cause, contact_ms)

    def _promote_page(
        self, shadows: tuple[ShadowMessage, ...], cause: str, contact_ms: int
    ) -> None:
        """What expired while its content was read is held again: the disk says that it is gone."""
        queue = self._queue(shadows[0].key.primary)

        def categorised(found: tuple[Categorised, ...]) -> None:
            if any(self._safety_net.is_over(each.received_ms) for each in shadows):
                queue.not_promoted(shadows)
            else:
                self._commit_promoted(shadows, found, cause, contact_ms)

        received = [self._as_received(each) for each in shadows]
        self._categorizer.categorise(received, categorised, lambda _: queue.not_promoted(shadows))

    def _as_received(self, shadow: ShadowMessage) -> AsReceived:
        """Also for its primary server, whose groups it expands in that one's place."""
        servers, body = (self._config.me.name, shadow.key.primary), f"db:{shadow.internal_id}"
        return AsReceived(shadow.envelope, body, shadow.size_bytes, servers)

    def _commit_promoted(
        self,
        shadows: tuple[ShadowMessage, ...],
        categorised: tuple[Categorised, ...],
        cause: str,
        contact_ms: int,
    ) -> None:
        queue = self._queue(shadows[0].key.primary)
        pairs = [
            (shadow, self._primary_of(shadow, own))
            for shadow, own in zip(shadows, categorised, strict=True)
        ]

        def committed() -> None:
            for shadow, message in pairs:
                row = shadow_row(
                    "RESUBMIT",
                    "REDUNDANCY",
                    shadow,
                    source_context=cause,
                    custom=(("LastContact", contact_ms or ""),),
                    internal_id=message.internal_id,
                )
                self._work.emit(row)
            for (_, message), own in zip(pairs, categorised, strict=True):
                self._categorizer.log(message, own)
            for shadow, message in pairs:
                self._work.report(ShadowPromoted(message, shadow.key.primary))
            queue.promoted(shadows)

        def not_committed(_reason: str) -> None:
            queue.not_promoted(shadows)

        changes = tuple(
            PromoteShadow(shadow.key, message, own.body if own.is_converted else None)
            for (shadow, message), own in zip(pairs, categorised, strict=True)
        )
        self._work.commit(changes, committed, not_committed)

    def _primary_of(self, shadow: ShadowMessage, categorised: Categorised) -> PrimaryMessage:
        """The primary message that a shadow message becomes: categorised anew from its envelope."""
        return PrimaryMessage(
            internal_id=self._identity.next_internal_id(),
            network_message_id=shadow.network_message_id,
            header=shadow.header,
            envelope=shadow.envelope,
            size_bytes=categorised.size_bytes,
            received_ms=self._work.now_ms,
            shadow_server=None,
            forks=categorised.forks,
            resubmit_request=shadow.resubmit_request,
            promoted=True,
        )

    def _queue(self, primary: str) -> ShadowQueue:
        queue = self._queues.get(primary)
        if queue is None:
            queue = ShadowQueue(
                primary, self._config, self._work, self._sessions, self._safety_net, self._promote
            )
            self._queues[primary] = queue
        return queue
