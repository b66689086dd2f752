"""A message of which this server becomes the primary: made redundant, categorised, made durable
here, then acknowledged (SR-1, TL-7). HAREDIRECT is logged before RECEIVE (TL-2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from nodes.core.back_pressure import BackPressure
from nodes.core.categorizer.categorizer import AsReceived, Categorised, Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.engine.tracking_rows import primary_row
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Work
from nodes.core.interface.effects import DropBody
from nodes.core.interface.inputs import MessageOffered
from nodes.core.interface.queue_changes import InsertMessage
from nodes.core.interface.replies import (
    R421_INACTIVE,
    R451_NOT_COMMITTED,
    R451_NOT_REDUNDANT,
    R451_REDIRECTING,
    R452_BACK_PRESSURE,
    Reply,
    r250_queued_for_delivery,
)
from nodes.core.model.identity import Identity
from nodes.core.model.message import BodyHandle, Header, PrimaryMessage, identified
from nodes.core.model.outbox import OutboxItem
from nodes.core.receiving.component_state import ComponentState
from nodes.core.shadow.primary_side import Redundancy, shadowed
from nodes.core.shadow.shadow_attempts import Made, NotMade, Outcome
from nodes.core.submission.submission import Answered

LOOPBACK = "127.0.0.1"


class Sender(Protocol):
    """Whoever hands a message over: an inbound session, or the Submission service of this
    server.
    """

    @property
    def closes_ms(self) -> int: ...

    @property
    def client_address(self) -> str: ...

    def answer_message(self, reply: Reply) -> None: ...


@dataclass(frozen=True, slots=True)
class Submitter:
    """The Submission service of this server: a session of its own for each item."""

    closes_ms: int
    answer_message: Callable[[Reply], None]
    client_address: str = LOOPBACK


@dataclass(frozen=True, slots=True)
class Taking(Waiting):
    """Of a message that is being made durable: `message` is as it is kept."""

    intake: Intake
    sender: Sender
    message: PrimaryMessage
    categorised: Categorised

    def committed(self) -> None:
        self.intake.taken(self)

    def refused(self, reason: str) -> None:
        self.intake.refuser(self.sender, self.categorised.received.body)(reason)

    def __str__(self) -> str:
        address = self.sender.client_address
        return f"acknowledges message {self.message.internal_id} to {address} and delivers it"


class Intake:
    """From inbound sessions, and from the Submission service of this server."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        identity: Identity,
        delivery: Delivery,
        redundancy: Redundancy,
        categorizer: Categorizer,
        pressure: BackPressure,
        component: ComponentState,
    ) -> None:
        self._config = config
        self._work = work
        self._identity = identity
        self._delivery = delivery
        self._redundancy = redundancy
        self._categorizer = categorizer
        self._pressure = pressure
        self._component = component

    def refusal(self, peer: str | None) -> Reply | None:
        """Why no new message is taken now, whatever it is; `peer`: the server that offers it."""
        if self._delivery.queues.redirecting.is_under_way:
            return R451_REDIRECTING
        return R452_BACK_PRESSURE if self._pressure.refuses_mail(peer) else None

    def submitted(self, item: OutboxItem, body: BodyHandle, answered: Answered) -> None:
        """From the Submission service of this server, which is a sender like any other (SR-8)."""
        offered = MessageOffered("", item.envelope, item.header, item.size_bytes, body, item.hops)
        message = self.message(offered)
        closes_ms = self._work.now_ms + self._config.server.receive_connection_timeout_ms
        sender = Submitter(closes_ms, lambda reply: answered(reply, message))
        refusal = self.refusal(self._config.me.name)
        if self._component.refuses_mail:
            sender.answer_message(R421_INACTIVE)
        elif refusal is not None:
            sender.answer_message(refusal)
        else:
            self.take(sender, message, body)

    def take(self, sender: Sender, message: PrimaryMessage, body: BodyHandle) -> None:
        if not self._config.transport.shadow_redundancy_enabled:
            self._keep(sender, message, body)
            return

        def outcome(result: Outcome) -> None:
            if isinstance(result, Made):
                self._redundancy.log_made(message, result)
                self._keep(sender, shadowed(message, result), body)
            else:
                self._not_redundant(sender, message, body, result)

        self._redundancy.make(message, body, sender.closes_ms, None, outcome)

    def _not_redundant(
        self, sender: Sender, message: PrimaryMessage, body: BodyHandle, result: NotMade
    ) -> None:
        """SR-5, whether the sender is still there or not (SR-6): one that was lost sends again, and
        duplicate detection hides the second copy (DD-1).
        """
        rejected = self._config.transport.reject_message_on_shadow_failure
        self._redundancy.log_not_made(message, result, "rejected" if rejected else "accepted")
        if rejected:
            self._work.emit(DropBody(body))
            sender.answer_message(R451_NOT_REDUNDANT)
        else:
            self._keep(sender, message, body)

    def _keep(self, sender: Sender, message: PrimaryMessage, body: BodyHandle) -> None:
        """Categorise, make durable, then acknowledge. A lost session changes nothing from here on
        (SR-7). The message grows old from now on, however long the attempts to make a shadow took.
        """
        servers = (self._config.me.name,)
        received = AsReceived(message.envelope, body, message.size_bytes, servers)
        aged = replace(message, received_ms=self._work.now_ms)
        self._categorizer.categorise(
            (received,),
            lambda found: self._commit(sender, aged, *found),
            self.refuser(sender, body),
        )

    def _commit(self, sender: Sender, message: PrimaryMessage, categorised: Categorised) -> None:
        kept = replace(message, forks=categorised.forks, size_bytes=categorised.size_bytes)
        change, taking = (
            InsertMessage(kept, categorised.body),
            Taking(self, sender, kept, categorised),
        )
        self._work.commit((change,), taking.committed, taking.refused)

    def taken(self, taking: Taking) -> None:
        """It is durable."""
        kept, address = taking.message, taking.sender.client_address
        received = taking.categorised.before(kept)
        self._work.emit(primary_row("RECEIVE", "SMTP", received, client_address=address))
        self._categorizer.log(kept, taking.categorised)
        taking.sender.answer_message(self.accepting(kept))
        self._delivery.add(kept)

    def message(self, offered: MessageOffered, network_message_id: str = "") -> PrimaryMessage:
        internal_id = self._identity.next_internal_id()
        network_message_id = network_message_id or self._identity.network_message_id(internal_id)
        return PrimaryMessage(
            internal_id=internal_id,
            network_message_id=network_message_id,
            header=self.identified(offered.header, network_message_id),
            envelope=offered.envelope,
            size_bytes=offered.size_bytes,
            received_ms=self._work.now_ms,
            shadow_server=None,
            forks=(),
        )

    def identified(self, header: Header, network_message_id: str) -> Header:
        return identified(header, network_message_id, self._config.accepted_domain)

    def accepting(self, message: PrimaryMessage) -> Reply:
        return r250_queued_for_delivery(
            message.header.message_id, message.internal_id, self._config.me.fqdn
        )

    def refuser(self, sender: Sender, body: BodyHandle) -> Callable[[str], None]:
        def refuse(_reason: str) -> None:
            self._work.emit(DropBody(body))
            sender.answer_message(R451_NOT_COMMITTED)

        return refuse
