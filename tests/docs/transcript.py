"""What a page shows of a terminal, held against what a terminal did show.

`…` alone on a line stands for any lines, at the end of a line for the rest of it. Dates and
durations are those of the machine that wrote the page and are not compared, nor are the
milliseconds of lab time, which every change of a node's steps moves a little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ELLIPSIS = "…"
NOT_COMPARED = (
    (re.compile(r"\b\d{8}T\d{6}Z\b"), "<date>"),
    (re.compile(r"\b\d+(?:[.:]\d+)? (?:s|min|h)\b"), "<time>"),
    (re.compile(r"^(\d+:\d\d:\d\d)\.\d{3}\b"), r"\1"),
)


def first_difference(shown: str, printed: str) -> str | None:
    """The first lines of the page that the terminal did not print there; None where all fit."""
    lines = [_neutral(line) for line in printed.splitlines()]
    parts = _parts(shown.splitlines())
    at = 0
    for number, part in enumerate(parts):
        is_first, is_last = number == 0, number == len(parts) - 1
        if not part:
            continue  # the page begins or ends with an ellipsis
        last = len(lines) - len(part)
        first = last if is_last else at
        places = range(max(at, first), (0 if is_first else last) + 1)
        found = next((place for place in places if _fits(part, lines[place:])), None)
        if found is None:
            return "\n".join(part)
        at = found + len(part)
    return None


def _parts(shown: Sequence[str]) -> list[list[str]]:
    """Lines that follow each other, between lines that stand for any."""
    parts: list[list[str]] = [[]]
    for line in map(_neutral, shown):
        if line.strip() == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _fits(part: Sequence[str], lines: Sequence[str]) -> bool:
    return all(_is_shown(*pair) for pair in zip(part, lines, strict=False))


def _is_shown(shown: str, printed: str) -> bool:
    if shown.endswith(ELLIPSIS):
        return printed.startswith(shown.removesuffix(ELLIPSIS).rstrip())
    return shown == printed


def _neutral(line: str) -> str:
    for pattern, word in NOT_COMPARED:
        line = pattern.sub(word, line)
    return line.rstrip()
