"""What is handed out of a delivery queue, and what became of it: taken, put off, given up.

An answer of the next hop is about the recipients, or about the message as a whole; a session that
is lost, or ended with 421, is about neither (RFC 5321 sections 3.8, 4.2.1). What follows for the
queue is for `delivery_queue` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.interface.effects import DeliverTo, ForkOf
from nodes.core.interface.inputs import TransmissionAnswered
from nodes.core.interface.replies import R432_NOT_ACTIVE_HERE
from nodes.core.model.message import Fork, PrimaryMessage
from nodes.core.model.next_hop import NextHop

SESSION_ENDS = 421
# enhanced codes of what has no way; of what is too large for its way 5.3.4
NO_WAY = {"RESOLVER.ADR.RecipLimit": "5.5.3", "RESOLVER.RST.SendSizeLimit.Org": "5.2.3"}
NOT_MOUNTED = " ".join((str(R432_NOT_ACTIVE_HERE.code), *R432_NOT_ACTIVE_HERE.lines))


@dataclass(frozen=True, slots=True)
class Parcel:
    """One fork to be handed out, to the copy of `epoch` where it goes into a mailbox database.
    `queue`: the next hop that it waited for, which is not that of the fork where it is redirected.
    """

    message: PrimaryMessage
    fork: Fork
    queue: NextHop
    epoch: int = 0

    def __str__(self) -> str:
        recipients = ", ".join(self.fork.recipients)
        return f"message {self.message.internal_id} for {recipients}"

    @property
    def redirected_to(self) -> NextHop | None:
        hop = self.fork.next_hop
        return hop if hop.is_redirected else None


@dataclass(frozen=True, slots=True)
class Answered:
    """The next hop has it for good for some recipients, or never will; of each recipient one thing
    is said. `refused` (5xx) and `deferred` (4xx, to be tried again) come with status text.
    `server`: which one it was, where the message was sent.
    """

    reply: str
    delivered: tuple[str, ...]
    duplicates: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    deferred: tuple[tuple[str, str], ...] = ()
    server: str = ""


@dataclass(frozen=True, slots=True)
class NotNow:
    """It may take it later, for all recipients: 4xx, no session, a session lost in the middle (in
    doubt, so again). `was_offered`: the next hop was reached. `is_own`: it answered, and put this
    message off (4yz), so that no other one waits for that.
    """

    reason: str
    was_offered: bool = False
    is_own: bool = False


Result: TypeAlias = Answered | NotNow


def prologue_of(parcel: Parcel) -> DeliverTo | ForkOf | None:
    """Whoever is not of the organisation learns nothing of it."""
    hop, name = parcel.fork.next_hop, parcel.message.network_message_id
    if hop.database is not None:
        return DeliverTo(hop.database, name)
    return None if hop.is_outside else ForkOf(name)


def unreachable(parcel: Parcel) -> Answered:
    """Nobody is asked: this message will never pass."""
    reason = parcel.fork.next_hop.name
    status = f"550 {NO_WAY.get(reason, '5.3.4')} {reason}"
    return Answered(status, (), refused=tuple((each, status) for each in parcel.fork.recipients))


def result_of(parcel: Parcel, answer: TransmissionAnswered, server: str) -> Result:
    """What was said of one recipient counts for it, the last word for the others; those put off are
    the only ones to be tried again (RFC 5321 sections 4.2.1, 4.5.4.1). What is neither a yes nor a
    no for good is no acknowledgement.
    """
    reply = f"{answer.code} {answer.text}"
    apart = {address: (code, f"{code} {text}") for address, code, text in answer.refused}
    said = [(r, *apart.get(r, (answer.code, reply))) for r in parcel.fork.recipients]
    delivered = tuple(r for r, code, _ in said if 200 <= code < 300)
    refused = tuple((r, status) for r, code, status in said if code >= 500)
    settled = {*delivered, *(r for r, _ in refused)}
    deferred = tuple((r, status) for r, _, status in said if r not in settled)
    if not settled:
        return NotNow(reply, was_offered=True, is_own=_is_own(answer.code, reply))
    return Answered(reply, delivered, refused=refused, deferred=deferred, server=server)


def _is_own(code: int, reply: str) -> bool:
    """Whether it is about the message. That a mailbox database is not active there is about its
    queue.
    """
    return 400 <= code < 500 and code != SESSION_ENDS and reply != NOT_MOUNTED


def by_status(said: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    """Recipients by what was said of them."""
    found: dict[str, tuple[str, ...]] = {}
    for recipient, status in said:
        found[status] = (*found.get(status, ()), recipient)
    return found


def addresses(said: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(recipient for recipient, _ in said)
