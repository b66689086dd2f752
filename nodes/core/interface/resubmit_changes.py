"""Changes of a `Commit` that concern resubmit requests (SN-9, SN-16)."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.model.resubmit_request import Position, ResubmitRequest, ResubmitState


@dataclass(frozen=True, slots=True)
class InsertResubmitRequest:
    """A request that this server takes on, with the servers that are to be notified of its head
    (SN-9, SN-16).
    """

    request: ResubmitRequest


@dataclass(frozen=True, slots=True)
class AdvanceResubmitRequest:
    """Goes with the messages that it counts: everything up to `progress` is resubmitted, `count`
    more than before.
    """

    request_id: str
    progress: Position
    count: int


@dataclass(frozen=True, slots=True)
class SetResubmitState:
    """Expects the request in state `expected`."""

    request_id: str
    expected: ResubmitState
    state: ResubmitState


@dataclass(frozen=True, slots=True)
class HeadTaken:
    """`server` has taken on the head of the request, or will never be notified of it (SN-9)."""

    request_id: str
    server: str


@dataclass(frozen=True, slots=True)
class RemoveResubmitRequest:
    """The request, and who is still to be notified of its head."""

    request_id: str
