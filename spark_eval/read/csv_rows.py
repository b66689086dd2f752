"""Exchange's CSV logs by their `#Fields:` lines, so that every version's list reads the same way.

A file may have several: a cumulative update that is installed within the hour writes the next list
into the same file, and rows go by the last one before them. A row is sound when it has as many
values as there are fields, its quotes close, its date reads, and its line ends; anything else is
damage (F§1.1: values holding a comma are quoted, quotes double inside).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from spark_eval.read.damage import MALFORMED, NO_FIELDS
from spark_eval.read.lines import MOST_BYTES, Line

FIELDS = "#Fields:"
EXPORTED = "an export (Export-Csv) and no log: copy MSGTRK*.LOG from the server"
_EXPORT_MARKS = ("#TYPE ", '"PSComputerName"', '"RunspaceId"')
csv.field_size_limit(MOST_BYTES)


class LogRow(NamedTuple):
    """`values` by the names of the fields, lower case; `epoch_ms`, by the row's date."""

    line: int
    epoch_ms: int
    values: Mapping[str, str]


class BadRow(NamedTuple):
    line: int
    damage: str


@dataclass(slots=True)
class Header:
    """What the header lines of a file said so far: `names` of the fields."""

    names: list[str] = field(default_factory=list)
    is_export: bool = False


def log_rows(lines: Iterable[Line], header: Header) -> Iterator[LogRow | BadRow]:
    """Rows of one file; header lines are none."""
    for line in lines:
        if header.is_export:
            return
        if line.damage is not None:
            yield BadRow(line.number, line.damage)
        elif line.text.startswith(FIELDS):
            header.names = line.text.removeprefix(FIELDS).replace(" ", "").lower().split(",")
        elif line.number == 1 and line.text.startswith(_EXPORT_MARKS):
            header.is_export = True
            yield BadRow(1, EXPORTED)
        elif not line.text.startswith("#"):
            yield _row(line, header.names)


def _row(line: Line, names: Sequence[str]) -> LogRow | BadRow:
    if not names:
        return BadRow(line.number, NO_FIELDS)
    values = _values(line.text)
    if values is None or len(values) != len(names):
        return BadRow(line.number, MALFORMED)
    row = dict(zip(names, values, strict=True))
    epoch_ms = epoch_ms_of(row.get("date-time") or row.get("timestamp") or "")
    return (
        BadRow(line.number, MALFORMED) if epoch_ms is None else LogRow(line.number, epoch_ms, row)
    )


def _values(text: str) -> list[str] | None:
    if '"' not in text:
        return text.split(",")
    try:
        (values,) = csv.reader([text], strict=True)
    except (csv.Error, ValueError):
        return None
    return values


def epoch_ms_of(date: str) -> int | None:
    """Of an ISO 8601 date with its zone."""
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return None
    return None if moment.tzinfo is None else _milliseconds(moment)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _milliseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def integer(text: str | None) -> int | None:
    """None where it is none, or has more than 64 bits."""
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 else None


def date_of(epoch_ms: int) -> str:
    """`2026-01-05 08:01:01.459`, in UTC, with no more digits than it has."""
    moment = _EPOCH + timedelta(milliseconds=epoch_ms)
    millis = f".{epoch_ms % 1000:03d}".rstrip("0").rstrip(".")
    return moment.strftime("%Y-%m-%d %H:%M:%S") + millis
