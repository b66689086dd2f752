"""aiosmtpd's SMTP without what a lab server must not have, for servers inside and outside alike.

Off: AUTH and HELP (nobody logs in here), the library's time-out (it counts wall seconds; deadlines
are lab time), a second STARTTLS inside TLS. Limits on lines and messages stay, and no client can
change them for another.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import defaultdict
from typing import Any

from aiosmtpd.smtp import SMTP

from nodes.core.replies import Reply

MAX_MESSAGE_BYTES = 37_748_736  # what Exchange 2016 announces as SIZE (F§2.4)
MAX_RECIPIENTS = 200  # MaxRecipientsPerMessage of a Receive connector (F§3.3)
COMMAND_LIMIT = 512  # RFC 5321 section 4.5.3.1.4

R221_BYE = b"221 2.0.0 Service closing transmission channel"
R250_SENDER_OK = b"250 2.1.0 Sender OK"
R452_TOO_MANY_RECIPIENTS = b"452 4.5.3 Too many recipients"
R501_NOT_UNDERSTOOD = "501 5.5.2 Command cannot be understood"
R503_TLS_STANDS = b"503 5.5.1 TLS is active already"
R553_BAD_ADDRESS = b"553 5.1.3 Address is not valid"

NULL_SENDER = "<>"
_ADDRESS = re.compile(r"[!-;=?-~]+")
# a path as servers write it, and its parameters: what needs no parser (RFC 5321 section 4.1.2)
_ATOMS = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
_PLAIN_PATH = re.compile(rf"<({_ATOMS}@{_ATOMS})>(?: +([!-'*-~][ -'*-~]*)?)?")


class SmtpSyntax(SMTP):
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
            data_size_limit=MAX_MESSAGE_BYTES,
            loop=asyncio.get_running_loop(),
        )
        for verb in ("AUTH", "HELP"):
            del self._smtp_methods[verb]

    def _reset_timeout(self, duration: float | None = None) -> None:
        """The library wants a timer to cancel; this one never runs."""
        if self._timeout_handle is None:
            self._timeout_handle = asyncio.TimerHandle(0.0, _nothing, [], self.loop)

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Address and what follows it. The library's parser takes a third of the time that a
        message costs here, so that what has one reading is read without it.
        """
        plain = _PLAIN_PATH.fullmatch(arg)
        if plain is None or len(plain[1].rpartition("@")[0]) > self.local_part_limit > 0:
            found: tuple[str | None, str | None] = super()._getaddr(arg)
            return found
        return plain[1], plain[2] or ""

    @property
    def is_encrypted(self) -> bool:
        return self._tls_protocol is not None

    async def smtp_STARTTLS(self, arg: str) -> None:
        if self.is_encrypted:
            await self.push(R503_TLS_STANDS)
        else:
            await super().smtp_STARTTLS(arg)


def keywords(greeting: str, offered: list[str]) -> list[str]:
    """The lines of an EHLO reply: the greeting, then a keyword a line."""
    lines = [greeting, *offered]
    return [f"250-{line}" for line in lines[:-1]] + [f"250 {lines[-1]}"]


def is_address(text: str) -> bool:
    """Printable ASCII without blanks and angle brackets: what may stand in a command again."""
    return text == NULL_SENDER or _ADDRESS.fullmatch(text) is not None


def on_the_wire(reply: Reply) -> bytes:
    """A reply without its last line end. What is not ASCII becomes `?`: SMTPUTF8 is not spoken."""
    *first, last = (" ".join(line.split()) for line in reply.lines)
    lines = [*(f"{reply.code}-{line}" for line in first), f"{reply.code} {last}"]
    return "\r\n".join(lines).encode("ascii", "replace")


def _nothing(*_arguments: Any) -> None:
    """What a timer does that never runs."""
