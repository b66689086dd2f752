"""What was read of a run's lines, as typed rows in lab time; nothing is derived.

A line is sound when it is one JSON object and no more, says what its kind must say, and its values
have the types that they should; anything else is damage, counted, unused. Each file is read once, a
stretch of lines at a time, and what stretches say adds up to the record.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from spark_eval.read.clocks import Life, lives_of
from spark_eval.read.clocks_off import ClocksOff
from spark_eval.read.connectivity_log import connectivity_row
from spark_eval.read.csv_rows import BadRow, Header, LogRow, log_rows
from spark_eval.read.damage import (
    MALFORMED,
    NOT_UNPACKED,
    Damage,
    Span,
    damaged,
    placed,
)
from spark_eval.read.folder.files import PACKED, Files, evidence, open_lines
from spark_eval.read.heading import Heading, heading_of
from spark_eval.read.json_lines.readers import READERS, kind_of
from spark_eval.read.json_lines.rows_by_kind import Rows
from spark_eval.read.json_values import Malformed, strict_json
from spark_eval.read.lines import TORN, Line, lines
from spark_eval.read.names import Ref, is_probe
from spark_eval.read.rows import ConnectivityRow, TrackingRow, grouped
from spark_eval.read.tracking_log import tracking_row

# what gzip says of a file that is none of its, or was cut
PACKED_BADLY = (gzip.BadGzipFile, EOFError, zlib.error)


@dataclass(slots=True)
class Lines:
    """What some lines of a record say. `rows` are those of JSON Lines; probes are in `probes`
    alone. `damage` with its place in the file, `bad` that of logs, whose place in time follows from
    `sound`.
    """

    off: ClocksOff
    rows: Rows = field(default_factory=Rows)
    tracking: list[TrackingRow] = field(default_factory=list)
    probes: list[TrackingRow] = field(default_factory=list)
    connectivity: list[ConnectivityRow] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    bad: list[Damage] = field(default_factory=list)
    sound: list[Span] = field(default_factory=list)

    def add(self, other: Lines) -> None:
        self.off.add(other.off)
        self.rows.add(other.rows)
        self.tracking += other.tracking
        self.probes += other.probes
        self.connectivity += other.connectivity
        self.damage += other.damage
        self.bad += other.bad
        self.sound += other.sound

    def read(
        self, name: str, stretch: Iterable[Line], heading: Heading, header: Header | None = None
    ) -> None:
        """Lines of a file that follow each other; `header` is what those before them said."""
        if (kind := kind_of(name.removesuffix(PACKED))) is None:
            self._log(name, stretch, heading, header or Header())
        else:
            self._json_lines(name, kind, stretch, heading)

    def _json_lines(self, name: str, kind: str, stretch: Iterable[Line], heading: Heading) -> None:
        """An object that is closed is whole, whether or not its line is ended."""
        read = READERS[kind]
        for line in stretch:
            if line.damage is not None and line.damage != TORN:
                self.damage.append(damaged(name, line.number, line.damage))
                continue
            try:
                read(self.rows, strict_json(line.text), Ref(name, line.number), heading.clock)
            except Malformed:
                self.damage.append(damaged(name, line.number, line.damage or MALFORMED))

    def _log(self, name: str, stretch: Iterable[Line], heading: Heading, header: Header) -> None:
        read, is_whole = (self._tracked if "/MSGTRK" in name else self._connected), False
        for row in log_rows(stretch, header):
            if isinstance(row, BadRow):
                self.bad.append(damaged(name, row.line, row.damage))
                is_whole = False
                continue
            ref, at_ms, off_ms = read(name, row, heading)
            self.off.take(ref, at_ms, off_ms)
            if not is_whole:
                self.sound.append(Span(ref, at_ms, at_ms, is_off=False))
            self.sound[-1] = self.sound[-1].and_row(at_ms, off_ms)
            is_whole = True

    def _tracked(self, name: str, row: LogRow, heading: Heading) -> tuple[Ref, int, int]:
        said, off_ms = tracking_row(name, row, heading.origin_ms, heading.clock)
        (self.probes if is_probe(said.message_id) else self.tracking).append(said)
        return said.ref, said.at_ms, off_ms

    def _connected(self, name: str, row: LogRow, heading: Heading) -> tuple[Ref, int, int]:
        said, off_ms = connectivity_row(name, row, heading.origin_ms, heading.clock)
        self.connectivity.append(said)
        return said.ref, said.at_ms, off_ms


@dataclass(frozen=True, slots=True)
class Record:
    """The evidence: what its lines say by the clocks of those who wrote them. `lives` by server;
    `damage` as it was found, with its place.
    """

    heading: Heading
    rows: Rows
    tracking: list[TrackingRow]
    probes: list[TrackingRow]
    connectivity: list[ConnectivityRow]
    lives: dict[str, tuple[Life, ...]]
    damage: list[Damage]
    off: ClocksOff


def read_record(files: Files) -> Record:
    """Raises `NoPlanError`, `OSError`."""
    heading = heading_of(files)
    read = no_lines(heading)
    for name in evidence(files):
        read_file(read, files, name, heading)
    return record_of(heading, read)


def read_file(read: Lines, files: Files, name: str, heading: Heading) -> None:
    """Of a packed file that is not whole, what comes before counts. Raises `OSError`."""
    try:
        with open_lines(files, name) as file:
            read.read(name, lines(file), heading)
    except PACKED_BADLY:
        read.damage.append(damaged(name, None, NOT_UNPACKED))


def no_lines(heading: Heading) -> Lines:
    faults = heading.plan.faults
    wrong = frozenset((each.server or "").lower() for each in faults if each.kind == "skew_clock")
    return Lines(ClocksOff(heading.clock.finest_ms, wrong))


def record_of(heading: Heading, read: Lines) -> Record:
    lives = _lives(read.rows)
    read.rows.go_by(lives)
    for row in read.rows.lifecycle:
        if row.at_ms is not None:
            read.off.take(row.ref, row.at_ms, row.off_ms)
    damage = [*heading.damage, *read.damage, *placed(read.bad, read.sound)]
    return Record(
        heading, read.rows, read.tracking, read.probes, read.connectivity, lives, damage, read.off
    )


def _lives(rows: Rows) -> dict[str, tuple[Life, ...]]:
    of_server = grouped(rows.lifecycle, lambda row: row.server)
    return {server: lives_of(own) for server, own in of_server.items()}
