"""What outbound sessions say: this server calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from nodes.core.interface.replies import LogReply
from nodes.core.model.database_copy import CopyStatus
from nodes.core.model.resubmit_request import ResubmitState


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """`OpenSession` succeeded: banner, EHLO and, towards servers of the organisation, mutual TLS
    are done. `database_id` of the peer's queue database, empty where it does not say.
    """

    session: str
    offers_shadow: bool
    database_id: str = ""


@dataclass(frozen=True, slots=True)
class SessionFailed:
    """`OpenSession` did not succeed; the session does not exist."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class PassedCommandAnswered:
    """The peer's answer to a `PassCommand`."""

    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class TransmissionActive:
    """The peer took bytes of what is transmitted. Reported at most once in a twentieth of the
    ConnectionInactivityTimeOut of Send connectors (SR-6).
    """

    session: str


@dataclass(frozen=True, slots=True)
class TransmissionAnswered:
    """Final answer to `Transmit` or `PassMessage`. Any code; `refused` names single recipients with
    code and text. `log_reply` is what the text says of a log or a seed, if it does: it follows from
    the text, so it is neither compared nor written down.
    """

    session: str
    code: int
    text: str
    refused: tuple[tuple[str, int, str], ...] = ()
    log_reply: LogReply | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DiscardAnswered:
    """Final reply to this server's XQDISCARD: (sequence, primary's internal id, delivered epoch ms)
    in order.
    """

    session: str
    database_id: str
    notifications: tuple[tuple[int, int, int, int], ...]
    more: bool


@dataclass(frozen=True, slots=True)
class DiscardRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class ResubmitAnswered:
    """The peer has taken the request on, durably; `state` is how far it is."""

    session: str
    state: ResubmitState
    resubmitted: int


@dataclass(frozen=True, slots=True)
class ResubmitRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class CopyStatusAnswered:
    """Where the peer's copy stands."""

    session: str
    status: CopyStatus


@dataclass(frozen=True, slots=True)
class MountAnswered:
    """The peer's copy is mounted, since `mounted_ms`; before it had this log as its last."""

    session: str
    mounted_ms: int
    last_log: int
    last_log_ms: int
    last_log_epoch: int


@dataclass(frozen=True, slots=True)
class DismountAnswered:
    """The peer's copy takes no delivery any more; its last log."""

    session: str
    last_log: int
    last_log_ms: int


@dataclass(frozen=True, slots=True)
class SeedPromised:
    """The peer's copy is active and seeds the one here; its last log."""

    session: str
    last_log: int


@dataclass(frozen=True, slots=True)
class ActiveCopyAnswered:
    """The peer brings nothing to the copy before from `learnt_ms` on, by its own clock."""

    session: str
    learnt_ms: int


@dataclass(frozen=True, slots=True)
class CopyCommandRefused:
    session: str
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """An open outbound session broke, whatever it was doing. Also the end of one that was hung
    up.
    """

    session: str
    reason: str
