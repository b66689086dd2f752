"""Where the lines of a multiplied run go: a run folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


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
