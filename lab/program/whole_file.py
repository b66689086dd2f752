"""Files that are there whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give the path to write to; when the block ends without an error, it becomes `path` in one
    step. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    yield unfinished
    unfinished.replace(path)


def write_whole(path: Path, text: str) -> None:
    """A reader never sees half of it, and no link is followed: it is replaced. Raises OSError."""
    with whole_file(path) as unfinished, unfinished.open("x", encoding="utf-8") as file:
        file.write(text)
