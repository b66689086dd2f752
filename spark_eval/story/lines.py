"""Lines of a run folder that contain given texts, with file and number.

Numbers count from 1; empty lines are left out. A file that is damaged is read as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_eval.read.given_json import parse_json
from spark_eval.read.run_folder import RunFolder

FIELDS_LINE = re.compile(r"^#Fields: *(.*?)\r?$", re.MULTILINE)


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
    """Reads each file anew: a run folder is small beside a Spark session."""

    folder: RunFolder

    def records(self, pattern: str, texts: Collection[str] = ()) -> Iterator[Line]:
        """Lines of the JSON Lines files whose path matches; without `texts` all lines of them."""
        return self._lines(self.folder.records, pattern, texts)

    def logs(self, pattern: str, texts: Collection[str]) -> Iterator[Line]:
        """Lines of the logs whose path matches."""
        return self._lines(self.folder.logs, pattern, texts)

    def _lines(
        self, files: Callable[[], list[Path]], pattern: str, texts: Collection[str]
    ) -> Iterator[Line]:
        for path in files():
            name = path.relative_to(self.folder.path).as_posix()
            if re.search(pattern, name):
                yield from lines_with(texts, name, path.read_bytes().decode("utf-8", "replace"))


def lines_with(texts: Collection[str], file: str, content: str) -> Iterator[Line]:
    """Lines of `content` that contain one of `texts`; every line where there are none."""
    present = [text for text in texts if text in content]
    if texts and not present:
        return
    header = FIELDS_LINE.search(content)
    fields = header[1] if header else ""
    parts = content.removeprefix("\ufeff").split("\n")
    for number, part in enumerate(parts, start=1):
        if part.strip() and (not texts or any(text in part for text in present)):
            yield Line(file, number, part.removesuffix("\r"), fields, number == len(parts))
