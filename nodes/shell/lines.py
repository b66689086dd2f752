"""Append-only text files of which a SIGKILL spoils at most the last line.

Each line is one `os.write`. A file that ends without a newline, after a crash, gets one before
anything is added, so that a torn line stays one line and is seen as torn.
"""

from __future__ import annotations

import os
from pathlib import Path


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

    def append(self, stamp: str, header: str, line: str) -> None:
        """Append to the file of that stamp; a file once left is closed."""
        if self._file is None or stamp != self._stamp:
            self.close()
            self._file = LineFile(self._folder / f"{self._prefix}{stamp}-1.LOG", header)
            self._stamp = stamp
        self._file.append(line)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
