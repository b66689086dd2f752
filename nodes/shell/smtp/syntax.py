"""The words of SMTP, for servers inside and outside the organisation alike: addresses, replies, the
keywords of EHLO. What becomes of the connection itself is `nodes.shell.smtp.connection`'s.
"""

from __future__ import annotations

import re

from aiosmtpd.smtp import Envelope

from nodes.core.interface.replies import Reply
from nodes.shell.smtp.connection import SmtpConnection

R221_BYE = b"221 2.0.0 Service closing transmission channel"
R250_SENDER_OK = b"250 2.1.0 Sender OK"
R501_NOT_UNDERSTOOD = "501 5.5.2 Command cannot be understood"
R553_BAD_ADDRESS = b"553 5.1.3 Address is not valid"

REPLY_LIMIT = 510  # RFC 5321 section 4.5.3.1.5, without the line end
LEFT_OUT = b"..."

NULL_SENDER = "<>"
_ADDRESS = re.compile(r"[!-;=?-~]+")
# a path as servers write it, and its parameters: what needs no parser (RFC 5321 section 4.1.2)
_ATOMS = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
_PLAIN_PATH = re.compile(rf"<({_ATOMS}@{_ATOMS})>(?: +([!-'*-~][ -'*-~]*)?)?")


def sender_of(envelope: Envelope) -> str:
    """Empty for the null reverse-path, which aiosmtpd gives as it was said (RFC 5321 section
    4.5.5).
    """
    sender = envelope.mail_from or ""
    return "" if sender == NULL_SENDER else sender


class SmtpSyntax(SmtpConnection):
    """What clients may say that servers inside and outside read alike."""

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """Address and what follows it, or neither: the library's parser mends what it reads, so
        that two addresses become one, and what it did not read as it stands is none. It takes a
        third of the time that a message costs here, so that what has one reading is read without.
        """
        plain = _PLAIN_PATH.fullmatch(arg)
        if plain is None or len(plain[1].rpartition("@")[0]) > self.local_part_limit > 0:
            address, rest = super()._getaddr(arg)
            return (address, rest) if address is not None and address in arg else (None, None)
        return plain[1], plain[2] or ""


def declared_bytes(options: list[str]) -> int:
    """The SIZE of MAIL, whose parameters aiosmtpd has read; 0 where there is none (RFC 1870)."""
    sizes = [option.removeprefix("SIZE=") for option in options if option.startswith("SIZE=")]
    return int(sizes[-1]) if sizes else 0


def keywords(greeting: str, offered: list[str]) -> list[str]:
    """The lines of an EHLO reply: the greeting, then a keyword a line."""
    lines = [greeting, *offered]
    return [f"250-{line}" for line in lines[:-1]] + [f"250 {lines[-1]}"]


def is_address(text: str) -> bool:
    """Printable ASCII without blanks and angle brackets: what may stand in a command again."""
    return text == NULL_SENDER or _ADDRESS.fullmatch(text) is not None


def on_the_wire(reply: Reply) -> bytes:
    """A reply without its last line end. What is not ASCII becomes `?`: SMTPUTF8 is not spoken. A
    sentence is bounded; the lines of a list are a grammar of ours, in words of ours.
    """
    *first, last = (" ".join(line.split()) for line in reply.lines)
    lines = [*(f"{reply.code}-{line}" for line in first), f"{reply.code} {last}"]
    wire = "\r\n".join(lines).encode("ascii", "replace")
    return wire if first else _both_ends(wire)


def _both_ends(line: bytes) -> bytes:
    """A line too long to be sent without its middle: what it says first and last matters most."""
    if len(line) <= REPLY_LIMIT:
        return line
    half = (REPLY_LIMIT - len(LEFT_OUT)) // 2
    return line[:half] + LEFT_OUT + line[-half:]
