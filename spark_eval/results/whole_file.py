"""Files that are written whole or not at all, into a folder that may be somebody else's."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """A reader never sees half of a file, and no link is followed: it is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    with unfinished.open("x", encoding="utf-8") as file:
        file.write(text)
    unfinished.replace(path)
