"""Where the bytes of a record come from: a folder, or a simulation that has just written them.

The readers ask for names and for bytes, and for nothing else.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from spark_eval.read.folder.run_folder import LOG_FILE, RECORD_FILE

WHOLE = ("plan.json", "manifest.json", "host.json", "files.json")
PACKED = ".gz"
PACKED_TIMES = 10
"""As large as a packed file is the log that was packed, about."""
_EVIDENCE = re.compile(f"(?:{RECORD_FILE})|(?:{LOG_FILE})")


class Files(Protocol):
    """The files of one record, by their path within the run folder."""

    def names(self) -> Iterator[str]: ...

    def open(self, name: str) -> BinaryIO:
        """Raises `OSError` where it cannot be read."""


class MemoryFiles:
    """Of a run that was written into memory."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents

    def names(self) -> Iterator[str]:
        return iter(self._contents)

    def open(self, name: str) -> BinaryIO:
        if name not in self._contents:
            raise FileNotFoundError(name)
        return io.BytesIO(self._contents[name])


class FolderFiles:
    """Of a run folder on this machine. A link is no file of a record."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> Iterator[str]:
        for pattern in ("*", "logs/**/*", "mailboxes/*", "external/*"):
            for path in self._path.glob(pattern):
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self._path).as_posix()

    def open(self, name: str) -> BinaryIO:
        return (self._path / name).open("rb")


def is_evidence(name: str) -> bool:
    """Whether the file is read at all: JSON Lines of the record, and logs, packed or not."""
    return _EVIDENCE.match(name.removesuffix(PACKED)) is not None


def read_bytes(folder: Path, name: str) -> int:
    """How many are read of a file, about; more than it has, where it is packed."""
    return (folder / name).stat().st_size * (PACKED_TIMES if name.endswith(PACKED) else 1)


def all_bytes(folder: Path) -> int:
    """How many are read of a run folder, about."""
    return sum(read_bytes(folder, name) for name in evidence(FolderFiles(folder)))


@contextmanager
def open_lines(files: Files, name: str) -> Iterator[BinaryIO]:
    """Unpacked, where it was packed by `gzip`. Raises `OSError`."""
    with files.open(name) as file:
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if name.endswith(PACKED) else file


def evidence(files: Files) -> list[str]:
    """What of the record is read line by line, in the order of names."""
    return sorted(name for name in files.names() if is_evidence(name))
