"""Resubmit requests of a Safety Net, and the copies that it gives back (SN-16, F§4.1).

A request is known by the id that its author gave it: asked for twice it is still one. Its interval
is the primary's delivery time, start included, end not (SN-8). Times are lab time in Unix epoch
milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nodes.core.model.message import Envelope, Header
from nodes.core.model.next_hop import NextHop


class SafetyNetSource(Enum):
    """Which Safety Net is to answer."""

    PRIMARY = "primary"
    SHADOW = "shadow"


class ResubmitState(Enum):
    """Where a request is. Legal moves stand in `resubmit_states.TRANSITIONS`. The members are this
    project's choice: Exchange's own are not known.
    """

    RUNNING = "running"
    DISABLED = "disabled"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class ResubmitDemand:
    """What is asked for: the copies for mailboxes of `destination` (a mailbox database).

    `primaries` narrows a demand to Shadow Safety Nets to the primary servers that cannot answer
    themselves (UnresponsivePrimaryServers); empty: all.
    """

    request_id: str
    source: SafetyNetSource
    destination: str
    start_ms: int
    end_ms: int
    primaries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a Safety Net read by delivery time; `fork` is 0 in a Shadow Safety Net."""

    delivered_ms: int
    internal_id: int
    fork: int


@dataclass(frozen=True, slots=True)
class ResubmitRequest:
    """A demand that this server has taken on. `progress`: everything up to and with it is
    resubmitted.

    `head_end_ms`: up to there (not included) the Primary Safety Net is missing because the queue
    database is younger (SN-9); `untold` names the servers that have not yet taken that head on.
    """

    demand: ResubmitDemand
    requested_by: str
    created_ms: int
    progress: Position
    state: ResubmitState = ResubmitState.RUNNING
    resubmitted: int = 0
    head_end_ms: int | None = None
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """One copy as a Safety Net gives it: of the Primary one a fork that is done, of the Shadow one
    the message as first received (SN-11).

    `next_hop` and `recipients` as resolved, of a fork; `next_hop` is None for a shadow copy and
    `recipients` are its envelope's. `primary` is the primary server of a shadow copy, else empty.
    `expires_ms` is None while other forks of the message are still to be done.
    """

    position: Position
    network_message_id: str
    header: Header
    envelope: Envelope
    size_bytes: int
    recipients: tuple[str, ...]
    next_hop: NextHop | None
    primary: str
    expires_ms: int | None
