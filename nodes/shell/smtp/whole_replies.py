"""aiosmtplib's protocol, given each reply whole.

The library reads a reply that is not whole yet again from its first line with every packet, so a
server that says its lines one by one, as many as a reply may have, costs seconds of computing. Here
a reply is kept until its last line is there, and each octet is looked at once. What a reply is, and
how long it may be, is the library's to say.
"""

from __future__ import annotations

from typing import Any

from aiosmtplib.protocol import MAX_RESPONSE_LENGTH, SMTPProtocol


class WholeReplies(SMTPProtocol):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._kept = bytearray()
        self._line_at = 0
        self.written_bytes = 0

    def write(self, data: bytes) -> None:
        super().write(data)
        self.written_bytes += len(data)

    def data_received(self, data: bytes) -> None:
        """What nobody waits for is dropped by the library, as ever."""
        looked_at = len(self._kept)
        self._kept += data
        is_whole = self._looks_whole(looked_at) or len(self._kept) > MAX_RESPONSE_LENGTH
        if is_whole or not self._is_awaited:
            said, self._kept, self._line_at = bytes(self._kept), bytearray(), 0
            super().data_received(said)

    async def drain(self) -> None:
        """Wait while the peer has not taken what was written. Raises OSError where it is gone."""
        await self._drain_helper()

    @property
    def _is_awaited(self) -> bool:
        waiter = self._response_waiter
        return self._response_pending and waiter is not None and not waiter.done()

    def _looks_whole(self, looked_at: int) -> bool:
        """Whether a line is there that ends a reply, or is none of a reply."""
        while (end := self._kept.find(b"\n", looked_at)) >= 0:
            line = self._kept[self._line_at : self._line_at + 4]
            if not line[:3].isdigit() or line[3:] != b"-":
                return True
            looked_at = self._line_at = end + 1
        return False
