"""An inbound session: aiosmtpd owns the SMTP syntax, the core owns every answer that decides.

A command that needs a decision becomes an input and waits for its `SendReply`. A client that goes
away in the middle becomes `ConnectionLost`; that aborts nothing, least of all a commit. Who is a
server of the organisation is known by its certificate alone; anyone else gets `550 5.7.1` to every
verb of shadow redundancy, whatever its arguments (TL-6).
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Protocol

from aiosmtpd.smtp import Envelope, Session

from nodes.core.config.config import NodeConfig
from nodes.core.interface.inputs import (
    CommandNotUnderstood,
    Input,
    MessageOffered,
    PeerAuthenticated,
    RecipientOffered,
    SessionAccepted,
    SessionActive,
    TransactionReset,
)
from nodes.core.interface.replies import R503_BAD_SEQUENCE, R550_NOT_ALLOWED, Reply
from nodes.core.model import message
from nodes.shell.smtp.activity import Activity
from nodes.shell.smtp.connection import MAX_MESSAGE_BYTES
from nodes.shell.smtp.headers import hops_of, local_hops_of, read_header
from nodes.shell.smtp.mail_in_memory import MailInMemory
from nodes.shell.smtp.syntax import (
    R221_BYE,
    R250_SENDER_OK,
    R553_BAD_ADDRESS,
    SmtpSyntax,
    is_address,
    keywords,
    on_the_wire,
    sender_of,
)
from nodes.shell.storage.bodies import Bodies
from nodes.shell.tls import peer_named_by
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import mailbox_moves as mailbox_verbs
from nodes.shell.verbs import queues as queues_verbs
from nodes.shell.verbs import redirection as redirection_verbs
from nodes.shell.verbs import replication as replication_verbs
from nodes.shell.verbs import safety_net as safety_net_verbs
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.shell.verbs import submission as submission_verbs


class ReceivingNode(Protocol):
    """What an inbound session needs of the node that it belongs to."""

    def give(self, happened: Input) -> None: ...

    def now_ms(self) -> int: ...

    def session_failed(self, session: str, error: Exception) -> None: ...


class Sessions(Protocol):
    """What it needs of those that it is one of."""

    node: ReceivingNode
    config: NodeConfig
    bodies: Bodies
    database_id: str
    from_outside: MailInMemory
    of_organisation: MailInMemory

    def begun(self, session: InboundConnection) -> None: ...

    def over(self, session: InboundConnection) -> None: ...

    def failed(self, session: InboundConnection, error: Exception) -> None: ...


class InboundConnection(SmtpSyntax):
    """One inbound connection and its session. `name` is what the core calls it."""

    def __init__(
        self,
        sessions: Sessions,
        name: str,
        hooks: object,
        ident: str,
        tls: ssl.SSLContext | None,
    ) -> None:
        config = sessions.config
        super().__init__(hooks, hostname=config.me.fqdn, ident=ident, tls=tls)
        self.name = name
        self._sessions = sessions
        self._peer: str | None = None
        self._address = ""
        self._answer: asyncio.Future[Reply] | None = None
        self._is_announced = False
        self._has_begun = False
        limit_ms, node = config.server.receive_inactivity_timeout_ms, sessions.node
        self._activity = Activity(limit_ms, node.now_ms, lambda: node.give(SessionActive(name)))

    @property
    def awaits_answer(self) -> bool:
        """Also while the core has given it, and the client has not heard it."""
        return self._answer is not None

    def answer(self, reply: Reply) -> None:
        self.heard_s = self.loop.time()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(reply)

    def close_with(self, reply: Reply | None) -> None:
        """Say the reply, if any, and close, whatever is under way. Nothing more comes of it."""
        self.say_and_close(b"" if reply is None else on_the_wire(reply))

    async def _ask(self, happened: Input) -> Reply:
        """Give the core an input that it answers, and wait."""
        self._answer = self.loop.create_future()
        self._sessions.node.give(happened)
        try:
            return await self._answer
        finally:
            self._answer = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._has_begun and not self._has_parted:
            self._has_begun = True
            self._address = str((transport.get_extra_info("peername") or ("",))[0])
            self._sessions.begun(self)
            self._sessions.node.give(SessionAccepted(self.name, self._address))

    @property
    def max_message_bytes(self) -> int:
        """MaxReceiveSize; of a server of the organisation more, since what it sends may have
        grown.
        """
        transport = self._sessions.config.transport
        if self._peer is None:
            return transport.max_receive_size_bytes
        return max(MAX_MESSAGE_BYTES, transport.growth * transport.max_receive_size_bytes)

    @property
    def in_memory(self) -> MailInMemory:
        sessions = self._sessions
        return sessions.from_outside if self._peer is None else sessions.of_organisation

    @property
    def may_give_way(self) -> bool:
        """A server of the organisation does not."""
        return self._peer is None and super().may_give_way

    def not_understood(self) -> None:
        self._sessions.node.give(CommandNotUnderstood(self.name))

    def gone(self) -> None:
        self._sessions.over(self)

    def failed(self, error: Exception) -> None:
        self._sessions.failed(self, error)

    def encrypted(self, session: Session) -> None:
        """TLS stands: whoever shows a server's certificate is that server."""
        certificate = (session.ssl or {}).get("peercert")
        self._peer = peer_named_by(certificate, self._sessions.config.servers)
        self._forget_announcement()
        if self._peer is not None:
            self._sessions.node.give(PeerAuthenticated(self.name, self._peer))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._activity.seen()

    def greet(self, session: Session, hostname: str) -> list[str]:
        """EHLO. XSHADOWREQUEST is for servers of the organisation (TL-5)."""
        session.host_name = hostname
        self._forget_announcement()
        config, offered = self._sessions.config, [f"SIZE {self.max_message_bytes}", "8BITMIME"]
        if self.tls_context is not None and not self.is_encrypted:
            offered.append("STARTTLS")
        if shadow_verbs.offers_shadow(config, self._peer):
            offered.append(shadow_verbs.format_offer(self._sessions.database_id))
        return keywords(f"{config.me.fqdn} Hello [{self._address}]", offered)

    def greet_plainly(self, session: Session, hostname: str) -> str:
        """HELO: nothing is offered, and what was announced is void as well."""
        session.host_name = hostname
        self._forget_announcement()
        return f"250 {self._sessions.config.me.fqdn} Hello [{self._address}]"

    def _forget_announcement(self) -> None:
        """EHLO or HELO, or a message that never came to its dot: what was announced is void."""
        if self._is_announced:
            self._is_announced = False
            self._sessions.node.give(TransactionReset(self.name))

    async def smtp_RSET(self, arg: str) -> None:
        if not arg:
            self._is_announced = False
            self._sessions.node.give(TransactionReset(self.name))
        await super().smtp_RSET(arg)

    async def smtp_QUIT(self, arg: str) -> None:
        if arg:
            await super().smtp_QUIT(arg)
        else:
            self.say_and_close(R221_BYE)

    async def smtp_VRFY(self, arg: str) -> None:
        await self.push("252 2.1.5 Cannot VRFY user")

    async def smtp_XSHADOWREQUEST(self, arg: str | None) -> None:
        await self._announce(shadow_verbs.parse_shadow_request(self.name, arg or ""))

    async def smtp_XDELIVER(self, arg: str | None) -> None:
        await self._announce(shadow_verbs.parse_delivery_request(self.name, arg or ""))

    async def smtp_XNETWORKMESSAGEID(self, arg: str | None) -> None:
        await self._announce(shadow_verbs.parse_fork(self.name, arg or ""))

    async def smtp_XOUTBOX(self, arg: str | None) -> None:
        """Of a client: it shows no certificate."""
        asked = submission_verbs.parse_request(self.name, arg or "")
        assert self.envelope is not None
        if asked is None:
            reply = shadow_verbs.R501_BAD_ARGUMENTS
        elif self.envelope.mail_from is not None:
            reply = R503_BAD_SEQUENCE
        else:
            reply = await self._ask(asked)
        await self.push(on_the_wire(reply))
        if reply.code == 250:
            self._is_announced = True

    async def smtp_XQDISCARD(self, arg: str | None) -> None:
        await self._organisation_only(shadow_verbs.parse_question(self.name, arg or ""))

    async def smtp_XQUERYDISCARD(self, arg: str | None) -> None:
        """The name in the documents of 2010 (F§2.2)."""
        await self.smtp_XQDISCARD(arg)

    async def smtp_XRESUBMIT(self, arg: str | None) -> None:
        await self._organisation_only(safety_net_verbs.parse_request(self.name, arg or ""))

    async def smtp_XREDIRECT(self, arg: str | None) -> None:
        await self._organisation_only(redirection_verbs.parse_request(self.name, arg or ""))

    async def smtp_XMOVE(self, arg: str | None) -> None:
        await self._organisation_only(mailbox_verbs.parse_request(self.name, arg or ""))

    async def smtp_XQUEUES(self, arg: str | None) -> None:
        await self._organisation_only(queues_verbs.parse_request(self.name, arg or ""))

    async def smtp_XACTIVE(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_active_copy(self.name, arg or ""))

    async def smtp_XCOPYSTATUS(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_status_request(self.name, arg or ""))

    async def smtp_XMOUNT(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_mount(self.name, arg or ""))

    async def smtp_XDISMOUNT(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_dismount(self.name, arg or ""))

    async def smtp_XCORRUPT(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_corruption(self.name, arg or ""))

    async def smtp_XUPDATECOPY(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_seed_wanted(self.name, arg or ""))

    async def smtp_XFAILOVER(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_failover(self.name, arg or ""))

    async def smtp_XSWITCHOVER(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_switchover(self.name, arg or ""))

    async def smtp_XACTIVATELAGGED(self, arg: str | None) -> None:
        await self._organisation_only(database_verbs.parse_lagged_activation(self.name, arg or ""))

    async def smtp_XLOG(self, arg: str | None) -> None:
        await self._announce(replication_verbs.parse_log(self.name, arg or ""))

    async def smtp_XSEED(self, arg: str | None) -> None:
        await self._announce(replication_verbs.parse_seed(self.name, arg or ""))

    async def smtp_XMAILBOX(self, arg: str | None) -> None:
        await self._announce(mailbox_verbs.parse_announcement(self.name, arg or ""))

    async def _announce(self, asked: Input | None) -> None:
        """What comes before MAIL says what the message will be."""
        assert self.envelope is not None
        if self._peer is not None and self.envelope.mail_from is not None:
            await self.push(on_the_wire(R503_BAD_SEQUENCE))
        elif await self._organisation_only(asked):
            self._is_announced = True

    async def _organisation_only(self, asked: Input | None) -> bool:
        """Who is no server of the organisation learns nothing, not even the grammar (TL-6)."""
        if self._peer is None:
            reply = R550_NOT_ALLOWED
        elif asked is None:
            reply = shadow_verbs.R501_BAD_ARGUMENTS
        else:
            reply = await self._ask(asked)
        await self.push(on_the_wire(reply))
        return reply.code == 250

    async def offer_sender(self, envelope: Envelope, address: str) -> bytes:
        envelope.mail_from = address
        return R250_SENDER_OK

    async def offer_recipient(self, envelope: Envelope, address: str) -> bytes:
        if not is_address(address):
            return R553_BAD_ADDRESS
        reply = await self._ask(RecipientOffered(self.name, address, len(envelope.rcpt_tos)))
        if reply.code == 250:
            envelope.rcpt_tos.append(address)
        return on_the_wire(reply)

    async def smtp_DATA(self, arg: str) -> None:
        begun_with = self.envelope
        await super().smtp_DATA(arg)
        if self.envelope is not begun_with:  # it ended, perhaps too long to be offered at all
            self._forget_announcement()

    async def offer_message(self, envelope: Envelope) -> bytes:
        content = envelope.original_content
        assert content is not None
        envelope.content = envelope.original_content = None
        self._is_announced = False
        offered = MessageOffered(
            self.name,
            message.Envelope(sender_of(envelope), tuple(envelope.rcpt_tos)),
            read_header(content),
            len(content),
            self._sessions.bodies.hold(content, self.in_memory),
            hops_of(content),
            local_hops_of(content, self._sessions.config.fqdns),
        )
        return on_the_wire(await self._ask(offered))
