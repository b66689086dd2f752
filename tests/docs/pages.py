"""The project's pages as tests read them: sections by heading, tables by row, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADING = re.compile(r"^#{1,6} (.*)$")
CODE = re.compile(r"`([^`]+)`")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, empty for what a terminal shows, and its text."""

    language: str
    text: str


def read(page: str) -> str:
    """The text of a page, by its path in the project."""
    return (ROOT / page).read_text(encoding="utf-8")


def pages() -> list[str]:
    """Every page that people read, by path in the project."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("scenarios/*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def sections(page: str) -> dict[str, str]:
    """Heading to the text below it, up to the next heading. Two headings alike are an error."""
    found: dict[str, str] = {}
    heading = ""
    for line in FENCED.sub("", read(page)).splitlines():
        matched = HEADING.match(line)
        if matched:
            heading = matched[1]
            assert heading not in found, f"{page} has two headings {heading!r}"
        found[heading] = found.get(heading, "") + ("" if matched else f"{line}\n")
    return found


def rows(text: str) -> list[list[str]]:
    """The cells of every table row in `text`, without header lines and rules."""
    lines = text.splitlines()
    rules = {at for at, line in enumerate(lines) if line.startswith("|---")}
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for at, line in enumerate(lines)
        if line.startswith("|") and at not in rules and at + 1 not in rules
    ]


def named(table: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    """The other cells of each row, by the words of code in its first one."""
    return {name: row[1:] for row in table for name in CODE.findall(row[0])}


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for matched in FENCED.finditer(read(page)):
        yield Block(matched[1], matched[2])
