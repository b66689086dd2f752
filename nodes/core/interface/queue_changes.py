"""Changes of the queue database, as a `Commit` carries them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.interface.resubmit_changes import (
    AdvanceResubmitRequest,
    HeadTaken,
    InsertResubmitRequest,
    RemoveResubmitRequest,
    SetResubmitState,
)
from nodes.core.model.message import (
    ActiveCopy,
    BodyHandle,
    Contact,
    DiscardNotification,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop


@dataclass(frozen=True, slots=True)
class InsertMessage:
    """A new primary message with its forks. `body` is stored with it (`in:`, `made:`, `attached:`,
    `converted:`), or stays where it is (`db:`).
    """

    message: PrimaryMessage
    body: BodyHandle


@dataclass(frozen=True, slots=True)
class FinishFork:
    """Fork `next_hop` of a message leaves its queue: expects it unfinished, sets it `done`
    or `expired` at `at_ms`. `redirected_to`: the next hop
    that it has from then on, where an administrator had it go to another server.
    """

    internal_id: int
    next_hop: NextHop
    state: str
    at_ms: int
    redirected_to: NextHop | None = None


@dataclass(frozen=True, slots=True)
class SplitFork:
    """Some recipients of fork `next_hop` leave its queue, the others stay in it: expects it
    unfinished, with these and others; makes them a fork of their own, `done` or `expired` at
    `at_ms`, with `redirected_to` for its next hop where they were redirected.
    """

    internal_id: int
    next_hop: NextHop
    recipients: tuple[str, ...]
    state: str
    at_ms: int
    redirected_to: NextHop | None = None


@dataclass(frozen=True, slots=True)
class RerouteFork:
    """Some recipients of fork `next_hop`, or all, wait for `to` instead: expects it unfinished,
    with these. They join the unfinished fork of that next hop, where the message has one.
    """

    internal_id: int
    next_hop: NextHop
    recipients: tuple[str, ...]
    to: NextHop


@dataclass(frozen=True, slots=True)
class MoveToPrimarySafetyNet:
    """All forks are done: the message leaves the delivery queues for the Primary Safety Net (SM-1,
    SN-1).
    """

    internal_id: int
    delivered_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class DeleteMessage:
    """A primary message ends without Safety Net (it expired on every fork)."""

    internal_id: int


@dataclass(frozen=True, slots=True)
class SetShadowServer:
    """A message that had no shadow has one now (SM-13)."""

    internal_id: int
    shadow_server: str
    shadow_database_id: str = ""


@dataclass(frozen=True, slots=True)
class NoteDelayNotified:
    """The sender of a message is notified that it is delayed (RT-5), by a DSN that is stored
    with this.
    """

    internal_id: int


@dataclass(frozen=True, slots=True)
class InsertDiscard:
    notification: DiscardNotification


@dataclass(frozen=True, slots=True)
class ForgetDiscards:
    """Confirmed by the shadow server: all its notifications up to and with this sequence
    (SM-16).
    """

    shadow_server: str
    up_to_sequence: int


@dataclass(frozen=True, slots=True)
class NoteDiscardsAsked:
    """The shadow server has asked for all its notifications at this moment (SM-16)."""

    shadow_server: str
    asked_ms: int


@dataclass(frozen=True, slots=True)
class DropOldDiscards:
    """Notifications of a shadow server that has not asked since `before_ms`: all with
    `delivered_ms` before it (SM-11).
    """

    shadow_server: str
    before_ms: int


@dataclass(frozen=True, slots=True)
class InsertShadow:
    """A new shadow message; it also gets its latest end now, `expires_ms` (SN-2,
    unacknowledged).
    """

    shadow: ShadowMessage
    body: BodyHandle
    expires_ms: int


@dataclass(frozen=True, slots=True)
class MoveToShadowSafetyNet:
    """The discard notification has come: from the shadow queue to the Shadow Safety Net (SM-4,
    SN-2). Its times are the notification's.
    """

    key: ShadowKey
    delivered_ms: int
    expires_ms: int
    first_delivered_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PromoteShadow:
    """The shadow message becomes the primary message `message`, in one step (SM-13). `converted`:
    the body that it has from then on (SN-17); None: that of the shadow message.
    """

    key: ShadowKey
    message: PrimaryMessage
    converted: BodyHandle | None = None


@dataclass(frozen=True, slots=True)
class SetContact:
    """Insert or replace the contact row of `contact.primary`."""

    contact: Contact


@dataclass(frozen=True, slots=True)
class SetActiveCopy:
    """Another copy of a mailbox database is active: expects that a lower epoch was known, or
    none."""

    copy: ActiveCopy


Change: TypeAlias = (
    InsertMessage
    | FinishFork
    | SplitFork
    | RerouteFork
    | MoveToPrimarySafetyNet
    | DeleteMessage
    | SetShadowServer
    | NoteDelayNotified
    | InsertDiscard
    | ForgetDiscards
    | NoteDiscardsAsked
    | DropOldDiscards
    | InsertShadow
    | MoveToShadowSafetyNet
    | PromoteShadow
    | SetContact
    | SetActiveCopy
    | InsertResubmitRequest
    | AdvanceResubmitRequest
    | SetResubmitState
    | HeadTaken
    | RemoveResubmitRequest
)
