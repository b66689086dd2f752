"""Whether a record is as the lab left it: its files against the list that the lab wrote at its end.

A record that was never promised a list (of real servers, or made by hand) has nothing to be held
against. Only files that are evidence are looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spark_eval.read.given_json import read_json
from spark_eval.read.run_folder import LOG_FILE, RECORD_FILE, RunFolder

FILE_LIST = "files.json"
WHOLE_FILES = ("plan.json", "manifest.json", "host.json")
NO_LIST = "not there, though manifest.json names it"
NO_SHAPE = "not what it should hold"
GONE = "listed by the lab, and not there"
CHANGED = "not as the lab left it"
UNLISTED = "not listed by the lab"
DEPARTURES = (NO_LIST, GONE, CHANGED, UNLISTED)
MALFORMED = (ValueError, KeyError, TypeError, AttributeError)


def departures(folder: RunFolder) -> list[tuple[str, str]]:
    """Files that are not as the lab left them, each with what is wrong. Raises OSError."""
    path = folder.path / FILE_LIST
    if not path.is_file():
        return [(FILE_LIST, NO_LIST)] if folder.has_file_list else []
    try:
        listed = {str(each["file"]): each for each in read_json(path)["files"]}
        return list(_departures(folder, listed))
    except MALFORMED:
        return [(FILE_LIST, NO_SHAPE)]


def _departures(
    folder: RunFolder, listed: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    for name, entry in sorted(listed.items()):
        if not _is_evidence(name):
            continue
        path = folder.path / name
        if not path.is_file():
            yield name, GONE
        elif path.stat().st_size != int(entry["bytes"]) or _digest(path) != entry["sha256"]:
            yield name, CHANGED
    evidence = (path.relative_to(folder.path).as_posix() for path in folder.evidence())
    whole = (name for name in WHOLE_FILES if (folder.path / name).is_file())
    there = sorted([*evidence, *whole])
    yield from ((name, UNLISTED) for name in there if name not in listed)


def _is_evidence(name: str) -> bool:
    return name in WHOLE_FILES or any(re.match(each, name) for each in (RECORD_FILE, LOG_FILE))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
