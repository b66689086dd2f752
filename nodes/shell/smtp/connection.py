"""One inbound connection from its acceptance to its loss, whatever the client does.

aiosmtpd leaves to its caller what becomes of a connection that breaks in the middle: it closes
transports twice, writes to closed ones and lets exceptions out. So whatever the event loop or the
core calls here goes through `_guarded`, and every end through `_part`: a client can lose its own
connection and nothing else. Nothing here knows a command that carries mail.
"""

from __future__ import annotations

import asyncio
import ssl
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, AnyStr

from aiosmtpd.smtp import SMTP, Envelope, TLSSetupException

from nodes.shell.smtp.mail_in_memory import OUTSIDE_BYTES, MailInMemory
from nodes.shell.smtp.message_data import Refused, read_message

CLOSE_GRACE_S = 1.0
COMMAND_LIMIT = 512  # RFC 5321 section 4.5.3.1.4
MAIL_LIMIT = COMMAND_LIMIT + 26 + 17  # with SIZE and BODY: RFC 1870 section 3, RFC 6152 section 2
MAX_MESSAGE_BYTES = 37_748_736  # MaxMessageSize of a Receive connector (F§2.4)
SHARE_EVERY = 32
READ_BYTES = 16_384  # what is read at once, of each connection; a TLS record has no more

R500_UNKNOWN = b"500 5.3.3 Unrecognized command"
R503_TLS_STANDS = b"503 5.5.1 TLS is active already"


class SmtpConnection(SMTP):
    """One connection. `handler` has the hooks `handle_<VERB>` of aiosmtpd."""

    def __init__(
        self, handler: object, *, hostname: str, ident: str, tls: ssl.SSLContext | None
    ) -> None:
        # the library's dictionary belongs to all connections, and each new one clears it
        self.command_size_limits = defaultdict(lambda: COMMAND_LIMIT)
        super().__init__(
            handler,
            hostname=hostname,
            ident=ident,
            tls_context=tls,
            data_size_limit=None,
            loop=asyncio.get_running_loop(),
        )
        self.command_size_limits["MAIL"] = MAIL_LIMIT
        verbs = {name: verb for name, verb in self._smtp_methods.items() if name not in _OFF}
        self._smtp_methods = _Verbs(verbs, self._unknown)
        self.begun_s = self.heard_s = self.loop.time()
        self._replies = 0
        self._has_parted = False
        self._cut_timer: asyncio.TimerHandle | None = None

    def gone(self) -> None:
        """The client is gone, or as good as gone. May be called more than once."""

    def failed(self, error: Exception) -> None:
        """A mistake of ours has cost the client its connection."""
        traceback.print_exception(error)

    @property
    def awaits_answer(self) -> bool:
        """Whether the client waits, and owes nothing."""
        return False

    @property
    def max_message_bytes(self) -> int:
        """What a message may have, from this client."""
        return MAX_MESSAGE_BYTES

    @property
    def in_memory(self) -> MailInMemory:
        """Where its messages are counted."""
        return _OF_ALL

    def not_understood(self) -> None:
        """What the client said was no command, and it has heard 500."""

    @property
    def may_give_way(self) -> bool:
        """Whether it may be closed where there are too many connections."""
        return not self.awaits_answer and not self._has_parted

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What goes wrong in here ends this connection, and nothing else."""
        try:
            yield
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        if not isinstance(error, OSError):  # else the network's, and no mistake
            self.failed(error)
        self.cut()

    def say_and_close(self, line: bytes) -> None:
        """Say the line, if it is one, and close, whatever is under way."""
        with self._guarded():
            if line and self.transport is not None and not self.transport.is_closing():
                self._writer.write(line + b"\r\n")
            self._part()

    def cut(self) -> None:
        """Close without a word, at once."""
        self._part()
        self._abort()

    def give_way(self, line: bytes) -> None:
        """Say why, where the network takes it at once, and close: its descriptor is needed."""
        self.say_and_close(line)
        self._abort()

    def _part(self) -> None:
        """Close politely, then for good: a silent client must not keep the connection. Commands
        that have come already are not carried out any more.
        """
        if not self._has_parted:
            self._has_parted = True
            with suppress(Exception):  # a transport half open or half closed: it is aborted below
                transport = self.transport or self._original_transport
                if transport is not None:
                    transport.close()
            if self._handler_coroutine is not None:
                self._handler_coroutine.cancel()
            self._cut_timer = self.loop.call_later(CLOSE_GRACE_S, self._abort)
        self.gone()

    def _abort(self) -> None:
        """TLS would wait for its peer, so it is the connection below that is aborted."""
        below = self._original_transport or self.transport
        if isinstance(below, asyncio.WriteTransport):
            below.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called a second time when TLS stands, with a transport for what is inside."""
        with self._guarded():
            if hasattr(transport, "max_size"):  # else 256 KiB, while a client waits for its answer
                transport.max_size = READ_BYTES
            super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        with self._guarded():
            if not self._has_parted:
                self.heard_s = self.loop.time()
                super().data_received(data)

    def eof_received(self) -> bool | None:
        """A client that half-closes is gone: there is nobody to answer."""
        with self._guarded():
            super().eof_received()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        with self._guarded():
            if not self._has_parted:
                self._part()
            super().connection_lost(error)
        if self._cut_timer is not None:
            self._cut_timer.cancel()

    async def _handle_client(self) -> None:
        try:
            await super()._handle_client()
        except asyncio.CancelledError:
            pass  # the connection is lost or closed
        except Exception as error:
            self._give_up(error)
        finally:
            self._part()

    def _reset_timeout(self, duration: float | None = None) -> None:
        """The library wants a timer to cancel; this one never runs."""
        if self._timeout_handle is None:
            self._timeout_handle = asyncio.TimerHandle(0.0, _nothing, [], self.loop)

    @property
    def is_encrypted(self) -> bool:
        return self._tls_protocol is not None

    async def smtp_STARTTLS(self, arg: str) -> None:
        if self.is_encrypted:
            await self.push(R503_TLS_STANDS)
            return
        with suppress(TLSSetupException):
            await super().smtp_STARTTLS(arg)
        if self.is_encrypted and (self.session is None or self.session.ssl is None):
            self._part()  # the handshake came to nothing, and the library may not have noticed

    async def smtp_DATA(self, arg: str) -> None:
        if await self.check_helo_needed():
            return
        assert self.envelope is not None
        if not self.envelope.rcpt_tos:
            await self.push("503 Error: need RCPT command")
        elif arg:
            await self.push("501 Syntax: DATA")
        else:
            await self.push("354 End data with <CR><LF>.<CR><LF>")
            await self._take_message(self.envelope)

    async def _take_message(self, envelope: Envelope) -> None:
        try:
            content = await read_message(self._reader, self.max_message_bytes, self.in_memory)
        except Refused as refusal:
            self.envelope = self._create_envelope()
            if refusal.is_endless:
                self.say_and_close(refusal.line)
            else:
                await self.push(refusal.line)
            return
        envelope.content = envelope.original_content = content
        del content  # the handler lets go of it, and so do we
        status = await self._call_handler_hook("DATA")
        self.envelope = self._create_envelope()
        await self.push(status)

    async def push(self, status: AnyStr) -> None:
        """A client that says a lot at once lets the other sessions have their turn."""
        await super().push(status)
        self._replies += 1
        if self._replies % SHARE_EVERY == 0:
            await asyncio.sleep(0)
        if status[:3] in (b"500", "500"):
            self.not_understood()

    async def _unknown(self, arg: str | None) -> None:
        await self.push(R500_UNKNOWN)


_OFF = ("AUTH", "HELP")
_OF_ALL = MailInMemory(OUTSIDE_BYTES)


class _Verbs(dict[str, Any]):
    """Verbs by name, as the library asks for them; any other is `unknown`."""

    def __init__(self, known: dict[str, Any], unknown: Callable[..., Any]) -> None:
        super().__init__(known)
        self._unknown = unknown

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, self._unknown)


def _nothing(*_arguments: Any) -> None:
    """What a timer does that never runs."""
