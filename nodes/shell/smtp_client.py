"""Outbound sessions: aiosmtplib owns the SMTP syntax, the core says what is sent and when it is
enough.

One object a session, one task at a time in it. Whatever goes wrong becomes `SessionFailed` before
the session stands and `SessionLost` after. Time-outs of the library are off: deadlines are the
core's, which hangs up, and a hang-up takes effect at once.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from aiosmtplib import SMTP, SMTPDataError, SMTPException, SMTPResponse

from nodes.core import inputs
from nodes.core.config import NodeConfig, Server
from nodes.core.effects import AskDiscard, DeliverTo, OpenSession, ShadowRequest, Transmit
from nodes.core.message import BodyHandle
from nodes.shell import shadow_verbs

GOODBYE_S = 1.0


class Door(Protocol):
    """What an outbound session needs of the node it belongs to."""

    config: NodeConfig

    def give(self, happened: inputs.Input) -> None: ...

    async def read_body(self, handle: BodyHandle) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Contexts:
    """TLS towards servers of the organisation, and towards the outside."""

    organisation: ssl.SSLContext
    outside: ssl.SSLContext


class OutboundSessions:
    """The outbound sessions of one node; carries the core's wishes to them.

    `links` maps a server's name to the (host, port) of the proxy towards it.
    """

    def __init__(
        self, door: Door, links: Mapping[str, tuple[str, int]], contexts: Contexts
    ) -> None:
        self.door = door
        self.links = links
        self.contexts = contexts
        self._open: dict[str, OutboundSession] = {}

    def open(self, effect: OpenSession) -> None:
        server = self.door.config.server_named(effect.peer)
        assert server is not None, f"a session to {effect.peer}, which is no server"
        session = OutboundSession(self, effect.session, server)
        self._open[effect.session] = session
        session.begin(session.connect)

    def transmit(self, effect: Transmit) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.transmit(effect))

    def ask_discard(self, effect: AskDiscard) -> None:
        session = self._open.get(effect.session)
        if session is not None:
            session.begin(lambda: session.ask_discard(effect))

    def hang_up(self, name: str) -> None:
        session = self._open.pop(name, None)
        if session is not None:
            session.hang_up()

    def gone(self, name: str) -> bool:
        """Forget a session that broke; False if it was hung up before, and nobody wants to know."""
        return self._open.pop(name, None) is not None

    def close_all(self) -> None:
        for name in list(self._open):
            self.hang_up(name)


class OutboundSession:
    """One session to `server`."""

    def __init__(self, sessions: OutboundSessions, name: str, server: Server) -> None:
        self.name = name
        self._sessions = sessions
        self._door = sessions.door
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._stands = False
        host, port = sessions.links[server.name]
        self._client = SMTP(
            hostname=host,
            port=port,
            local_hostname=self._door.config.me.fqdn,
            timeout=None,
            start_tls=False,
        )

    def begin(self, step: Callable[[], Awaitable[None]]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._guarded(step))

    async def _guarded(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except (SMTPException, OSError, ValueError, asyncio.IncompleteReadError) as error:
            self._broke(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def _broke(self, reason: str) -> None:
        self._client.close()
        if self._sessions.gone(self.name):
            reason = " ".join(reason.split())
            if self._stands:
                self._door.give(inputs.SessionLost(self.name, reason))
            else:
                self._door.give(inputs.SessionFailed(self.name, reason))

    def hang_up(self) -> None:
        """QUIT where the session is idle; where something is under way, just close."""
        task = self._task
        if self._stands and (task is None or task.done()):
            self._task = asyncio.get_running_loop().create_task(self._say_goodbye())
            return
        if task is not None:
            task.cancel()
        self._client.close()

    async def _say_goodbye(self) -> None:
        try:
            await asyncio.wait_for(self._client.quit(), GOODBYE_S)
        except (SMTPException, OSError, TimeoutError):
            self._client.close()

    # -------------------------------------------------------------- opening

    async def connect(self) -> None:
        await self._client.connect()
        await self._client.ehlo()
        inside = self._server.role != "external"
        if inside or self._client.supports_extension("starttls"):
            contexts = self._sessions.contexts
            await self._client.starttls(
                tls_context=contexts.organisation if inside else contexts.outside,
                server_hostname=self._server.fqdn,
            )
            await self._client.ehlo()
        self._stands = True
        self._watch()
        offers_shadow = self._client.supports_extension("xshadowrequest")
        self._door.give(inputs.SessionOpened(self.name, offers_shadow))

    def _watch(self) -> None:
        """An idle session that the peer closes is lost then, not when it is used next."""
        protocol = self._client.protocol
        assert protocol is not None
        closed = protocol._get_close_waiter(None)  # type: ignore[arg-type]
        closed.add_done_callback(lambda _: self._closed_by_peer())

    def _closed_by_peer(self) -> None:
        if self._task is None or self._task.done():
            self._broke("connection closed by the peer")

    # -------------------------------------------------------------- using

    async def transmit(self, effect: Transmit) -> None:
        answer = await self._offer(effect)
        if answer.code >= 400:
            await self._command("RSET")
        self._door.give(answer)

    async def _offer(self, effect: Transmit) -> inputs.TransmissionAnswered:
        """Prologue, MAIL, each RCPT, DATA, body; the first refusal that ends it is the answer."""
        refused: list[tuple[str, int, str]] = []
        if effect.prologue is not None:
            reply = await self._command(_prologue(effect.prologue))
            if reply.code != 250:
                return self._answered(reply)
        reply = await self._command(f"MAIL FROM:<{effect.envelope.sender}>")
        if reply.code != 250:
            return self._answered(reply)
        for recipient in effect.envelope.recipients:
            reply = await self._command(f"RCPT TO:<{recipient}>")
            if reply.code not in (250, 251):
                refused.append((recipient, reply.code, reply.message))
        if len(refused) == len(effect.envelope.recipients):
            return self._answered(reply)
        content = await self._door.read_body(effect.body)
        try:
            reply = await self._client.data(content)
        except SMTPDataError as error:
            reply = SMTPResponse(error.code, error.message)
        return self._answered(reply, tuple(refused))

    async def ask_discard(self, effect: AskDiscard) -> None:
        question = shadow_verbs.format_discard_question(self._door.config.me.name, effect)
        reply = await self._command(question)
        if reply.code != 250:
            self._door.give(inputs.DiscardRefused(self.name, reply.code, _one_line(reply)))
            return
        answer = shadow_verbs.parse_discard_answer(reply.message)
        self._door.give(
            inputs.DiscardAnswered(self.name, answer.database_id, answer.notifications, answer.more)
        )

    async def _command(self, line: str) -> SMTPResponse:
        return await self._client.execute_command(line.encode("utf-8", "surrogateescape"))

    def _answered(
        self, reply: SMTPResponse, refused: tuple[tuple[str, int, str], ...] = ()
    ) -> inputs.TransmissionAnswered:
        return inputs.TransmissionAnswered(self.name, reply.code, _one_line(reply), refused)


def _one_line(reply: SMTPResponse) -> str:
    return " ".join(reply.message.split())


def _prologue(prologue: ShadowRequest | DeliverTo) -> str:
    if isinstance(prologue, ShadowRequest):
        return shadow_verbs.format_shadow_request(prologue)
    return shadow_verbs.format_delivery(prologue)
