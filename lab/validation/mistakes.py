"""A mistake in a file a person wrote: where it is, what it is about, and what would be right.

A mistake is a value, collected and never raised, so that all of them are shown at once. It is
printed as `file:line:column: what, value, rule` with a `hint:` line below it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.program.given_file import real_path
from lab.program.printable import printable


@dataclass(frozen=True, slots=True, order=True)
class FilePosition:
    """Where something stands in a file; line and column count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One mistake: `what` it is about, the `value` found, the `rule` it breaks, a way out."""

    file: str
    place: FilePosition
    what: str
    value: str
    rule: str
    hint: str = ""

    def __str__(self) -> str:
        words = [printable(part) for part in (self.what, self.value, self.rule) if part]
        where = f"{printable(self.file)}:{self.place.line}:{self.place.column}"
        line = f"{where}: {', '.join(words)}"
        return f"{line}\nhint: {printable(self.hint)}" if self.hint else line


def in_order(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """The mistakes by file and place, each once."""
    return tuple(sorted(set(mistakes)))


def display_name(path: Path) -> str:
    """The path as a person would type it from here."""
    try:
        return str(real_path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere, or the folder that we are in is gone
        return str(path)
