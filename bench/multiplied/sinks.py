"""Where the lines of a multiplied run go: a run folder, or one Parquet file of a sweep's lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import pyarrow as pa
import pyarrow.parquet as pq

from lab.campaigns.sweep.task import LINES
from lab.hosts.simulator.record_in_memory import FIELDS

BLOCK = 50_000  # lines that are written at a time


class Sink(Protocol):
    """Lines come file by file; one file may come in several parts."""

    def add(self, file: str, lines: Iterable[str]) -> None: ...

    def add_whole(self, file: str, parts: Iterable[str]) -> None:
        """A file that is one document, in parts."""


class Folder:
    """A run folder, which must not be there yet. Methods raise OSError."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True)
        self._path = path

    def add(self, file: str, lines: Iterable[str]) -> None:
        path = self._path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", buffering=1 << 20) as opened:
            opened.writelines(f"{line}\n" for line in lines)

    def add_whole(self, file: str, parts: Iterable[str]) -> None:
        with (self._path / file).open("w", encoding="utf-8") as opened:
            opened.writelines(parts)


class LinesFile:
    """One Parquet file, of one run. Use it as a context. Methods raise OSError."""

    def __init__(self, path: Path, run: str, seed: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(path, LINES, compression="zstd")
        self._run, self._seed = run, seed
        self._written: Counter[str] = Counter()
        self._fields: dict[str, str] = {}

    def add(self, file: str, lines: Iterable[str]) -> None:
        blocks = _blocks(lines)
        for block in blocks:
            self._write(file, block)
        if not self._written[file]:
            self._write(file, [""], first=0)
            self._written[file] = 0

    def add_whole(self, file: str, parts: Iterable[str]) -> None:
        self._write(file, ["".join(parts)])

    def _write(self, file: str, block: list[str], first: int | None = None) -> None:
        start = self._written[file] + 1 if first is None else first
        if start <= 1:
            top = (line for line in block[:8] if line.startswith(FIELDS))
            self._fields[file] = next(top, "").removeprefix(FIELDS)
        count = len(block)
        self._written[file] += count
        columns = [
            _same(self._run, count), pa.array([self._seed] * count, pa.int64()),
            _same(file, count), pa.array(range(start, start + count), pa.int32()),
            pa.array(block, pa.string()), _same(self._fields[file], count),
        ]  # fmt: skip
        self._writer.write_table(pa.table(columns, schema=LINES))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._writer.close()


def _same(value: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        block.append(line)
        if len(block) == BLOCK:
            yield block
            block = []
    if block:
        yield block
