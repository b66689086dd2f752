"""One message over one SMTP session, as a server outside the organisation would send it; or as a
client inside does that puts it into an Outbox (XOUTBOX).

EHLO, STARTTLS if it is offered (without a client certificate, the peer verified by the run's
authority), MAIL, RCPT, DATA. The text has 8-bit octets, so 8BITMIME must be offered (RFC 6152). An
attempt says `ok` for a 2xx after the final dot, `unknown` when the connection was lost or fell
silent after it, else `failed`: surely not accepted. It promises the message to all recipients or to
none, so one refused recipient fails the attempt. It retries nothing and keeps no session open.

aiosmtplib owns the syntax. Its own `data` cannot distinguish a connection lost before the dot from
one lost after it, so the content is written here, through the library's protocol.
"""

import asyncio
import contextlib
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import aiosmtplib

from lab.workload.ledger import Outcome
from nodes.core.model.outbox import IntoOutbox
from nodes.shell.verbs import submission

LEADING_DOT = re.compile(rb"(?m)^\.")
QUIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where a server is reached: a port of the proxy, and the name in the server's certificate."""

    server: str
    host: str
    port: int
    fqdn: str


@dataclass(frozen=True, slots=True)
class Patience:
    """Wall seconds: for each reply, and for the reply to the final dot (RFC 5321, 4.5.3.2)."""

    step_seconds: float
    final_seconds: float


@dataclass(frozen=True, slots=True)
class Mail:
    """Envelope and content; lines of `content` end in CRLF. `outbox`: into the Outbox of which
    mailbox database it goes.
    """

    sender: str
    recipients: Sequence[str]
    content: bytes
    outbox: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """`reply` is the server's last word in one line; `reason` says where and why it ended."""

    outcome: Outcome
    reply: str | None
    reason: str


class Attempt:
    """One try at one server. `interrupted` says what is known when `run` is cancelled."""

    def __init__(self, mail: Mail, target: Target, tls: ssl.SSLContext, patience: Patience) -> None:
        self._mail, self._target, self._tls, self._patience = mail, target, tls, patience
        self._stage = "connect"
        self._past_dot = False
        self._smtp = aiosmtplib.SMTP(
            hostname=target.host,
            port=target.port,
            local_hostname=mail.sender.rpartition("@")[2] or "localhost",
            timeout=patience.step_seconds,
            start_tls=False,
        )

    async def run(self) -> Result:
        """Send; never raises for what the network or the server does."""
        try:
            await self._greet()
            await self._address()
            return await self._content()
        except aiosmtplib.SMTPResponseException as error:
            return self._ended(one_line(error.code, error.message), f"refused at {self._stage}")
        except (aiosmtplib.SMTPException, OSError) as error:
            return self._ended(None, f"{self._stage}: {_words(error)}")

    def interrupted(self) -> Result:
        """The outcome of an attempt that was stopped from outside."""
        return self._ended(None, f"{self._stage}: the workload was stopped")

    async def close(self, *, politely: bool) -> None:
        """Say QUIT where somebody still answers; drop the connection otherwise."""
        if politely:
            with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                await self._smtp.quit(timeout=QUIT_SECONDS)
        self.abort()

    def abort(self) -> None:
        """Drop the connection, if there is one."""
        if isinstance(self._smtp.transport, asyncio.WriteTransport):
            self._smtp.transport.abort()
        self._smtp.close()

    async def _greet(self) -> None:
        await self._smtp.connect()
        self._stage = "EHLO"
        await self._smtp.ehlo()
        if self._smtp.supports_extension("starttls"):
            self._stage = "STARTTLS"
            await self._smtp.starttls(server_hostname=self._target.fqdn, tls_context=self._tls)
            await self._smtp.ehlo()

    async def _address(self) -> None:
        self._stage = "MAIL"
        if not self._smtp.supports_extension("8bitmime"):
            raise aiosmtplib.SMTPNotSupported("the server offers no 8BITMIME")
        if self._mail.outbox is not None:
            await self._ask_for_outbox(self._mail.outbox)
        size = [f"SIZE={len(self._mail.content)}"] if self._smtp.supports_extension("size") else []
        await self._smtp.mail(self._mail.sender, options=[*size, "BODY=8BITMIME"])
        for recipient in self._mail.recipients:
            self._stage = f"RCPT {recipient}"
            await self._smtp.rcpt(recipient)

    async def _ask_for_outbox(self, database: str) -> None:
        self._stage = submission.VERB
        words = submission.format_prologue(IntoOutbox(database))
        ready = await self._smtp.execute_command(*(word.encode("ascii") for word in words))
        if ready.code != 250:
            raise aiosmtplib.SMTPResponseException(ready.code, ready.message)
        self._stage = "MAIL"

    async def _content(self) -> Result:
        self._stage = "DATA"
        ready = await self._smtp.execute_command(b"DATA")
        if ready.code != 354:
            return self._ended(one_line(ready.code, ready.message), "refused at DATA")
        protocol = self._smtp.protocol
        if protocol is None or not protocol.is_connected:
            return self._ended(None, "DATA: connection lost")
        self._stage, self._past_dot = "final dot", True
        protocol.write(LEADING_DOT.sub(b"..", self._mail.content) + b".\r\n")
        final = await protocol.read_response(timeout=self._patience.final_seconds)
        accepted = 200 <= final.code < 300
        return Result(
            Outcome.OK if accepted else Outcome.FAILED,
            one_line(final.code, final.message),
            "accepted" if accepted else "refused at final dot",
        )

    def _ended(self, reply: str | None, reason: str) -> Result:
        outcome = Outcome.UNKNOWN if self._past_dot else Outcome.FAILED
        return Result(outcome, reply, reason)


def tls_context(authority: Path) -> ssl.SSLContext:
    """Trusts the run's authority alone, checks the server's name, shows no certificate."""
    return ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(authority))


def one_line(code: int, message: str) -> str:
    """A reply of any number of lines in one."""
    return " ".join(f"{code} {message}".split())


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
