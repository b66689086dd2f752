"""Places in the order of a server's rows, as columns: a tenth of the memory of as many tuples."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from spark_eval.read.names import Ref

Order = tuple[int, int, Ref]
"""When a row was, in lab ms and on the monotonic clock, and where it stands."""


class Orders:
    """Once sorted, they are asked by time and by place. Parts add up to the whole."""

    __slots__ = ("_at_ms", "_files", "_in_file", "_lines", "_mono_ns")

    def __init__(self) -> None:
        self._at_ms, self._mono_ns = array("q"), array("q")
        self._in_file, self._lines = array("l"), array("l")
        self._files: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._at_ms)

    def append(self, order: Order) -> None:
        at_ms, mono_ns, ref = order
        self._at_ms.append(at_ms)
        self._mono_ns.append(mono_ns)
        self._in_file.append(self._files.setdefault(ref.file, len(self._files)))
        self._lines.append(ref.line)

    def add(self, other: Orders) -> None:
        here = [self._files.setdefault(name, len(self._files)) for name in other._files]
        self._at_ms += other._at_ms
        self._mono_ns += other._mono_ns
        self._in_file.extend(here[each] for each in other._in_file)
        self._lines += other._lines

    def sort(self) -> None:
        rank = {each: place for place, each in enumerate(sorted(self._files))}
        ranks = [rank[name] for name in self._files]
        columns = (self._at_ms, self._mono_ns, (ranks[x] for x in self._in_file), self._lines)
        ordered = sorted(zip(*columns, strict=True))
        self._files = rank
        self._at_ms = array("q", (each[0] for each in ordered))
        self._mono_ns = array("q", (each[1] for each in ordered))
        self._in_file = array("l", (each[2] for each in ordered))
        self._lines = array("l", (each[3] for each in ordered))

    def by(self, order: Order) -> int:
        """How many there are by a place, itself included."""
        at_ms, mono_ns, ref = order
        names, alike = (
            list(self._files),
            range(bisect_left(self._at_ms, at_ms), bisect_right(self._at_ms, at_ms)),
        )
        return alike.start + bisect_right(
            alike,
            (mono_ns, *ref),
            key=lambda x: (self._mono_ns[x], names[self._in_file[x]], self._lines[x]),
        )

    def first_ms(self, after_ms: int) -> int | None:
        """The first time after that one."""
        place = bisect_right(self._at_ms, after_ms)
        return self._at_ms[place] if place < len(self._at_ms) else None

    def last_ms(self, by_ms: int) -> int | None:
        """The last time by that one, itself included."""
        place = bisect_right(self._at_ms, by_ms)
        return self._at_ms[place - 1] if place else None
