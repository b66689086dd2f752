"""Files that are there whole or not at all, and lines that are written whole.

The system says which file it could not open, but not which it could not write to: what is raised
here names it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give the path to write to; when the block ends without an error, it becomes `path` in one
    step. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    with _named(path):
        unfinished.unlink(missing_ok=True)
        yield unfinished
        unfinished.replace(path)


def write_whole(path: Path, text: str) -> None:
    """A reader never sees half of it, and no link is followed: it is replaced. Raises OSError."""
    with whole_file(path) as unfinished, unfinished.open("x", encoding="utf-8") as file:
        file.write(text)


def append_line(descriptor: int, path: Path, line: str) -> None:
    """`line` without its end, in one write of the system unless the disk is nearly full.
    Raises OSError."""
    pending = f"{line}\n".encode()
    with _named(path):
        while pending:
            pending = pending[os.write(descriptor, pending) :]


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
