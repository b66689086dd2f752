"""Lines of the run folder that a page shows beside their number, and where its journals name what.

A file that is missing or damaged shows nothing; nothing outside of the folder is read. A line that
is too long ends it, with its place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spark_eval.read.folder.given_json import parse_json
from spark_eval.read.folder.line_blocks import blocks

LONGEST = 600
MOST_LINES = 1_000_000
Line = tuple[str, int]


def lines_shown(folder: Path, wanted: Iterable[Line]) -> dict[Line, str]:
    """The text of each wanted line, cut at `LONGEST` characters."""
    by_file: dict[str, set[int]] = {}
    for file, line in wanted:
        by_file.setdefault(file, set()).add(line)
    return {
        (file, number): text if len(text) <= LONGEST else text[:LONGEST] + " …"
        for file, numbers in by_file.items()
        for number, text in _numbered(folder, file, max(numbers))
        if number in numbers
    }


def journal_lines(folder: Path, file: str, name: str) -> dict[str, int]:
    """The first line of each fault (`name` is `fault`) or operation in its journal."""
    found: dict[str, int] = {}
    for number, text in _numbered(folder, file, MOST_LINES):
        try:
            row: Any = parse_json(text)
        except ValueError:
            continue
        if isinstance(row, Mapping) and isinstance(row.get(name), str):
            found.setdefault(row[name], number)
    return found


def _numbered(folder: Path, file: str, last: int) -> Iterator[tuple[int, str]]:
    path = Path(os.path.realpath(folder / file))  # resolve() gives up where links go round
    if not path.is_relative_to(os.path.realpath(folder)) or not os.path.isfile(path):
        return
    for first, block in blocks(Path(os.path.realpath(folder)), path):
        for number, text in enumerate(block.removesuffix(b"\n").split(b"\n"), start=first):
            if number > last:
                return
            yield number, text.decode("utf-8", "replace").removesuffix("\r")
