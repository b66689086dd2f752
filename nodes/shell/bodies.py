"""Where the bytes behind a body handle are: in memory (`in:`), in the queue database (`db:`), or in
the handle itself (`made:`).

In memory are the bodies of messages that are not durable yet. They are let go as soon as they are,
so a node holds metadata and not mail.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from nodes.core.message import BodyHandle

ReadStored: TypeAlias = Callable[[int], bytes | None]


class BodyGone(Exception):
    """The message of a `db:` handle has left the queue database meanwhile."""


class Bodies:
    """`read_stored` reads a body by internal id; it is called from any thread, one at a time."""

    def __init__(self, read_stored: ReadStored) -> None:
        self._read_stored = read_stored
        self._held: dict[BodyHandle, bytes] = {}
        self._count = 0
        self._one_reader = Lock()

    def hold(self, content: bytes) -> BodyHandle:
        """Keep the bytes of a message that has just come in; gives their handle."""
        self._count += 1
        handle = f"in:{self._count}"
        self._held[handle] = content
        return handle

    def drop(self, handle: BodyHandle) -> None:
        """Let go of an `in:` body; of any other there is nothing to let go."""
        self._held.pop(handle, None)

    def at_hand(self, handle: BodyHandle) -> bytes | None:
        """The bytes, where no disk need be read for them."""
        if handle.startswith("made:"):
            return handle.removeprefix("made:").encode()
        return self._held.get(handle)

    def fetch(self, handle: BodyHandle) -> bytes:
        """The bytes, wherever they are; may wait for the disk. Raises BodyGone, sqlite3.Error."""
        content = self.at_hand(handle)
        if content is not None:
            return content
        if not handle.startswith("db:"):
            raise AssertionError(f"{handle} is not held")
        with self._one_reader:
            content = self._read_stored(int(handle.removeprefix("db:")))
        if content is None:
            raise BodyGone(f"{handle} has left the queue database")
        return content

    def __len__(self) -> int:
        """How many bodies are in memory."""
        return len(self._held)
