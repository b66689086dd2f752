"""The strangers of a plan over real SMTP: what each says to a server, and what it hears.

They run in the container of the workload and call through the same proxies as its senders. Whoever
is offered STARTTLS takes it, with the certificate that a stranger of its kind shows: none, one of
another authority, or that of a server. One that trickles writes a byte at a time behind its DATA
until it is sent away or has written for long enough. Nothing here judges what is heard.
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import aiosmtplib

from lab.clock import LabClock
from lab.plan.parts import Stranger, Trickle
from lab.workload.content import STRANGER, with_bare_line_ends, with_too_much
from lab.workload.smtp_attempt import Patience, Target, one_line, tls_context
from lab.workload.stranger_record import (
    BANNER,
    DATA,
    EHLO,
    FINAL_DOT,
    STARTTLS,
    End,
    StrangerRecord,
)

FOREIGN = "foreign"
"""The certificate that another authority has signed."""
SERVICE_CLOSING = 421
CALLED = STRANGER
"""What a stranger calls itself in its EHLO."""


def content_said_by(stranger: Stranger) -> bytes:
    """What a stranger says at once."""
    message_id = f"<{stranger.id}@{CALLED}>"
    if stranger.too_much is None:
        return with_bare_line_ends(message_id)
    return with_too_much(message_id, stranger.too_much)


Contexts = Callable[[Stranger], ssl.SSLContext]


def contexts(tls: Path) -> Contexts:
    """The TLS of each stranger, from the files in the folder `tls` of the workload. OSError where
    the certificate that it shows is not there.
    """
    shown = cache(lambda name: _context(tls, name))

    def context(stranger: Stranger) -> ssl.SSLContext:
        is_foreign = stranger.kind == "foreign-certificate"
        return shown(FOREIGN if is_foreign else stranger.certificate)

    return context


def _context(tls: Path, name: str | None) -> ssl.SSLContext:
    context = tls_context(tls / "authority.pem")
    if name is not None:
        folder = tls / "strangers"
        context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


class Strangers:
    """Calls `targets`; every reply goes to `record` as it comes."""

    def __init__(
        self,
        strangers: Sequence[Stranger],
        targets: Mapping[str, Target],
        clock: LabClock,
        record: StrangerRecord,
        contexts: Contexts,
        patience: Patience,
    ) -> None:
        self._strangers, self._targets, self._clock = strangers, targets, clock
        self._record, self._contexts, self._patience = record, contexts, patience

    async def run(self) -> None:
        """Returns when the last of them has hung up; may be cancelled."""
        async with asyncio.TaskGroup() as calls:
            for stranger in self._strangers:
                calls.create_task(self._call(stranger))

    async def _call(self, stranger: Stranger) -> None:
        due_ns = self._clock.mono_ns_at(stranger.at_ms)
        await asyncio.sleep((due_ns - time.monotonic_ns()) / 1e9)
        target, tls = self._targets[stranger.server], self._contexts(stranger)
        await Call(stranger, target, tls, self._clock, self._record, self._patience).run()


class Call:
    """One session of one stranger."""

    def __init__(
        self,
        who: Stranger,
        target: Target,
        tls: ssl.SSLContext,
        clock: LabClock,
        record: StrangerRecord,
        patience: Patience,
    ) -> None:
        self._who, self._target, self._tls = who, target, tls
        self._clock, self._record = clock, record
        self._patience = patience
        self._said, self._sent_bytes = BANNER, 0
        self._smtp = aiosmtplib.SMTP(
            hostname=target.host,
            port=target.port,
            local_hostname=CALLED,
            timeout=patience.step_seconds,
            start_tls=False,
        )

    async def run(self) -> None:
        """Never raises for what the network or the server does."""
        try:
            self._end(await self._talk())
        except asyncio.CancelledError:
            self._end(End.STOPPED)
            raise
        except aiosmtplib.SMTPResponseException as error:
            self._refused(error.code, one_line(error.code, error.message))
        except TimeoutError:
            self._end(End.TIMED_OUT)
        except (aiosmtplib.SMTPException, OSError):
            self._end(End.CLOSED)
        finally:
            self._hang_up()

    async def _talk(self) -> End:
        self._heard(await self._smtp.connect())
        await self._greet()
        if self._smtp.supports_extension("starttls"):
            self._said = STARTTLS
            fqdn = self._target.fqdn
            self._heard(await self._smtp.starttls(server_hostname=fqdn, tls_context=self._tls))
            await self._greet()
        for command in self._who.commands:
            self._said = command
            self._heard(await self._smtp.execute_command(command.encode("ascii")))
        if self._who.trickle is None:
            return End.DONE
        await self._begin_message(self._who.trickle)
        if self._who.trickle.every_ms:
            return await self._trickle(self._who.trickle)
        return await self._say_at_once()

    async def _greet(self) -> None:
        self._said = EHLO
        self._heard(await self._smtp.ehlo())

    async def _begin_message(self, trickle: Trickle) -> None:
        self._said = DATA
        await self._smtp.mail(trickle.sender)
        await self._smtp.rcpt(trickle.recipient)
        ready = await self._smtp.execute_command(b"DATA")
        if ready.code != 354:
            raise aiosmtplib.SMTPResponseException(ready.code, ready.message)
        self._heard(ready)

    async def _say_at_once(self) -> End:
        protocol = self._smtp.protocol
        assert protocol is not None
        self._said = FINAL_DOT
        protocol.write(content_said_by(self._who) + b".\r\n")
        self._heard(await protocol.read_response(timeout=self._patience.final_seconds))
        return End.DONE

    async def _trickle(self, trickle: Trickle) -> End:
        """Its last reply is waited for all the time: nobody answers to a byte."""
        protocol = self._smtp.protocol
        assert protocol is not None
        last_word = asyncio.create_task(protocol.read_response())
        try:
            for _ in range(-(-trickle.for_ms // trickle.every_ms)):
                protocol.write(b"x")
                self._sent_bytes += 1
                wait_s = self._clock.wall_seconds(trickle.every_ms)
                if (await asyncio.wait([last_word], timeout=wait_s))[0]:
                    reply = await last_word
                    raise aiosmtplib.SMTPResponseException(reply.code, reply.message)
        finally:
            last_word.cancel()
            await asyncio.gather(last_word, return_exceptions=True)
        return End.GAVE_UP

    def _heard(self, reply: aiosmtplib.SMTPResponse) -> None:
        if reply.code == SERVICE_CLOSING:
            raise aiosmtplib.SMTPResponseException(reply.code, reply.message)
        said = one_line(reply.code, reply.message)
        self._record.reply(self._who, self._said, said)

    def _refused(self, code: int, reply: str) -> None:
        """421 may come at any time and is the last word; anything else answers what was said."""
        if code == SERVICE_CLOSING or self._sent_bytes:
            self._end(End.REFUSED, reply)
        else:
            self._record.reply(self._who, self._said, reply)
            self._end(End.REFUSED)

    def _end(self, end: End, reply: str | None = None) -> None:
        self._record.end(self._who, end, reply, self._sent_bytes)

    def _hang_up(self) -> None:
        if isinstance(self._smtp.transport, asyncio.WriteTransport):
            self._smtp.transport.abort()
        self._smtp.close()
