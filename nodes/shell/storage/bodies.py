"""Where the bytes behind a body handle are: in memory (`in:`), in the queue database (`db:`), in a
mailbox database (`log:<name>:<number>`, `seed:<name>`, `mailbox:<name>:<address>`,
`outbox:<name>:<item>`), or in the handle itself (`made:`), which may have another body in it
(`attached:`), or name one that is to be converted (`converted:`).

In memory are the bodies of messages that are not durable yet. They are let go as soon as they are,
so a node holds metadata and not mail.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Protocol, TypeAlias

from nodes.core.model.message import ATTACHED, CONVERTED, BodyHandle
from nodes.core.model.outbox import OUTBOX
from nodes.store.content_conversion import converted
from nodes.store.queue.changes import BodyGone

ReadStored: TypeAlias = Callable[[int], bytes | None]
ReadCopy: TypeAlias = Callable[[BodyHandle], bytes | None]
OF_A_COPY = ("log:", "seed:", "mailbox:", f"{OUTBOX}:")


def is_on_disk(handle: BodyHandle) -> bool:
    """Whether its bytes take memory only once they are read."""
    return handle.startswith(("db:", *OF_A_COPY))


class Counted(Protocol):
    """Where bodies in memory are counted (`nodes.shell.smtp.mail_in_memory`)."""

    def keep(self, size_bytes: int) -> None: ...

    def let_go(self, size_bytes: int) -> None: ...


class Bodies:
    """`read_stored` reads a body by internal id, `read_copy` what a mailbox database has; they are
    called from any thread, one at a time.
    """

    def __init__(self, read_stored: ReadStored, read_copy: ReadCopy = lambda handle: None) -> None:
        self._read_stored = read_stored
        self._read_copy = read_copy
        self._held: dict[BodyHandle, bytes] = {}
        self._counted: dict[BodyHandle, Counted] = {}
        self._count = 0
        self._one_reader = Lock()

    def hold(self, content: bytes, counted: Counted | None = None) -> BodyHandle:
        """Keep the bytes of a message that has just come in, which are `counted` meanwhile; gives
        their handle.
        """
        self._count += 1
        handle = f"in:{self._count}"
        self._held[handle] = content
        if counted is not None:
            self._counted[handle] = counted
            counted.keep(len(content))
        return handle

    def drop(self, handle: BodyHandle) -> None:
        """Let go of an `in:` body, converted or not; of any other there is nothing to let go."""
        if handle.startswith(CONVERTED):
            _, handle = _of_converted(handle)
        content, counted = self._held.pop(handle, b""), self._counted.pop(handle, None)
        if counted is not None:
            counted.let_go(len(content))

    def at_hand(self, handle: BodyHandle) -> bytes | None:
        """The bytes, where no disk need be read for them."""
        if handle.startswith("made:"):
            return handle.removeprefix("made:").encode()
        return self._held.get(handle)

    def fetch(self, handle: BodyHandle) -> bytes:
        """The bytes, wherever they are; may wait for the disk. Raises BodyGone, sqlite3.Error."""
        if handle.startswith(ATTACHED):
            around, boundary, text = handle.removeprefix(ATTACHED).split("|", 2)
            return b"".join((text.encode(), self.fetch(around), f"\r\n--{boundary}--\r\n".encode()))
        if handle.startswith(CONVERTED):
            encoder, stored = _of_converted(handle)
            return converted(self.fetch(stored), encoder)
        content = self.at_hand(handle)
        if content is not None:
            return content
        with self._one_reader:
            content = self._read(handle)
        if content is None:
            raise BodyGone(f"{handle} has left its database")
        return content

    def size_once_converted(self, handle: BodyHandle, encoder: str) -> int | None:
        """In bytes; None where content conversion leaves it as it is. Raises as `fetch`."""
        content = self.fetch(handle)
        stored = converted(content, encoder)
        return None if stored == content else len(stored)

    def _read(self, handle: BodyHandle) -> bytes | None:
        if handle.startswith("db:"):
            return self._read_stored(int(handle.removeprefix("db:")))
        if handle.startswith(OF_A_COPY):
            return self._read_copy(handle)
        raise AssertionError(f"{handle} is not held")

    def __len__(self) -> int:
        """How many bodies are in memory."""
        return len(self._held)


def _of_converted(handle: BodyHandle) -> tuple[str, BodyHandle]:
    """Its encoder, and the body that is converted."""
    encoder, _, stored = handle.removeprefix(CONVERTED).partition("|")
    return encoder, stored
