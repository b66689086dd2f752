"""An item of the Outbox of a mailbox database: what a client submitted, and Transport has not
acknowledged yet (SR-8, SR-15).
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.model.message import BodyHandle, Envelope, Header

OUTBOX = "outbox"


@dataclass(frozen=True, slots=True)
class IntoOutbox:
    """What a client says before its message: into the Outbox of this mailbox database (XOUTBOX)."""

    database: str


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """`item_id` is its own, on whichever server, over every failover. `hops`: Received fields that
    it came with.
    """

    item_id: str
    header: Header
    envelope: Envelope
    size_bytes: int
    hops: int

    def body(self, database: str) -> BodyHandle:
        """What its content is read by."""
        return f"{OUTBOX}:{database}:{self.item_id}"
