"""SMTP replies by name, each name starting with its code (TL-5, F§2.3). The texts are part of the
contract.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.model.database_copy import CopyStanding, CopyStatus
from nodes.core.model.message import ActiveCopy
from nodes.core.model.resubmit_request import ResubmitRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """One SMTP reply; several lines make a multi-line reply (RFC 5321 section 4.2.1)."""

    code: int
    lines: tuple[str, ...]


def _reply(code: int, text: str) -> Reply:
    return Reply(code, (text,))


R250_RECIPIENT_OK = _reply(250, "2.1.5 Recipient OK")
R250_SHADOW_NEXT = _reply(250, "2.0.0 Shadow message may follow")
R250_DELIVERY_NEXT = _reply(250, "2.0.0 Delivery may follow")
R421_CONNECTION_TIMEOUT = _reply(421, "4.4.1 Connection timed out")
R421_INACTIVITY_TIMEOUT = _reply(421, "4.4.2 Timeout waiting for client input")
R421_STOPPING = _reply(421, "4.3.2 Service not active")
R432_NOT_ACTIVE_HERE = _reply(
    432, "4.2.0 STOREDRIVER; mailbox database is not active on this server"
)
R451_NOT_COMMITTED = _reply(451, "4.3.0 Message could not be stored")
R451_NOT_REDUNDANT = _reply(451, "4.4.0 Message failed to be made redundant")
R502_NOT_IMPLEMENTED = _reply(502, "5.3.3 Command not implemented")
R502_SHADOW_DISABLED = R502_NOT_IMPLEMENTED
R503_BAD_SEQUENCE = _reply(503, "5.5.1 Bad sequence of commands")
R550_NOT_ALLOWED = _reply(550, "5.7.1 Not authorized")
R550_NO_SUCH_RECIPIENT = _reply(550, "5.1.10 RESOLVER.ADR.RecipientNotFound; recipient not found")
R552_MESSAGE_TOO_LARGE = _reply(552, "5.3.4 Message size exceeds fixed maximum message size")
R552_HEADER_TOO_LARGE = _reply(552, "5.3.4 Header size exceeds fixed maximum size")


R501_NO_INTERVAL = _reply(501, "5.5.4 Start must come before end")
R503_NOT_IN_THIS_STATE = _reply(503, "5.5.1 Resubmit request is not in a state for this")
R550_NO_SUCH_DATABASE = _reply(550, "5.4.4 No such mailbox database")
R550_NO_SUCH_REQUEST = _reply(550, "5.5.4 No such resubmit request")
R554_OTHER_REQUEST = _reply(554, "5.5.4 Another resubmit request has this id")
R250_REQUEST_CHANGED = _reply(250, "2.0.0 Resubmit request changed")
R451_REQUEST_NOT_STORED = _reply(451, "4.3.0 Resubmit request could not be stored")


R250_LOG_NEXT = _reply(250, "2.0.0 Log may follow")
R250_SEED_NEXT = _reply(250, "2.0.0 Seed may follow")
R451_COPY_BUSY = _reply(451, "4.3.2 Copy of the mailbox database is being changed")
R451_COPY_NOT_CHANGED = _reply(451, "4.3.0 Copy of the mailbox database could not be changed")
R451_COPY_FAILED = _reply(451, "4.3.0 Copy of the mailbox database has failed")


def r250_replayed(number: int) -> Reply:
    """Answer to a log: it is durable here."""
    return _reply(250, f"2.6.0 replayed {number}")


def r250_seeded(last_log: int) -> Reply:
    """Answer to a seed, read by `log_shipping`."""
    return _reply(250, f"2.6.0 seeded {last_log}")


def r503_expects(number: int, after_epoch: int) -> Reply:
    """Answer to a log that does not follow the last one here, read by `log_shipping`."""
    return _reply(503, f"5.5.1 expects {number} after {after_epoch}")


def r554_active_under(epoch: int) -> Reply:
    """Answer to whoever acts under an epoch that is over, read by `log_shipping`."""
    return _reply(554, f"5.5.4 active under {epoch}")


def r250_copy_status(status: CopyStatus) -> Reply:
    """Answer to XCOPYSTATUS, parsed by `nodes.shell.verbs.database`, as are the next two."""
    numbers = (status.epoch, status.last_log, status.last_log_ms, status.created_ms)
    return _reply(250, f"2.0.0 {status.state.value} {' '.join(map(str, numbers))}")


def r250_mounted(standing: CopyStanding) -> Reply:
    """Answer to XMOUNT: when it was mounted under this epoch, and what it had before: the number
    of its last log, and when that was made.
    """
    numbers = (standing.mounted_ms, standing.mounted_after_log, standing.mounted_after_ms)
    return _reply(250, f"2.0.0 {' '.join(map(str, numbers))}")


def r250_dismounted(standing: CopyStanding) -> Reply:
    """Answer to XDISMOUNT: its last log, and when that was made."""
    return _reply(250, f"2.0.0 {standing.last_log} {standing.last_log_ms}")


R451_FAILOVER_UNDER_WAY = _reply(451, "4.3.2 Another failover of the database is under way")
R451_FAILOVER_NOT_STORED = _reply(451, "4.3.0 Failover could not be stored")
R451_NO_COPY = _reply(451, "4.3.1 No copy of the mailbox database can be mounted")
R503_ACTIVE_ALREADY = _reply(503, "5.5.1 Copy of the mailbox database is active already")
R550_NO_SUCH_COPY = _reply(550, "5.4.4 No copy of the mailbox database on that server")


def r250_decided(epoch: int, server: str) -> Reply:
    """Answer to XFAILOVER and XSWITCHOVER: durable, and under way."""
    return _reply(250, f"2.0.0 {epoch} {server}")


R451_COPY_NOT_STORED = _reply(451, "4.3.0 Active copy could not be stored")
R554_LATER_COPY_KNOWN = _reply(554, "5.5.4 Another active copy is known")


def r250_active_copy(copy: ActiveCopy) -> Reply:
    """Answer to XACTIVE: epoch ms from which on nothing was brought to the copy before."""
    return _reply(250, f"2.0.0 {copy.learnt_ms}")


def r250_resubmit(request: ResubmitRequest) -> Reply:
    """Answer to XRESUBMIT ADD, parsed by `nodes.shell.verbs.safety_net`."""
    return _reply(250, f"2.0.0 {request.state.value} {request.resubmitted}")


def r250_resubmit_list(requests: tuple[ResubmitRequest, ...]) -> Reply:
    """Answer to XRESUBMIT LIST (SN-16), a request a line, then `Done <n>`.

    `<id> <source> <destination> <start> <end> <created> <requested by> <state> <resubmitted>
    <end of the head or -> <untold servers by comma or ->`; times in epoch ms.
    """
    return Reply(250, (*map(_listed, requests), f"Done {len(requests)}"))


def _listed(request: ResubmitRequest) -> str:
    demand = request.demand
    words = (
        demand.request_id,
        demand.source.value,
        demand.destination,
        demand.start_ms,
        demand.end_ms,
        request.created_ms,
        request.requested_by,
        request.state.value,
        request.resubmitted,
        "-" if request.head_end_ms is None else request.head_end_ms,
        ",".join(request.untold) or "-",
    )
    return " ".join(map(str, words))


MESSAGE_ID_SHOWN = 255


def r250_queued_for_delivery(message_id: str, internal_id: int, hostname: str) -> Reply:
    return _reply(
        250, f"2.6.0 {_named(message_id, internal_id, hostname)} Queued mail for delivery"
    )


def r250_queued_for_redundancy(message_id: str, internal_id: int, hostname: str) -> Reply:
    named = _named(message_id, internal_id, hostname)
    return _reply(250, f"2.6.0 {named} Queued mail for redundancy")


def _named(message_id: str, internal_id: int, hostname: str) -> str:
    """A reply has 512 octets at most (RFC 5321 section 4.5.3.1.5), so of a long Message-Id it shows
    both ends.
    """
    if len(message_id) > MESSAGE_ID_SHOWN:
        half = MESSAGE_ID_SHOWN // 2
        message_id = f"{message_id[:half]}...{message_id[-half:]}"
    return f"{message_id} [InternalId={internal_id}, Hostname={hostname}]"


def r250_discards(
    database_id: str, notifications: tuple[tuple[int, int, int, int], ...], more: bool
) -> Reply:
    """Answer to XQDISCARD: this project's own grammar, parsed by `nodes.shell.verbs.shadow`.

    Lines: `DatabaseId=<id>`, then `<sequence> <internal id> <delivered epoch ms> <first fork
    delivered epoch ms>` each, then `More <n>` or `Done <n>`.
    """
    listed = tuple(" ".join(map(str, numbers)) for numbers in notifications)
    last = f"{'More' if more else 'Done'} {len(notifications)}"
    return Reply(250, (f"DatabaseId={database_id}", *listed, last))
