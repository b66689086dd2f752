"""What is waited for, and who goes on then, as values that say it in words.

A part that waits for an answer or a time gives whoever keeps it a value of a class of `Waiting`, or
methods of one: what is to be called then is the same as what a person reads. A plain function may
be given too; of that, only its place in the code can be said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from nodes.core.model.lab_time import iso


class Waiting(ABC):
    """Whoever goes on once something has happened. Its text continues a sentence: "… then mounts
    db1 on lyo-mbx1".
    """

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    def until_ms(self) -> int | None:
        """When it waits no longer, lab time in epoch ms; None: as long as whoever keeps it."""
        return None

    @property
    def is_limit(self) -> bool:
        """Whether it only ends another wait, which says so itself."""
        return False


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that a node waits for. `awaited` is empty where it waits for `until_ms` alone.
    Times are lab time in epoch ms.
    """

    awaited: str
    then: str
    asked_ms: int | None = None
    until_ms: int | None = None

    def __str__(self) -> str:
        if not self.awaited:
            return f"waits until {iso(self.until_ms or 0)}, then {self.then}"
        asked = "" if self.asked_ms is None else f", asked at {iso(self.asked_ms)}"
        until = "" if self.until_ms is None else f", until {iso(self.until_ms)}"
        return f"waits for {self.awaited}{asked}{until}, then {self.then}"


class Waits(Protocol):
    """A part that keeps who waits."""

    def waits(self) -> Iterator[Wait]: ...


def waiting_of(continuation: Callable[..., Any]) -> Waiting | None:
    """The value that is called, or a method of which is; None: it is a plain function."""
    owner = getattr(continuation, "__self__", continuation)
    return owner if isinstance(owner, Waiting) else None


def then_of(continuation: Callable[..., Any]) -> str:
    """What is done then: "mounts db1 on lyo-mbx1", or "goes on in CopyMonitor.begin"."""
    waiting = waiting_of(continuation)
    if waiting is not None:
        return str(waiting)
    name: str = getattr(continuation, "__qualname__", type(continuation).__qualname__)
    return f"goes on in {name.partition('.<locals>')[0]}"


def is_limit(continuation: Callable[..., Any]) -> bool:
    waiting = waiting_of(continuation)
    return waiting is not None and waiting.is_limit


def ends_ms(continuation: Callable[..., Any], limit_ms: int | None) -> int | None:
    """When it waits no longer: by its own limit or by that of whoever keeps it."""
    waiting = waiting_of(continuation)
    own_ms = None if waiting is None else waiting.until_ms
    return min((ms for ms in (own_ms, limit_ms) if ms is not None), default=None)
