"""Whether a record is as the lab left it: its files against the list that the lab wrote at its end.

A record that was never promised a list (of real servers, or made by hand) has nothing to be held
against. Only files that are evidence are looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from spark_eval.read.damage import NO_SHAPE, Damage, damaged
from spark_eval.read.folder.files import Files, evidence, is_evidence
from spark_eval.read.json_values import Malformed, row_of, strict_json
from spark_eval.read.plan import Manifest

FILE_LIST = "files.json"
WHOLE_FILES = ("plan.json", "manifest.json", "host.json")
NO_LIST = "not there, though manifest.json names it"
GONE = "listed by the lab, and not there"
CHANGED = "not as the lab left it"
UNLISTED = "not listed by the lab"
DEPARTURES = (NO_LIST, GONE, CHANGED, UNLISTED)


class _Listed(NamedTuple):
    file: str | None
    bytes: int | None
    sha256: str | None


class _List(NamedTuple):
    files: tuple[_Listed, ...] | None


def departures(files: Files, manifest: Manifest) -> list[Damage]:
    """Files that are not as the lab left them. Raises `OSError`."""
    there = set(files.names())
    if FILE_LIST not in there:
        return [damaged(FILE_LIST, None, NO_LIST)] if manifest.file_list is not None else []
    try:
        listed = _entries(_json(files))
    except Malformed:
        return [damaged(FILE_LIST, None, NO_SHAPE)]
    return [damaged(name, None, what) for name, what in _departures(files, listed, there)]


def _json(files: Files) -> Any:
    with files.open(FILE_LIST) as file:
        return strict_json(file.read())


def _entries(content: Any) -> dict[str, _Listed]:
    """By name. Raises `Malformed`."""
    listed = row_of(_List, content).files
    if listed is None or any(None in each for each in listed):
        raise Malformed("an entry lacks something")
    return {str(each.file): each for each in listed}


def _departures(
    files: Files, listed: dict[str, _Listed], there: set[str]
) -> Iterator[tuple[str, str]]:
    for name, entry in sorted(listed.items()):
        if name not in WHOLE_FILES and not is_evidence(name):
            continue
        if name not in there:
            yield name, GONE
        elif not _is_as_listed(files, entry):
            yield name, CHANGED
    known = sorted([*evidence(files), *(name for name in WHOLE_FILES if name in there)])
    yield from ((name, UNLISTED) for name in known if name not in listed)


def _is_as_listed(files: Files, entry: _Listed) -> bool:
    with files.open(str(entry.file)) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        return file.tell() == entry.bytes and digest == entry.sha256
