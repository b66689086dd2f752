"""Append-only text files of which a SIGKILL spoils at most the last line.

Every line is one `os.write`. A file that ends without a newline, after a crash, gets one before
anything is added, so that a torn line stays one line and is seen as torn.
"""

from __future__ import annotations

import os
from pathlib import Path


class LineFile:
    """One file that is only appended to."""

    def __init__(self, path: Path, header: str = "") -> None:
        self._descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o644)
        size = os.fstat(self._descriptor).st_size
        if size == 0 and header:
            os.write(self._descriptor, header.encode())
        elif size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")

    def append(self, line: str) -> None:
        """`line` without its newline."""
        os.write(self._descriptor, line.encode("utf-8", "surrogateescape") + b"\n")

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)
