"""How much mail of inbound sessions is in memory at once, over all of them.

A message is in memory from its first octet until it is durable or refused. Where that is too much,
the message that is still coming and was silent the longest gives way: what has come of it is let go
of, the rest is read over, and behind its dot its client hears 452 and may try again. So whoever
begins a message and leaves it there keeps nobody out for long. A message that has come whole stays;
and one that is alone is taken, however large it may be.
"""

from __future__ import annotations

from typing import Protocol

R452_NO_MEMORY = b"452 4.3.1 Insufficient system resources"  # F§2.3
MIB = 1_048_576
# Of the 1 GiB that a container has. Servers of the organisation have a part of their own, so that
# nobody else keeps them out.
OUTSIDE_BYTES, ORGANISATION_BYTES = 128 * MIB, 256 * MIB


class Coming(Protocol):
    """A message that is coming."""

    def give_way(self, reply: bytes) -> None:
        """Let go of what has come; `reply` is the answer to its dot."""


class MailInMemory:
    """Of the clients of one kind; `limit_bytes` for all of them together."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._coming: dict[Coming, int] = {}  # who was silent the longest is first
        self._coming_bytes = self._kept_bytes = 0

    def has_come(self, message: Coming, size_bytes: int) -> None:
        """So much of it there is now. It may be the one that gives way."""
        self.is_over(message)
        self._coming[message] = size_bytes
        self._coming_bytes += size_bytes
        while self._is_too_much and self._coming:
            silent = next(iter(self._coming))
            self.is_over(silent)
            silent.give_way(R452_NO_MEMORY)

    def is_over(self, message: Coming) -> None:
        """It has come whole, or will not. May be called more than once."""
        self._coming_bytes -= self._coming.pop(message, 0)

    def keep(self, size_bytes: int) -> None:
        """A message that has come whole waits to be durable."""
        self._kept_bytes += size_bytes

    def let_go(self, size_bytes: int) -> None:
        """It waits no more."""
        self._kept_bytes -= size_bytes

    @property
    def _is_too_much(self) -> bool:
        is_alone = len(self._coming) == 1 and not self._kept_bytes
        return not is_alone and self._coming_bytes + self._kept_bytes > self._limit_bytes

    @property
    def size_bytes(self) -> int:
        return self._coming_bytes + self._kept_bytes
