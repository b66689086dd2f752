"""What the messages of a workload say: what servers are known to tidy up, and must not (TL-10).

Each begins with the worst of it. By its Message-Id one of five then has a line as long as a line
may be, one every octet, one ends in blank lines, and one has no body at all and a long header
instead. A CR or LF that stands alone is what strangers say, since it must be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from lab.plan.parts import TooMuch

CRLF = b"\r\n"
LINE = b"All work and no mail makes a transport server a dull node to look at, said he.\r\n"
# what looks like the end of the message, were it not for transparency (RFC 5321, 4.5.2), and
# another dot; an empty line; where an mbox begins a message; blanks at the end of a line; octets
# with the eighth bit (RFC 6152)
AWKWARD = ".\r\n..\r\n\r\nFrom Łódź \t \r\n".encode()
LONGEST = b"." + b"m" * 997 + CRLF  # RFC 5321, 4.5.3.1.6
OCTETS = bytes(octet for octet in range(1, 256) if octet not in CRLF) + CRLF
BLANK_END = b".\r\n \r\n\t\r\n\r\n\r\n"
STRANGER = "stranger.example"
HEADER_MOST_BYTES = 16_384
BARE = (b"\n", b"\r", b"\n.\n", b"\r.\r", b"\n\r")


def content_of(
    message_id: str, sender: str, recipients: Sequence[str], date: str, size_bytes: int
) -> bytes:
    """A message of `size_bytes` in all (more when what it has to say needs more); lines end in
    CRLF.

    `date` is its `Date:` header. The same arguments give the same bytes, so that each attempt
    sends the same message; no two messages have one body, but for those that have none.
    """
    header = _header(message_id, sender, recipients, date)
    opening = header + CRLF + f"{message_id}\r\n".encode("ascii") + AWKWARD
    say = _SAY[sha256(message_id.encode()).digest()[0] % len(_SAY)]
    if say is not None and size_bytes >= len(opening) + len(LONGEST):
        return say(header, opening, size_bytes)
    return opening + _filler(size_bytes - len(opening))


def with_bare_line_ends(message_id: str) -> bytes:
    """A message with a CR or LF that stands alone: each of several kinds by the Message-Id."""
    bare = BARE[sha256(message_id.encode()).digest()[0] % len(BARE)]
    return f"Message-ID: {message_id}\r\n\r\nhalf".encode() + bare + b"whole\r\n"


def with_too_much(message_id: str, too_much: TooMuch) -> bytes:
    """A message with so many Received fields, and of that size."""
    received = (f"Received: from {STRANGER} by {by}\r\n" for by in too_much.received_by)
    header = "".join((*received, f"Message-ID: {message_id}\r\n\r\n")).encode("ascii")
    return header + _filler(too_much.size_bytes - len(header))


def _header(message_id: str, sender: str, recipients: Sequence[str], date: str) -> bytes:
    lines = (
        f"From: <{sender}>",
        "To: " + ",\r\n ".join(f"<{recipient}>" for recipient in recipients),
        f"Subject: {message_id.strip('<>').partition('@')[0]}",
        f"Date: {date}",
        f"Message-ID: {message_id}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        "",
    )
    return "\r\n".join(lines).encode("ascii")


def _longest_line(_: bytes, opening: bytes, size_bytes: int) -> bytes:
    opening += LONGEST
    return opening + _filler(size_bytes - len(opening))


def _every_octet(_: bytes, opening: bytes, size_bytes: int) -> bytes:
    opening += OCTETS
    return opening + _filler(size_bytes - len(opening))


def _blank_end(_: bytes, opening: bytes, size_bytes: int) -> bytes:
    return opening + _filler(size_bytes - len(opening) - len(BLANK_END)) + BLANK_END


def _no_body(header: bytes, opening: bytes, size_bytes: int) -> bytes:
    """The field is folded, has an empty word to begin with, and blanks at the end of its lines."""
    if size_bytes > HEADER_MOST_BYTES:
        return _blank_end(header, opening, size_bytes)
    header += b"comments:\r\n"
    filler = _filler(size_bytes - len(header) - len(CRLF))
    return (
        header + b"".join(b" " + line[1:-3] + b"\t\r\n" for line in filler.splitlines(True)) + CRLF
    )


_SAY: tuple[Callable[[bytes, bytes, int], bytes] | None, ...] = (
    None,
    _longest_line,
    _every_octet,
    _blank_end,
    _no_body,
)


def _filler(length: int) -> bytes:
    lines, rest = divmod(max(length, 6), len(LINE))
    if rest == 0:
        return LINE * lines
    if rest < 6:  # too short for a line of its own
        lines, rest = lines - 1, rest + len(LINE)
    return LINE * lines + b"x" * (rest - 2) + CRLF
