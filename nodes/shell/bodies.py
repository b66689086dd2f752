"""Message bodies by handle: what senders have just offered, and what was stored a moment ago.

An `in:` body lives until its commit is answered, or the core drops it. A body that was just stored
is wanted again at once, for delivery, so the newest few stay within reach.
"""

from __future__ import annotations

from collections import OrderedDict

from nodes.core.message import BodyHandle

RECENT_BYTES = 4 << 20


class Bodies:
    """Bodies in memory; `db:` ones that are not here are read from the queue database."""

    def __init__(self) -> None:
        self._offered: dict[BodyHandle, bytes] = {}
        self._recent: OrderedDict[BodyHandle, bytes] = OrderedDict()
        self._recent_bytes = 0
        self._count = 0

    def offer(self, content: bytes) -> BodyHandle:
        self._count += 1
        handle = f"in:{self._count}"
        self._offered[handle] = content
        return handle

    def drop(self, handle: BodyHandle) -> None:
        self._offered.pop(handle, None)

    def fetch(self, handle: BodyHandle) -> bytes:
        """Of an `in:` or `made:` handle; raises KeyError for one that is gone."""
        if handle.startswith("made:"):
            return handle.removeprefix("made:").encode()
        return self._offered[handle]

    def find(self, handle: BodyHandle) -> bytes | None:
        """The body, if it is in memory."""
        if handle.startswith("made:"):
            return self.fetch(handle)
        return self._offered.get(handle) or self._recent.get(handle)

    def stored(self, handle: BodyHandle, internal_id: int) -> None:
        """The body is in the queue database now, as `db:<internal_id>`."""
        content = self._offered.pop(handle, None)
        if content is None:
            return
        self._recent[f"db:{internal_id}"] = content
        self._recent_bytes += len(content)
        while self._recent_bytes > RECENT_BYTES:
            _, oldest = self._recent.popitem(last=False)
            self._recent_bytes -= len(oldest)
