"""Outbound sessions: aiosmtplib owns the SMTP syntax, the core says what is sent and when it is
enough.

One object a session, one step at a time in it. Whatever goes wrong becomes `SessionFailed` before
the session stands and `SessionLost` after. The library's time-outs are off: deadlines are the
core's, and its `HangUp` ends whatever is under way at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
import ssl
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias

from aiosmtplib import SMTPException, SMTPResponse

from nodes.core.config.config import NodeConfig, Server
from nodes.core.interface.effects import (
    AskDiscard,
    MailFrom,
    ManageCopy,
    OpenSession,
    PassCommand,
    PassedCommand,
    PassMessage,
    Prologue,
    RequestResubmit,
    ShipLog,
    ShipMailbox,
    ShipSeed,
    Transmit,
)
from nodes.core.interface.inputs import (
    CopyCommandRefused,
    DiscardRefused,
    Input,
    PassedCommandAnswered,
    ResubmitRefused,
    SessionFailed,
    SessionLost,
    SessionOpened,
    TransmissionActive,
    TransmissionAnswered,
)
from nodes.core.model.message import BodyHandle
from nodes.shell.smtp.activity import Activity
from nodes.shell.smtp.address import Address
from nodes.shell.smtp.line_ends import BARE_LINE_ENDS, can_be_sent
from nodes.shell.smtp.mail_going_out import MailGoingOut, at_hand
from nodes.shell.smtp.outbound_connection import SAID_TOO_MUCH, Connection, one_line
from nodes.shell.smtp.passing import watched
from nodes.shell.storage.bodies import is_on_disk
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import mailbox_moves as mailbox_verbs
from nodes.shell.verbs import replication as replication_verbs
from nodes.shell.verbs import safety_net as safety_net_verbs
from nodes.shell.verbs import shadow as shadow_verbs
from nodes.store.queue.changes import BodyGone

GOODBYE_S = 1.0
SMTP_SERVICE = "smtp"
CLOSED_BY_PEER = "connection closed by the peer"
# RFC 6152 section 3: what has 8-bit octets is not for a server that does not offer to take them
CANNOT_BE_CONVERTED = SMTPResponse(554, "5.6.3 8-bit octets, and the server offers no 8BITMIME")
CANNOT_BE_SENT = SMTPResponse(550, BARE_LINE_ENDS)
# what peers, networks and disks do; anything else is a mistake of ours
EXPECTED = (SMTPException, OSError, ValueError, BodyGone, sqlite3.Error)

Step: TypeAlias = Callable[[], Coroutine[None, None, Input]]
Refused: TypeAlias = tuple[tuple[str, int, str], ...]
Sending: TypeAlias = Callable[[bytes, Callable[[], None]], Awaitable[Input]]


class SendingNode(Protocol):
    """What an outbound session needs of the node that it belongs to."""

    def give(self, happened: Input) -> None: ...

    def now_ms(self) -> int: ...

    def body(self, handle: BodyHandle) -> Awaitable[bytes]: ...

    def session_failed(self, session: str, error: Exception) -> None: ...


@dataclass(frozen=True, slots=True)
class Route:
    """How servers are reached: addresses by name, TLS towards the organisation and the outside.
    `others`: addresses by name and service, of services other than smtp.
    """

    links: Mapping[str, Address]
    organisation: ssl.SSLContext
    outside: ssl.SSLContext
    others: Mapping[tuple[str, str], Address] = field(default_factory=dict)

    def to(self, peer: str, service: str) -> Address | None:
        return self.links.get(peer) if service == SMTP_SERVICE else self.others.get((peer, service))


class OutboundSessions:
    """The outbound sessions of one node; carries the core's wishes to them."""

    def __init__(self, node: SendingNode, config: NodeConfig, route: Route) -> None:
        self.node = node
        self.config = config
        self.route = route
        self._open: dict[str, OutboundSession] = {}
        self._going_out: defaultdict[str, MailGoingOut] = defaultdict(MailGoingOut)

    def open(self, effect: OpenSession) -> None:
        server = self.config.server_named(effect.peer)
        address = self.route.to(effect.peer, effect.service)
        if server is None or address is None:
            which = "" if effect.service == SMTP_SERVICE else f" for {effect.service}"
            reason = f"there is no link to {effect.peer}{which}"
            self.node.give(SessionFailed(effect.session, reason))
            return
        session = OutboundSession(self, effect.session, server, address)
        self._open[effect.session] = session
        session.begin(session.connect)

    def transmit(self, effect: Transmit) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            body = self._body(session.peer, effect.body)
            session.begin(lambda: session.transmit(effect, body))

    def pass_command(self, effect: PassCommand) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.pass_command(effect))

    def pass_message(self, effect: PassMessage) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            body = self._body(session.peer, effect.body)
            session.begin(lambda: session.pass_message(body))

    def _body(self, peer: str, handle: BodyHandle) -> AbstractAsyncContextManager[bytes]:
        """What is in memory is asked for now: it may be stored, and its handle void, soon."""
        if is_on_disk(handle):
            return self.going_out(peer).sent(lambda: self.node.body(handle))
        return at_hand(self.node.body(handle))

    def going_out(self, peer: str) -> MailGoingOut:
        return self._going_out[peer]

    def ask_discard(self, effect: AskDiscard) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.ask_discard(effect))

    def request_resubmit(self, effect: RequestResubmit) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.request_resubmit(effect))

    def manage_copy(self, effect: ManageCopy) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.manage_copy(effect))

    def hang_up(self, name: str) -> None:
        session = self._open.pop(name, None)
        if session is not None:
            session.hang_up()

    def lost(self, name: str, happened: Input) -> None:
        """A session broke; nobody wants to know of one that was hung up before."""
        if self._open.pop(name, None) is not None:
            self.node.give(happened)

    def close_all(self) -> None:
        for name in list(self._open):
            self.hang_up(name)


class OutboundSession:
    """One session to `server`, reached at `address`."""

    def __init__(
        self, sessions: OutboundSessions, name: str, server: Server, address: Address
    ) -> None:
        self._sessions = sessions
        self._name = name
        self._server = server
        self._connection = Connection(address, sessions.config.me.fqdn, self._connection_lost)
        self._task: asyncio.Task[None] | None = None
        self._stands = False
        self._takes_8bit = False
        self._needs_reset = False

    def begin(self, step: Step) -> None:
        """Take a step; the core asks for one at a time."""
        self._task = asyncio.get_running_loop().create_task(self._take(step))

    async def _take(self, step: Step) -> None:
        try:
            happened = await step()
        except Exception as error:  # whatever a peer makes of it: the session ends, not the node
            self._task = None
            if not isinstance(error, EXPECTED):
                self._sessions.node.session_failed(self._name, error)
            self._broke(f"{type(error).__name__}: {error}")
            return
        self._task = None
        self._sessions.node.give(happened)
        if not self._connection.is_connected:
            self._broke(CLOSED_BY_PEER)
        elif self._connection.is_out_of_step:
            self._broke(SAID_TOO_MUCH)

    def _connection_lost(self) -> None:
        """While a step is under way it notices by itself."""
        if self._stands and self._task is None:
            self._broke(CLOSED_BY_PEER)

    def _broke(self, reason: str) -> None:
        self._connection.cut()
        kind = SessionLost if self._stands else SessionFailed
        self._sessions.lost(self._name, kind(self._name, one_line(reason)))

    def hang_up(self) -> None:
        """QUIT where the session is idle; where something is under way, just cut."""
        if self._task is not None:
            self._task.cancel()
            self._connection.cut()
        else:
            self._task = asyncio.get_running_loop().create_task(self._say_goodbye())

    async def _say_goodbye(self) -> None:
        try:
            await asyncio.wait_for(self._connection.command("QUIT"), GOODBYE_S)
        except Exception:
            pass  # whatever the peer makes of it: nobody waits for an answer
        finally:
            self._connection.cut()

    async def connect(self) -> Input:
        """Connection, banner, EHLO, TLS, EHLO again. Inside the organisation TLS is a must."""
        connection, is_inside = self._connection, self._server.role != "external"
        await connection.reach()
        await connection.greet()
        if is_inside or connection.supports_extension("starttls"):
            route = self._sessions.route
            context = route.organisation if is_inside else route.outside
            await connection.encrypt(context, self._server.fqdn)
            await connection.greet()
        self._stands = True
        # a connection that is lost forgets what was offered, which makes no message unfit
        self._takes_8bit = connection.supports_extension("8bitmime")
        offers_shadow = connection.supports_extension(shadow_verbs.SHADOW_KEYWORD)
        offered = connection.esmtp_extensions.get(shadow_verbs.SHADOW_KEYWORD.lower(), "")
        return SessionOpened(self._name, offers_shadow, shadow_verbs.parse_offer(offered))

    @property
    def peer(self) -> str:
        return self._server.name

    async def transmit(self, effect: Transmit, body: AbstractAsyncContextManager[bytes]) -> Input:
        """Prologue, MAIL, RCPTs, DATA; the refusal that ends it is the answer."""
        return await self._with_content(body, partial(self._send, effect))

    async def pass_message(self, body: AbstractAsyncContextManager[bytes]) -> Input:
        """DATA, for the MAIL and the RCPTs that have been passed."""
        return await self._with_content(body, self._say_data)

    async def pass_command(self, effect: PassCommand) -> Input:
        """MAIL or RCPT, as a client has said it. Mailbox servers offer 8BITMIME, all of them."""
        reply = await self._connection.command(*_passed_words(effect.command))
        return PassedCommandAnswered(self._name, reply.code, one_line(reply.message))

    async def _with_content(self, body: AbstractAsyncContextManager[bytes], send: Sending) -> Input:
        """The message is fetched, and sent by `send`, while the core hears that bytes pass."""
        activity, going_out = self._activity(), self._sessions.going_out(self.peer)

        def moved() -> None:
            activity.seen()
            going_out.move()

        async with AsyncExitStack() as stack:
            entering = stack.enter_async_context(body)
            content = await watched(entering, lambda: going_out.moves, activity.seen)
            return await send(content, moved)

    async def _send(self, effect: Transmit, content: bytes, moved: Callable[[], None]) -> Input:
        if not can_be_sent(content):
            return self._answered(CANNOT_BE_SENT, ())
        if self._needs_reset:
            await self._connection.command("RSET")
        self._needs_reset = True
        early, refused = await self._announce(effect, has_8bit=not content.isascii())
        if early is not None:
            return self._answered(early, refused)
        return await self._say_data(content, moved, refused)

    async def _say_data(
        self, content: bytes, moved: Callable[[], None], refused: Refused = ()
    ) -> Input:
        saying = self._connection.body(content)
        reply = await watched(saying, self._connection.passed_bytes, moved)
        self._needs_reset = reply.code == 503
        return self._answered(reply, refused)

    def _activity(self) -> Activity:
        node, server = self._sessions.node, self._sessions.config.server
        limit_ms = server.send_inactivity_timeout_ms
        return Activity(limit_ms, node.now_ms, lambda: node.give(TransmissionActive(self._name)))

    async def _announce(
        self, effect: Transmit, *, has_8bit: bool
    ) -> tuple[SMTPResponse | None, Refused]:
        """Everything before DATA: the refusal that makes DATA pointless, and recipients refused."""
        command, envelope = self._connection.command, effect.envelope
        if has_8bit and not self._takes_8bit:
            return CANNOT_BE_CONVERTED, ()
        if effect.prologue is not None:
            reply = await command(*_prologue_words(effect.prologue))
            if reply.code >= 400:
                return reply, ()
        parameters = ["BODY=8BITMIME"] if has_8bit else []
        reply = await command("MAIL", f"FROM:<{envelope.sender}>", *parameters)
        if reply.code >= 400:
            return reply, ()
        refused: list[tuple[str, int, str]] = []
        for recipient in envelope.recipients:
            reply = await command("RCPT", f"TO:<{recipient}>")
            if reply.code >= 400:
                refused.append((recipient, reply.code, one_line(reply.message)))
        is_pointless = len(refused) == len(envelope.recipients)
        return reply if is_pointless else None, tuple(refused)

    async def ask_discard(self, effect: AskDiscard) -> Input:
        """XQDISCARD. An answer that is not of the grammar is as good as none."""
        asking = self._sessions.config.me.name
        reply = await self._connection.command(*shadow_verbs.format_question(asking, effect))
        text = one_line(reply.message)
        if reply.code != 250:
            return DiscardRefused(self._name, reply.code, text)
        answer = shadow_verbs.parse_answer(self._name, reply.message.split("\n"))
        return answer or DiscardRefused(self._name, reply.code, f"cannot be understood: {text}")

    async def request_resubmit(self, effect: RequestResubmit) -> Input:
        """XRESUBMIT ADD. An answer that is not of the grammar is as good as none."""
        reply = await self._connection.command(*safety_net_verbs.format_demand(effect.demand))
        text = one_line(reply.message)
        if reply.code != 250:
            return ResubmitRefused(self._name, reply.code, text)
        answer = safety_net_verbs.parse_answer(self._name, text)
        return answer or ResubmitRefused(self._name, reply.code, f"cannot be understood: {text}")

    async def manage_copy(self, effect: ManageCopy) -> Input:
        """What Active Manager says. An answer that is not of the grammar is as good as none."""
        reply = await self._connection.command(*database_verbs.format_command(effect.command))
        text = one_line(reply.message)
        if reply.code != 250:
            return CopyCommandRefused(self._name, reply.code, text)
        answer = database_verbs.parse_answer(self._name, effect.command, text)
        return answer or CopyCommandRefused(self._name, reply.code, f"cannot be understood: {text}")

    def _answered(self, reply: SMTPResponse, refused: Refused) -> TransmissionAnswered:
        text = one_line(reply.message)
        answer = TransmissionAnswered(self._name, reply.code, text, refused)
        return replication_verbs.understood(answer)


def _passed_words(command: PassedCommand) -> tuple[str, ...]:
    if isinstance(command, MailFrom):
        return "MAIL", f"FROM:<{command.address}>", "BODY=8BITMIME"
    return "RCPT", f"TO:<{command.address}>"


def _prologue_words(prologue: Prologue) -> tuple[str, ...]:
    if isinstance(prologue, ShipLog | ShipSeed):
        return replication_verbs.format_prologue(prologue)
    if isinstance(prologue, ShipMailbox):
        return mailbox_verbs.format_prologue(prologue)
    return shadow_verbs.format_prologue(prologue)
