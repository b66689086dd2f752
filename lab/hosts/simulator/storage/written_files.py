"""The files of one simulated disk: what was written to them, and what of it was made durable.

Until a file is synced, what was written to it since the last time is the operating system's. When
the power goes, each file keeps what was synced, and of the rest nothing, all, what came first, or
any parts of 512 bytes in any order, as drawn; what was never synced at all may be gone since the
file was made. That is what SQLite counts on and no more (https://sqlite.org/atomiccommit.html,
"Hardware Assumptions"): a part is written whole or not at all, a write harms nothing beside it, and
what a disk reports as synced is synced. A file that was deleted without a sync of its folder may
be back. No operating system waits as long as this one may: here nothing is written by itself.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lab.hosts.simulator.random_delays import Chance

PART_BYTES = 512


@dataclass(frozen=True, slots=True)
class Write:
    """`data` in place of what there is from `at` on."""

    at: int
    data: bytes

    def change(self, content: bytearray) -> None:
        if len(content) < self.at:
            content.extend(bytes(self.at - len(content)))
        content[self.at : self.at + len(self.data)] = self.data

    def parts(self) -> Iterator["Write"]:
        """As a disk takes it: nothing reaches over a boundary of parts."""
        at, end = self.at, self.at + len(self.data)
        while at < end:
            until = min(end, (at // PART_BYTES + 1) * PART_BYTES)
            yield Write(at, self.data[at - self.at : until - self.at])
            at = until


@dataclass(frozen=True, slots=True)
class Truncate:
    """No longer than `size`."""

    size: int

    def change(self, content: bytearray) -> None:
        del content[self.size :]

    def parts(self) -> Iterator["Truncate"]:
        yield self


Change: TypeAlias = Write | Truncate


@dataclass(slots=True)
class WrittenFile:
    """`durable` is its content at the last sync, None where there was none; `since` is what came
    after; `content` is what whoever reads it sees.
    """

    content: bytearray = field(default_factory=bytearray)
    durable: bytearray | None = None
    since: list[Change] = field(default_factory=list)

    def change(self, by: Change) -> None:
        by.change(self.content)
        self.since.append(by)

    def sync(self) -> None:
        if self.durable is None:
            self.durable = bytearray(self.content)
        else:
            for each in self.since:
                each.change(self.durable)
        self.since.clear()

    def copy(self) -> "WrittenFile":
        durable = None if self.durable is None else bytearray(self.durable)
        return WrittenFile(bytearray(self.content), durable, list(self.since))

    def survivor(self, chance: Chance) -> "WrittenFile | None":
        """What is there when the power is back; None where that is no file."""
        left = list(_left([part for each in self.since for part in each.parts()], chance))
        if self.durable is None and not left:
            return None
        content = bytearray(self.durable or b"")
        for each in left:
            each.change(content)
        return WrittenFile(content, bytearray(content))


def _left(parts: Sequence[Change], chance: Chance) -> Sequence[Change]:
    """Of what was not synced."""
    if not parts:
        return ()
    match chance.up_to(3):
        case 0:
            return ()
        case 1:
            return parts
        case 2:
            return parts[: chance.up_to(len(parts))]
        case _:
            return [part for part in parts if chance.happens(0.5)]


Operation: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]


class Files:
    """Those of one disk by name; all but `after_power_loss` is for SQLite."""

    def __init__(self) -> None:
        self._files: dict[str, WrittenFile] = {}
        self._deleted: dict[str, WrittenFile] = {}
        self._shared: dict[str, list[Any]] = {}
        self._told: list[Operation] | None = None

    def has(self, name: str) -> bool:
        return name in self._files

    def read(self, name: str, at: int, count: int) -> bytes:
        """Less than `count` bytes at its end."""
        return bytes(self._files[name].content[at : at + count])

    def size(self, name: str) -> int:
        return len(self._files[name].content)

    def keep(self, name: str, content: bytes) -> None:
        """A file that is durable as it is."""
        self._tell(Files.keep, name, content)
        self._files[name] = WrittenFile(bytearray(content), bytearray(content))

    def drop(self, *names: str) -> None:
        """As if they had never been there, nor the memory that who had them open shared: SQLite
        leaves that behind when it closes a file that it cannot check in whole.
        """
        for name in names:
            self._files.pop(name, None)
            self._deleted.pop(name, None)
            self._shared.pop(name, None)

    def make(self, name: str) -> None:
        """Have it, empty where it is new."""
        self._tell(Files.make, name)
        self._files.setdefault(name, WrittenFile())

    def write(self, name: str, at: int, data: bytes) -> None:
        self._tell(Files.write, name, at, data)
        self._files[name].change(Write(at, data))

    def truncate(self, name: str, size: int) -> None:
        self._tell(Files.truncate, name, size)
        self._files[name].change(Truncate(size))

    def sync(self, name: str) -> None:
        """All of it is durable. The first time its folder is synced too, as SQLite does it."""
        self._tell(Files.sync, name)
        if self._files[name].durable is None:
            self._deleted.clear()
        self._files[name].sync()

    def delete(self, name: str, *, is_synced: bool) -> None:
        self._tell(Files._delete, name, is_synced)
        self._delete(name, is_synced)

    def _delete(self, name: str, is_synced: bool) -> None:
        gone = self._files.pop(name, None)
        self._deleted.pop(name, None)
        if gone is not None and not is_synced:
            self._deleted[name] = gone

    def _tell(self, act: Callable[..., None], *arguments: Any) -> None:
        if self._told is not None:
            self._told.append((act, arguments))

    def shared(self, name: str, page: int, page_bytes: int, *, is_to_grow: bool) -> Any | None:
        """A page of the memory that all who have the file open share."""
        pages = self._shared.setdefault(name, [])
        while is_to_grow and len(pages) <= page:
            pages.append(ctypes.create_string_buffer(page_bytes))
        return pages[page] if page < len(pages) else None

    def drop_shared(self, name: str) -> None:
        self._shared.pop(name, None)

    def after_power_loss(
        self, chance: Chance, under_way: Sequence[Callable[[], object]] = ()
    ) -> "Files":
        """What the next life finds. Of each transaction `under_way`, all that it does to files has
        happened up to a drawn point. Who has these files open may go on, and changes nothing.
        """
        found = Files()
        found._files = {name: file.copy() for name, file in self._files.items()}
        found._deleted = {name: file.copy() for name, file in self._deleted.items()}
        for act in under_way:
            told = self._told_by(act)
            for what, arguments in told[: chance.up_to(len(told))]:
                what(found, *arguments)
        found._settle(chance)
        return found

    def _told_by(self, act: Callable[[], object]) -> list[Operation]:
        told = self._told = []
        try:
            act()
        finally:
            self._told = None
        return told

    def _settle(self, chance: Chance) -> None:
        for name in sorted(self._deleted):
            if name not in self._files and chance.happens(0.5):
                self._files[name] = self._deleted[name]
        settled = ((name, self._files[name].survivor(chance)) for name in sorted(self._files))
        self._files = {name: file for name, file in settled if file is not None}
        self._deleted = {}
