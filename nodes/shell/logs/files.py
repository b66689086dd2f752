"""Append-only text files of which a SIGKILL spoils at most the last line.

Each line is one `os.write`. A file that ends without a newline, after a crash, gets one before
anything is added, so that a torn line stays one line and is seen as torn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class LogFiles(Protocol):
    """Where the lines of a node's logs go: a folder, or wherever another host keeps them."""

    def append(self, name: str, line: str) -> None:
        """To the file of that name."""

    def append_dated(self, prefix: str, stamp: str, header: Callable[[], str], line: str) -> None:
        """To the file of that series and date stamp; `header` gives the lines at its top."""

    def close(self) -> None: ...


class LineFile:
    """One file that is only appended to. Methods raise OSError."""

    def __init__(self, path: Path, header: str = "") -> None:
        """`header`: whole lines, written where the file is new."""
        self._descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
        size = os.fstat(self._descriptor).st_size
        if size == 0 and header:
            self._write(header.encode())
        elif size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            self._write(b"\n")

    def append(self, line: str) -> None:
        """`line` without its newline; it has none inside."""
        self._write(line.encode("utf-8", "backslashreplace") + b"\n")

    def _write(self, content: bytes) -> None:
        written = os.write(self._descriptor, content)
        if written < len(content):  # the disk has become full
            os.write(self._descriptor, content[written:])

    def sync(self) -> None:
        """What was appended is durable when this returns."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


class DatedFile:
    """A series of line files, one for each date stamp: `<prefix><stamp>-1.LOG` in `folder`."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder = folder
        self._prefix = prefix
        self._stamp = ""
        self._file: LineFile | None = None

    def append(self, stamp: str, header: Callable[[], str], line: str) -> None:
        """Append to the file of that stamp; a file once left is closed."""
        if self._file is None or stamp != self._stamp:
            self.close()
            self._file = LineFile(self._folder / f"{self._prefix}{stamp}-1.LOG", header())
            self._stamp = stamp
        self._file.append(line)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class LogFolder:
    """Log files in a folder, made where it is missing. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, LineFile] = {}
        self._series: dict[str, DatedFile] = {}

    def append(self, name: str, line: str) -> None:
        if name not in self._files:
            self._files[name] = LineFile(self._folder / name)
        self._files[name].append(line)

    def append_dated(self, prefix: str, stamp: str, header: Callable[[], str], line: str) -> None:
        if prefix not in self._series:
            self._series[prefix] = DatedFile(self._folder, prefix)
        self._series[prefix].append(stamp, header, line)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        for series in self._series.values():
            series.close()
