"""files.json: every file of a record with its size and digest, written when the record is whole.

manifest.json names it from the first moment, so a record without it is recognised as not whole.
What is written later (the evaluation's files) is not in it.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lab.program.whole_file import write_whole
from lab.record.folder import json_text

FILE_LIST = "files.json"
LATER = "evaluation"


def write_file_list(folder: Path) -> None:
    """Raises OSError."""
    files = [_entry(folder, name) for name in sorted(_names(folder))]
    write_whole(folder / FILE_LIST, json_text({"version": 1, "files": files}))


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        place = path.relative_to(folder)
        if path.is_file() and place.parts[0] not in (LATER, FILE_LIST):
            yield place.as_posix()


def _entry(folder: Path, name: str) -> dict[str, object]:
    with (folder / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"file": name, "bytes": file.tell(), "sha256": digest}
