"""Small files by which the lab and a node inform each other of something, in a folder of the node.

Either may be what it should not: the node of somebody else's image, the lab with more rights than
it. So no link is followed, neither of the file nor of its folder, nothing but a file is opened,
opening never waits, and reading ends.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BYTES_MAX = 64 * 1024


def read_shared(path: Path, most_bytes: int = BYTES_MAX) -> dict[str, object]:
    """The JSON object of a file. Raises OSError, ValueError."""
    with _folder(path) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path.name, flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(f"{path.name} is no file")
            raw = file.read(most_bytes)
    try:
        found = json.loads(raw)
    except RecursionError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path.name}: no JSON object")
    return found


def write_shared(path: Path, text: str) -> None:
    """Whole or not at all; whoever else has to read it may. Raises OSError."""
    with _folder(path) as folder:
        unfinished = f".{path.name}.new"  # of its own: both sides may write at once
        with suppress(FileNotFoundError):
            os.unlink(unfinished, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(unfinished, flags, 0o644, dir_fd=folder), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
        os.replace(unfinished, path.name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
