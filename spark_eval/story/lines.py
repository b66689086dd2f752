"""Lines of a run folder that contain given texts, with file and number.

Numbers count from 1; empty lines are left out. A file that is damaged is read as far as it goes,
and one of any size in little memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from spark_eval.read.folder.given_json import parse_json
from spark_eval.read.folder.line_blocks import blocks
from spark_eval.read.folder.run_folder import RunFolder, RunFolderError

FIELDS_LINE = re.compile(rb"^#Fields: *(.*?)\r?$", re.MULTILINE)
MOST_KEPT = 1_000_000
"""Lines of journals that a reader keeps; a run has some thousand."""


@dataclass(frozen=True, slots=True)
class Line:
    """`file` is relative to the run folder; `fields` is the file's `#Fields:` line, or empty; a
    last line without a line end is `torn`.
    """

    file: str
    number: int
    text: str
    fields: str = ""
    torn: bool = False

    @property
    def server(self) -> str:
        """Whose folder of logs the file is in; empty where it is in none."""
        parts = self.file.split("/")
        return parts[1].lower() if parts[0] == "logs" and len(parts) > 2 else ""

    def json_object(self) -> dict[str, Any]:
        """Empty where the line is no JSON object."""
        try:
            content = parse_json(self.text)
        except ValueError:
            return {}
        return content if isinstance(content, dict) else {}


@dataclass(frozen=True, slots=True)
class FolderLines:
    """Reads each file anew. Raises RunFolderError where a line is too long."""

    folder: RunFolder

    def records(self, pattern: str, texts: Collection[str] = ()) -> Iterator[Line]:
        """Lines of the JSON Lines files whose path matches; without `texts` all lines of them."""
        return self._lines(self.folder.records, pattern, texts)

    def journal(self, pattern: str) -> list[Line]:
        """All lines of such files, to keep. Raises RunFolderError where nobody could."""
        kept = list(islice(self.records(pattern), MOST_KEPT + 1))
        if len(kept) > MOST_KEPT:
            cause = f"run folder {self.folder.path}: {kept[-1].file}: has too many lines"
            raise RunFolderError(cause, f"{MOST_KEPT} is the most that is kept")
        return kept

    def logs(self, pattern: str, texts: Collection[str]) -> Iterator[Line]:
        """Lines of the logs whose path matches."""
        return self._lines(self.folder.logs, pattern, texts)

    def _lines(
        self, files: Callable[[], list[Path]], pattern: str, texts: Collection[str]
    ) -> Iterator[Line]:
        for path in files():
            name = path.relative_to(self.folder.path).as_posix()
            if re.search(pattern, name):
                yield from self._lines_with(texts, name, path)

    def _lines_with(self, texts: Collection[str], name: str, path: Path) -> Iterator[Line]:
        """Of a file; where there are no texts, every line."""
        fields: str | None = None
        for first, block in blocks(self.folder.path, path):
            content = block.decode("utf-8", "replace")
            present = [text for text in texts if text in content]
            if texts and not present:
                continue
            fields = self._fields(path) if fields is None else fields
            parts = content.removeprefix("\ufeff" if first == 1 else "").split("\n")
            last = first + len(parts) - 1  # what comes after the last end of a line, if anything
            for number, part in enumerate(parts, start=first):
                if part.strip() and (not texts or any(text in part for text in present)):
                    yield Line(name, number, part.removesuffix("\r"), fields, number == last)

    def _fields(self, path: Path) -> str:
        """The first `#Fields:` line of a log."""
        found = (FIELDS_LINE.search(block) for _, block in blocks(self.folder.path, path))
        header = None if path.suffix == ".jsonl" else next(filter(None, found), None)
        return header[1].decode("utf-8", "replace") if header else ""
