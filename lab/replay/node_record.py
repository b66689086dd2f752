"""What a node of a run wrote down, life by life: what it heard, and the rows that it logged.

A life begins with `DatabaseOpened`, that of Active Manager with `ManagerOpened`, that of a front
end with `FrontEndStarted`, or with `DatabaseSetAside` or `DirectoryRead` before it. Rows find their
life by the monotonic clock, which stands in every record. A kill may tear the last line that it
meets, of the inputs and of each log; any other damage is an error. Nothing is judged here.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from lab.program.errors import ScenarioError
from lab.program.given_json import parse_json, read_text
from nodes.core.interface.inputs import (
    DatabaseOpened,
    DatabaseSetAside,
    DirectoryRead,
    FrontEndStarted,
    Input,
    ManagerOpened,
)
from nodes.shell.logs.exchange import CONNECTIVITY_FIELDS, TRACKING_FIELDS
from nodes.shell.logs.inputs import from_json

Values: TypeAlias = Mapping[str, Any]
Opened: TypeAlias = DatabaseOpened | ManagerOpened | FrontEndStarted

INPUTS = "inputs.jsonl"
DAMAGED = "a node that was killed tears its last line and no other"
CLOCKS = frozenset(["date-time", "log-id", "at_ms", "date", "mono_ns", "ahead_ms"])
# the shell's own lines: the core knows nothing of ports and processes
OF_THE_SHELL = frozenset(
    ["configured", "started", "stopped", "crashed", "configuration-refused", "session-failed"]
)


class Log(StrEnum):
    """The logs that effects of the core end in, by the names of their files."""

    tracking = "MSGTRK*.LOG"
    connectivity = "CONNECTLOG*.LOG"
    lifecycle = "lifecycle.jsonl"


FIELDS = {Log.tracking: TRACKING_FIELDS, Log.connectivity: CONNECTIVITY_FIELDS}
# where a row says its monotonic time, and behind which words; nothing follows it there
STAMPS = {
    Log.tracking: ("custom-data", ";S:Mono="),
    Log.connectivity: ("description", ";Mono="),
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One input with the line of inputs.jsonl that it stands in. `now_ms`: epoch ms, `ahead_ms`:
    how far the server's date was ahead of that.
    """

    line: int
    now_ms: int
    mono_ns: int
    happened: Input
    ahead_ms: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a log: its values but for the clock's. `values` of a torn line are None."""

    place: str
    mono_ns: int
    values: Values | None


@dataclass(frozen=True, slots=True)
class RecordedLife:
    """One life of a node's process. `last_word`: `stopped`, `crashed`, or nothing where it was
    killed."""

    number: int
    heard: tuple[Heard, ...]
    rows: Mapping[Log, tuple[Row, ...]]
    last_word: str = ""


def read_lives(folder: Path) -> tuple[RecordedLife, ...]:
    """The lives of the node whose logs lie in `folder`. Raises ScenarioError."""
    heard = list(_heard(folder / INPUTS))
    begins = [at for at, each in enumerate(heard) if _begins(heard, at)]
    if not begins or begins[0]:
        raise ScenarioError(f"{folder / INPUTS}: its first line opens no database", DAMAGED)
    parts = [tuple(heard[a:b]) for a, b in zip(begins, [*begins[1:], None], strict=True)]
    starts = [part[0].mono_ns for part in parts]
    shares = {log: _shares(_in_order(_rows(folder, log)), starts) for log in Log}
    return tuple(
        _life(number, part, {log: shares[log][number - 1] for log in Log})
        for number, part in enumerate(parts, start=1)
    )


def parsed(log: Log, text: str) -> tuple[Values, int]:
    """The values of a row but for those that are the clock's, and its monotonic time. Raises
    ValueError."""
    if log is Log.lifecycle:
        record = _object(text)
        event, mono_ns = record.get("event"), record.get("mono_ns", 0)
        if not isinstance(event, str) or not isinstance(mono_ns, int):
            raise ValueError("no event, or no time of one")
        return _without_clocks(record), mono_ns
    values = _cells(log, text)
    holder, mark = STAMPS[log]
    said, found, digits = values[holder].rpartition(mark)
    if not found:
        raise ValueError(f"no {mark} in {holder}")
    return _without_clocks({**values, holder: said}), int(digits)


def _heard(path: Path) -> Iterator[Heard]:
    lines = _lines(path)
    for number, text in enumerate(lines, start=1):
        try:
            document = _object(text)
        except ValueError as error:
            if number < len(lines) and not _is_beginning(lines[number]):
                raise ScenarioError(f"{path}:{number}: is damaged: {error}", DAMAGED) from error
            continue  # torn by the kill that ended a life
        yield _input(path, number, document)


def _input(path: Path, number: int, document: Values) -> Heard:
    try:
        happened = from_json(document)
        ahead_ms = int(document.get("ahead_ms", 0))
        now_ms, mono_ns = int(document["now_ms"]), int(document["mono_ns"])
        return Heard(number, now_ms, mono_ns, happened, ahead_ms)
    except (KeyError, TypeError, ValueError) as error:
        cause = f"{path}:{number}: no input that this version knows: {error!r}"
        raise ScenarioError(cause, "replay with the version that made the run") from error


def _is_beginning(text: str) -> bool:
    kinds = (DatabaseOpened, ManagerOpened, DatabaseSetAside, DirectoryRead)
    return any(f'"input":"{kind.__name__}"' in text for kind in kinds)


def _begins(heard: Sequence[Heard], at: int) -> bool:
    return _is_of_a_start(heard[at].happened) and not (at and _leads_on(heard[at - 1].happened))


def _is_of_a_start(happened: Input) -> bool:
    if isinstance(happened, DirectoryRead):
        return happened.at_start
    return isinstance(happened, DatabaseSetAside | Opened)


def _leads_on(happened: Input) -> bool:
    """Whether the database of the same life is still to be opened."""
    return _is_of_a_start(happened) and not isinstance(happened, Opened)


def _rows(folder: Path, log: Log) -> Iterator[Row]:
    for path in sorted(folder.glob(log.value)):
        for number, text in enumerate(_lines(path), start=1):
            if text and not text.startswith("#"):
                yield _row(log, f"{path.name}:{number}", text)


def _in_order(rows: Iterable[Row]) -> list[Row]:
    """By the monotonic clock: a server whose date was set back wrote on in an earlier file. A row
    that says no time stays behind the row before it.
    """
    placed: list[tuple[int, Row]] = []
    for row in rows:
        placed.append((row.mono_ns or (placed[-1][0] if placed else 0), row))
    return [row for _, row in sorted(placed, key=lambda each: each[0])]


def _row(log: Log, place: str, text: str) -> Row:
    try:
        values, mono_ns = parsed(log, text)
        return Row(place, mono_ns, values)
    except ValueError:
        return Row(place, 0, None)


def _cells(log: Log, text: str) -> dict[str, str]:
    try:
        (values,) = csv.reader([text], strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return dict(zip(FIELDS[log].split(","), values, strict=True))


def _shares(rows: Iterable[Row], starts: Sequence[int]) -> list[tuple[Row, ...]]:
    """Rows of each life. A row that says no time belongs to the life of the row before it."""
    shares: list[list[Row]] = [[] for _ in starts]
    life = 0
    for row in rows:
        while life + 1 < len(starts) and row.mono_ns >= starts[life + 1]:
            life += 1
        shares[life].append(row)
    return [tuple(share) for share in shares]


def _life(
    number: int, heard: tuple[Heard, ...], rows: Mapping[Log, tuple[Row, ...]]
) -> RecordedLife:
    """The shell's own lines are taken out, and with them what they say of the end."""
    written = rows[Log.lifecycle]
    words = [row.values["event"] for row in written if row.values]
    ends = [word for word in words if word in ("stopped", "crashed")]
    of_core = tuple(r for r in written if not r.values or r.values["event"] not in OF_THE_SHELL)
    life = RecordedLife(number, heard, {**rows, Log.lifecycle: of_core})
    return replace(life, last_word=ends[-1]) if ends else life


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path, errors="replace").removesuffix("\n").split("\n")
    except ValueError as error:
        raise ScenarioError(f"{path.parent}: {error}", "is it a run folder's?") from error


def _object(text: str) -> dict[str, Any]:
    found = parse_json(text)
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return found


def _without_clocks(values: Values) -> Values:
    return {name: value for name, value in values.items() if name not in CLOCKS}
