"""Inbound sessions: who may say what, and what a 250 stands for.

A message from outside goes to `intake`. A shadow message and a delivery into a mailbox database
each have their own pair of "durable" and "250" (design decision 3). Only a server of the
organisation may use their verbs (TL-6), and only inside its boundary: what comes across it is mail
from outside, from whomever (SR-1, SR-10), but for the network message id that it has already, which
a mailbox server of the organisation is believed, and nobody else (TL-3).
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.back_pressure import BackPressure
from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.categorizer.mailboxes import Mailboxes
from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.copies.log_replay import LogReceiving
from nodes.core.delivery.discard_notifications import Discards
from nodes.core.engine.tracking_rows import log_mailbox_delivery
from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import LocalDelivery, Work
from nodes.core.interface.effects import (
    DeliverTo,
    DropBody,
    ForkOf,
    ShadowRequest,
    ShipLog,
    ShipMailbox,
    ShipSeed,
)
from nodes.core.interface.inputs import (
    DeliveryRequested,
    DiscardAsked,
    ForkAnnounced,
    MessageOffered,
    RecipientOffered,
    ShadowRequested,
)
from nodes.core.interface.replies import (
    R250_DELIVERY_NEXT,
    R250_FORK_NEXT,
    R250_RECIPIENT_OK,
    R250_SHADOW_NEXT,
    R421_INACTIVE,
    R421_MESSAGE_RATE,
    R432_MAILBOX_MOVED,
    R432_NOT_ACTIVE_HERE,
    R452_BACK_PRESSURE,
    R502_SHADOW_DISABLED,
    R503_BAD_SEQUENCE,
    R550_NO_SUCH_RECIPIENT,
    R550_NOT_ALLOWED,
    Reply,
    r250_queued_for_redundancy,
)
from nodes.core.model.identity import Identity
from nodes.core.model.message import (
    BodyHandle,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.outbox import IntoOutbox
from nodes.core.moves.mailbox_moves import MailboxMoves
from nodes.core.receiving.component_state import ComponentState
from nodes.core.receiving.intake import Intake
from nodes.core.receiving.limits import message_refusal, recipient_refusal
from nodes.core.routing.boundary import is_inside, is_transport
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove
from nodes.core.sessions.rate import RatePerMinute
from nodes.core.shadow.redundancy import ShadowRedundancy
from nodes.core.submission.submission import Submission


@dataclass(frozen=True, slots=True)
class Storing(Waiting):
    """A delivery of another server that goes into mailboxes here."""

    receiving: Receiving
    session: InboundSession
    database: str
    message: PrimaryMessage
    body: BodyHandle

    def delivered(self, stored: tuple[str, ...], duplicates: tuple[str, ...]) -> None:
        self.receiving.stored(self, stored, duplicates)

    def failed(self, reason: str) -> None:
        self.receiving.not_stored(self, reason)

    def __str__(self) -> str:
        peer = self.session.peer or self.session.client_address
        return f"acknowledges its delivery to {peer}"


class Receiving:
    """Everything that clients say to this server."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: InboundSessions,
        identity: Identity,
        discards: Discards,
        active_copies: ActiveCopies,
        shadow: ShadowRedundancy,
        logs: LogReceiving,
        categorizer: Categorizer,
        pressure: BackPressure,
        submission: Submission,
        mailboxes: Mailboxes,
        moves: MailboxMoves,
        intake: Intake,
        component: ComponentState,
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._identity = identity
        self._discards = discards
        self._active_copies = active_copies
        self._shadow = shadow
        self._logs = logs
        self._categorizer = categorizer
        self._pressure = pressure
        self._submission = submission
        self._mailboxes = mailboxes
        self._moves = moves
        self._intake = intake
        self._component = component
        self._rate = RatePerMinute(config.server.limits.message_rate_limit)

    def opened(self) -> None:
        self._rate.begin(self._work.now_ms)
        self._sessions.begin()

    def shadow_requested(self, asked: ShadowRequested) -> None:
        session = self._sessions.named(asked.session)
        if session is None:
            return
        is_own = session.peer is not None and session.peer == asked.primary
        if not is_own or not is_inside(self._config, session.peer):
            session.reply(R550_NOT_ALLOWED)
        elif not self._config.transport.shadow_redundancy_enabled:
            session.reply(R502_SHADOW_DISABLED)
        elif self._component.refuses_shadows:
            session.send_away(R421_INACTIVE)
        elif not session.may(InboundMove.REQUEST_SHADOW):
            session.reply(R503_BAD_SEQUENCE)
        elif self._pressure.refuses_shadows:
            session.reply(R452_BACK_PRESSURE)
        else:
            session.announced = ShadowRequest(
                asked.primary,
                asked.database_id,
                asked.internal_id,
                asked.network_message_id,
                asked.resubmit_request,
            )
            session.reply(R250_SHADOW_NEXT)

    def delivery_requested(self, asked: DeliveryRequested) -> None:
        session = self._sessions.named(asked.session)
        if session is None:
            return
        if not is_inside(self._config, session.peer):
            session.reply(R550_NOT_ALLOWED)
        elif not self._active_copies.takes(asked.database):
            session.reply(R432_NOT_ACTIVE_HERE)
        elif not session.may(InboundMove.REQUEST_DELIVERY):
            session.reply(R503_BAD_SEQUENCE)
        else:
            session.announced = DeliverTo(asked.database, asked.network_message_id)
            session.reply(R250_DELIVERY_NEXT)

    def fork_announced(self, announced: ForkAnnounced) -> None:
        session = self._sessions.named(announced.session)
        if session is None:
            return
        if not is_transport(self._config, session.peer):
            session.reply(R550_NOT_ALLOWED)
        elif self._component.refuses_mail:
            session.send_away(R421_INACTIVE)
        elif not session.may(InboundMove.ANNOUNCE_FORK):
            session.reply(R503_BAD_SEQUENCE)
        else:
            session.announced = ForkOf(announced.network_message_id)
            session.reply(R250_FORK_NEXT)

    def discard_asked(self, asked: DiscardAsked) -> None:
        session = self._sessions.named(asked.session)
        if session is None:
            return
        session.active()
        if session.peer is None or session.peer != asked.asking_server:
            session.reply(R550_NOT_ALLOWED)
        elif not self._config.transport.shadow_redundancy_enabled:
            session.reply(R502_SHADOW_DISABLED)
        else:
            self._discards.answer(asked)

    def recipient_offered(self, offered: RecipientOffered) -> None:
        session = self._sessions.named(offered.session)
        if session is None:
            return
        if session.announced is None and not offered.taken and self._component.refuses_mail:
            session.send_away(R421_INACTIVE)
        elif self._sessions.lets_in(session):
            reply = self._of_recipient(session, offered)
            is_tarpitted = reply.code >= 500 and session.peer is None
            wait_ms = self._config.server.limits.tarpit_interval_ms if is_tarpitted else 0
            session.reply_late(reply, wait_ms)

    def _of_recipient(self, session: InboundSession, offered: RecipientOffered) -> Reply:
        """The holder of a shadow takes any recipient: it is not the one who resolves them. A log
        has none. An Outbox is no Receive connector's.
        """
        address = offered.address
        refusal = recipient_refusal(self._config, session.peer, offered)
        if refusal is not None and not isinstance(session.announced, IntoOutbox):
            return refusal
        if isinstance(session.announced, ShadowRequest | ShipLog | ShipSeed | ShipMailbox):
            return R250_RECIPIENT_OK
        if isinstance(session.announced, DeliverTo):
            return self._of_mailbox(address.lower(), session.announced.database)
        is_known = self._categorizer.knows(address)
        return R250_RECIPIENT_OK if is_known else R550_NO_SUCH_RECIPIENT

    def _of_mailbox(self, address: str, database: str) -> Reply:
        """Who sent it there may not know yet that it has moved."""
        if self._mailboxes.takes(address, database):
            return R250_RECIPIENT_OK
        return R432_MAILBOX_MOVED if address in self._mailboxes else R550_NO_SUCH_RECIPIENT

    def message_offered(self, offered: MessageOffered) -> None:
        session = self._sessions.named(offered.session)
        if session is None:
            self._work.emit(DropBody(offered.body))
            return
        session.active()
        announced = session.announced
        if not session.may(InboundMove.OFFER):
            self._work.emit(DropBody(offered.body))
            session.reply(R503_BAD_SEQUENCE)
        elif isinstance(announced, ShadowRequest) and self._pressure.refuses_shadows:
            self._refuse(session, offered, R452_BACK_PRESSURE)
        elif isinstance(announced, ShadowRequest):
            self._take_shadow(session, announced, offered)
        elif isinstance(announced, ShipLog | ShipSeed):
            self._logs.take(session, announced, offered)
        elif isinstance(announced, ShipMailbox):
            self._moves.take(session, announced, offered)
        elif (refusal := message_refusal(self._config, session.peer, offered)) is not None:
            self._refuse(session, offered, refusal)
        elif isinstance(announced, DeliverTo) and not self._active_copies.takes(announced.database):
            self._refuse(session, offered, R432_NOT_ACTIVE_HERE)
        elif isinstance(announced, DeliverTo) and not self._takes_all(announced, offered):
            self._refuse(session, offered, R432_MAILBOX_MOVED)
        elif isinstance(announced, DeliverTo):
            self._take_delivery(session, announced, offered)
        elif isinstance(announced, IntoOutbox):
            self._submission.take(session, announced, offered)
        elif (refusal := self._intake.refusal(session.peer)) is not None:
            self._refuse(session, offered, refusal)
        elif session.peer is None and not self._is_within_rate(session):
            self._work.emit(DropBody(offered.body))
            session.send_away(R421_MESSAGE_RATE)
        else:
            name = announced.network_message_id if isinstance(announced, ForkOf) else ""
            self._intake.take(session, self._intake.message(offered, name), offered.body)

    def _is_within_rate(self, session: InboundSession) -> bool:
        return self._rate.lets_through(session.client_address, self._work.now_ms)

    def _takes_all(self, target: DeliverTo, offered: MessageOffered) -> bool:
        """Also those that moved since they were offered."""
        recipients = offered.envelope.recipients
        return all(self._mailboxes.takes(each.lower(), target.database) for each in recipients)

    def _refuse(self, session: InboundSession, offered: MessageOffered, reply: Reply) -> None:
        self._work.emit(DropBody(offered.body))
        session.answer_message(reply)

    def _take_shadow(
        self, session: InboundSession, request: ShadowRequest, offered: MessageOffered
    ) -> None:
        shadow = ShadowMessage(
            key=ShadowKey(request.primary, request.database_id, request.internal_id),
            internal_id=self._identity.next_internal_id(),
            network_message_id=request.network_message_id,
            header=self._intake.identified(offered.header, request.network_message_id),
            envelope=offered.envelope,
            size_bytes=offered.size_bytes,
            received_ms=self._work.now_ms,
            resubmit_request=request.resubmit_request,
        )

        def accepted(held: ShadowMessage) -> None:
            if held is not shadow:
                self._work.emit(DropBody(offered.body))
            session.answer_message(
                r250_queued_for_redundancy(
                    held.header.message_id, held.internal_id, self._config.me.fqdn
                )
            )

        self._shadow.accept(
            shadow, offered.body, accepted, self._intake.refuser(session, offered.body)
        )

    def _take_delivery(
        self, session: InboundSession, target: DeliverTo, offered: MessageOffered
    ) -> None:
        message = self._intake.message(offered, target.network_message_id)
        storing = Storing(self, session, target.database, message, offered.body)
        delivery = LocalDelivery(
            target.database,
            message.header,
            message.envelope.sender,
            message.envelope.recipients,
            message.size_bytes,
            offered.body,
        )
        self._work.deliver(
            delivery,
            self._config.duplicate_windows_ms[target.database],
            storing.delivered,
            storing.failed,
        )

    def stored(
        self, storing: Storing, stored: tuple[str, ...], duplicates: tuple[str, ...]
    ) -> None:
        """It is in its mailboxes."""
        message = storing.message
        log_mailbox_delivery(self._work, message, storing.database, stored, duplicates)
        self._work.emit(DropBody(storing.body))
        storing.session.answer_message(self._intake.accepting(message))

    def not_stored(self, storing: Storing, reason: str) -> None:
        self._intake.refuser(storing.session, storing.body)(reason)
