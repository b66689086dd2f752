"""What a node keeps of a message: primary messages with a row per fork, shadow messages, discard
notifications.

Plain values, metadata only. Bodies are handles (`BodyHandle`): `in:<n>` names bytes that the shell
still holds in memory for a session, `db:<internal id>` a body in the queue database,
`outbox:<database>:<item>` one in an Outbox, `made:<text>` a body the core wrote itself (a DSN),
`attached:…` one that it wrote around another one (a journal report), `converted:…` another one once
it is converted.
Times are lab time in Unix epoch milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from nodes.core.model.next_hop import NextHop

BodyHandle: TypeAlias = str

ATTACHED = "attached:"


def attached(handle: BodyHandle, boundary: str, text: str) -> BodyHandle:
    """`text`, the body that `handle` names, and the end of what that boundary divides."""
    return f"{ATTACHED}{handle}|{boundary}|{text}"


CONVERTED = "converted:"


def converted(handle: BodyHandle, encoder: str) -> BodyHandle:
    """The body that `handle` names, as ByteEncoderTypeFor7BitCharsets has it."""
    return f"{CONVERTED}{encoder}|{handle}"


UNREADABLE_DATE_MS = -(1 << 62)
"""A submit time up to this is none: it stands for the octets of a `Date:` that cannot be read."""


class ForkState(Enum):
    """Where one fork of a primary message is. Legal moves stand in `fork_states.TRANSITIONS`."""

    QUEUED = "queued"
    SENDING = "sending"
    DONE = "done"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Envelope:
    """SMTP envelope; `sender` is empty for the null reverse-path (RFC 5321 section 4.5.5)."""

    sender: str
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """The header fields that decisions need, the first two as received: they are the message's
    identity (DD-1).

    `message_id` shows octets (`octets`). `submitted_ms` is the client submit time (`Date:`), epoch
    ms, or at most UNREADABLE_DATE_MS; None where the field is missing or empty.
    """

    message_id: str
    submitted_ms: int | None
    subject: str = ""

    @property
    def date_ms(self) -> int | None:
        """The client submit time, where it is known."""
        at_ms = self.submitted_ms
        return None if at_ms is None or at_ms <= UNREADABLE_DATE_MS else at_ms


def identified(header: Header, unique: str, domain: str) -> Header:
    """What came without a Message-Id has one all the same, made of what is unique to it."""
    if header.message_id:
        return header
    return replace(header, message_id=f"<{unique}@{domain}>")


@dataclass(frozen=True, slots=True)
class Fork:
    """One next hop of a message (RT-4). Recipients that had their end
    before others of the same next hop are a fork of their own; at most one of them is unfinished.
    """

    next_hop: NextHop
    recipients: tuple[str, ...]
    state: ForkState = ForkState.QUEUED
    done_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PrimaryMessage:
    """A message that this server answers for. `internal_id` is unique in this queue database
    (TL-3).

    `shadow_server` holds the shadow copy, None where there is none, in its queue database of
    `shadow_database_id` (empty: not known). `side_effect_of` names the
    message whose side effect this one is (a DSN, a journal report), so that the shadow of that one
    is kept until this one is done (SM-10). `resubmit_request` names the request that made it; such
    a message causes no DSN (SN-10). `delay_notified`: its sender was, or will be, by a DSN that is
    stored (RT-5). `promoted`: it was a shadow message here, and is made redundant anew (SM-13).
    """

    internal_id: int
    network_message_id: str
    header: Header
    envelope: Envelope
    size_bytes: int
    received_ms: int
    shadow_server: str | None
    forks: tuple[Fork, ...]
    side_effect_of: int | None = None
    resubmit_request: str | None = None
    shadow_database_id: str = ""
    delay_notified: bool = False
    promoted: bool = False


@dataclass(frozen=True, slots=True)
class ShadowKey:
    """Names a shadow message: the primary server's own id of it, under the queue database it was
    made in (SM-7).
    """

    primary: str
    primary_database_id: str
    primary_internal_id: int


@dataclass(frozen=True, slots=True)
class ShadowMessage:
    """The second copy, as first received, held for `key.primary` (SR-11). `resubmit_request` as in
    the primary copy, so that it causes no DSN once it is promoted either.
    """

    key: ShadowKey
    internal_id: int
    network_message_id: str
    header: Header
    envelope: Envelope
    size_bytes: int
    received_ms: int
    resubmit_request: str | None = None


@dataclass(frozen=True, slots=True)
class DiscardNotification:
    """Says to one shadow server that a primary message is done; `sequence` grows per queue database
    (SM-3, SM-16). `first_delivered_ms`: when the first of its forks was, None where that is
    `delivered_ms`, the time of the last.
    """

    shadow_server: str
    sequence: int
    internal_id: int
    delivered_ms: int
    first_delivered_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Contact:
    """Last final reply of `primary` to this server's own XQDISCARD (SM-6), and what was taken in up
    to then (SM-16).

    `held_up_to`: shadow messages here with at most this internal id were held when the question was
    asked. Those of them that were made under another database id are to be promoted (SM-7); of
    later ones the reply says nothing.
    """

    primary: str
    database_id: str
    last_contact_ms: int
    confirmed_sequence: int
    held_up_to: int = 0


@dataclass(frozen=True, slots=True)
class ActiveCopy:
    """The copy on `server` of a mailbox database is the active one. `epoch` grows with every
    change; `learnt_ms`: nothing was brought to the copy before from then on.
    """

    database: str
    server: str
    epoch: int
    learnt_ms: int
