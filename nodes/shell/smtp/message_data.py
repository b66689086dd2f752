"""The bytes of a message between DATA and the dot, within bounds whatever the client sends.

What is in memory is the message so far, and nothing else: no list of its lines, and nothing of a
message that is refused already. Such a one is read on, since a client listens only after its dot
(RFC 5321 section 4.2.5), but not for ever. No line costs a step of its own, so that a message of
nothing but line ends keeps the node from its other sessions no longer than any other.

A message ends with CRLF, a dot and CRLF, and with nothing that looks like it (RFC 5321 section
4.1.1.4); one with a CR or LF alone is refused behind its dot (`line_ends`).
"""

from __future__ import annotations

import asyncio

from nodes.shell.smtp import line_ends
from nodes.shell.smtp.mail_in_memory import MailInMemory

LINE_LIMIT = 1001  # RFC 5321 section 4.5.3.1.6, and the dot of transparency
READ_ON_BYTES = 67_108_864
CHUNK_BYTES = 1_048_576  # more than a reader holds, so that it is empty afterwards

R500_LINE_TOO_LONG = b"500 5.5.2 Line too long"
R550_BARE_LINE_ENDS = f"550 {line_ends.BARE_LINE_ENDS}".encode()
R552_TOO_LARGE = b"552 5.3.4 Message size exceeds fixed maximum message size"

_CRLF, _STUFFED, _FINAL = b"\r\n", b"\r\n.", b"\r\n.\r\n"
_MAYBE_FINAL = _FINAL[:-1]


class Refused(Exception):
    """`line` is the reply, without its end; `is_endless`: the client did not come to its dot."""

    def __init__(self, line: bytes, *, is_endless: bool) -> None:
        super().__init__(line.decode())
        self.line = line
        self.is_endless = is_endless


async def read_message(
    reader: asyncio.StreamReader, limit_bytes: int, in_memory: MailInMemory
) -> bytes:
    """The message without its dots of transparency. What came behind its dot is left in `reader`.

    Raises Refused, and ConnectionResetError where the client ends before its dot.
    """
    intake, behind = _Intake(limit_bytes), None
    try:
        while behind is None:
            chunk = await reader.read(CHUNK_BYTES)
            if not chunk:
                raise ConnectionResetError("the message has no end")
            behind = intake.take(chunk)
            in_memory.has_come(intake, intake.size_bytes)
    finally:
        in_memory.is_over(intake)
    if behind:
        reader.feed_data(behind)
    return intake.message()


class _Intake:
    """The message so far, as if a line had ended just before it."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._content = bytearray(_CRLF)
        self._stuffed = 0
        self._line_at = self._looked_at = len(_CRLF)
        self._complaint = b""
        self._read_on_bytes = 0

    @property
    def size_bytes(self) -> int:
        return len(self._content)

    def give_way(self, reply: bytes) -> None:
        self._complaint = self._complaint or reply
        self._read_on(0)

    def take(self, chunk: bytes) -> bytes | None:
        """What comes behind the dot; None while that has not come. Raises Refused."""
        content, before = self._content, len(self._content)
        content += chunk
        end = content.find(_FINAL, max(0, before - len(_FINAL) + 1))
        behind = None if end < 0 else bytes(content[end + len(_FINAL) :])
        if end >= 0:
            del content[end + len(_CRLF) :]
        if not self._complaint:
            self._stuffed += content.count(_STUFFED, max(0, before - len(_STUFFED) + 1))
            self._complaint = self._fault()
        if self._complaint:
            self._read_on(len(chunk))
        return behind

    def _fault(self) -> bytes:
        return self._bare_line_end() or self._too_much()

    def _bare_line_end(self) -> bytes:
        """Of what has come since; a CR at its end may be half a line end."""
        looked_at = self._looked_at
        self._looked_at = len(self._content) - self._content.endswith(line_ends.CR)
        is_bare = line_ends.has_bare(self._content, looked_at, self._looked_at)
        return R550_BARE_LINE_ENDS if is_bare else b""

    def _too_much(self) -> bytes:
        while len(self._content) - self._line_at > LINE_LIMIT:
            end = self._content.rfind(_CRLF, self._line_at, self._line_at + LINE_LIMIT)
            if end < 0:
                return R500_LINE_TOO_LONG
            self._line_at = end + len(_CRLF)
        size_bytes = len(self._content) - len(_CRLF) - self._stuffed
        if self._content.endswith(_MAYBE_FINAL):  # what the dot ends with is none of the message's
            size_bytes -= 1
        return R552_TOO_LARGE if size_bytes > self._limit_bytes else b""

    def _read_on(self, size_bytes: int) -> None:
        """Keep no more than the dot may begin with."""
        del self._content[: -len(_FINAL) + 1]
        self._read_on_bytes += size_bytes
        if self._read_on_bytes > READ_ON_BYTES:
            raise Refused(self._complaint, is_endless=True)

    def message(self) -> bytes:
        if self._complaint:
            raise Refused(self._complaint, is_endless=False)
        text = self._content.replace(_STUFFED, _CRLF)
        self._content.clear()
        return bytes(memoryview(text)[len(_CRLF) :])
