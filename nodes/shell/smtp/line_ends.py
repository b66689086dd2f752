"""CR and LF in a message: one line end together, and nothing apart (RFC 5321 section 2.3.8).

What ends a line or a message in the eyes of one server and not of the next lets a message through
within a message. So a CR or LF that stands alone is refused, from whoever it comes, and none is
made whole on the way: what a node cannot send on as it is, it does not send on (TL-10).
"""

from __future__ import annotations

from collections.abc import Iterator

CR, LF, CRLF = b"\r", b"\n", b"\r\n"
PIECE_BYTES = 65_536
# the code and the reason that Exchange Online gives
BARE_LINE_ENDS = (
    "5.6.11 Message contains bare carriage returns or linefeeds, which cannot be sent via DATA"
)


def has_bare(content: bytes | bytearray, start: int = 0, end: int | None = None) -> bool:
    """Whether a CR or LF stands alone between `start` and `end`."""
    whole = content.count(CRLF, start, end)
    return content.count(CR, start, end) != whole or content.count(LF, start, end) != whole


def can_be_sent(content: bytes) -> bool:
    """Whether DATA can carry it as it is: lines, each with its end, or nothing at all."""
    return not has_bare(content) and (not content or content.endswith(CRLF))


def on_the_wire(content: bytes) -> Iterator[bytes]:
    """Piece by piece, with the dots of transparency and the final dot (RFC 5321 section 4.5.2); of
    a content that `can_be_sent`. A piece is whole lines, so that none begins within one.
    """
    start = 0
    while start < len(content):
        end = content.find(CRLF, start + PIECE_BYTES)
        end = len(content) if end < 0 else end + len(CRLF)
        piece = content[start:end].replace(b"\r\n.", b"\r\n..")
        yield b"." + piece if piece.startswith(b".") else piece
        start = end
    yield b".\r\n"
