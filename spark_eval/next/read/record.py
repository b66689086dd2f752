"""Everything that was read of one run, as typed rows in lab time; nothing is derived.

A line is sound when it is one JSON object and no more, says what its kind must say, and its values
have the types that they should; anything else is damage, counted, unused. Each file is read once.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spark_eval.next.read.clocks import LabClock, Life, lives_of
from spark_eval.next.read.connectivity_log import connectivity_row
from spark_eval.next.read.csv_rows import BadRow, epoch_ms_of, log_rows
from spark_eval.next.read.damage import (
    MALFORMED,
    NO_SHAPE,
    NOT_UNPACKED,
    Damage,
    Sound,
    damaged,
    placed,
)
from spark_eval.next.read.files import PACKED, Files, evidence, open_lines
from spark_eval.next.read.json_lines import READERS, Place, Rows, kind_of
from spark_eval.next.read.json_values import Malformed, strict_json
from spark_eval.next.read.lines import lines
from spark_eval.next.read.names import is_probe
from spark_eval.next.read.plan import (
    NO_HOST,
    NO_MANIFEST,
    Host,
    Manifest,
    Plan,
    host_of,
    manifest_of,
    plan_of,
)
from spark_eval.next.read.rows import ConnectivityRow, TrackingRow
from spark_eval.next.read.tracking_log import tracking_row

SIMULATOR = "simulator"
# what gzip says of a file that is none of its, or was cut
PACKED_BADLY = (gzip.BadGzipFile, EOFError, zlib.error)
PLAN = "plan.json"
NO_DATE = "the start of lab time is no date"


class NoPlanError(Exception):
    """Nothing says what should have happened."""


@dataclass(frozen=True, slots=True)
class Record:
    """The evidence. `rows` are those of JSON Lines; probes are in `probes` alone. `lives` by
    server; `damage` as it was found, with its place; `off`, rows whose date was not lab time.
    """

    plan: Plan
    host: Host
    manifest: Manifest
    files: frozenset[str]
    rows: Rows
    tracking: list[TrackingRow]
    probes: list[TrackingRow]
    connectivity: list[ConnectivityRow]
    lives: dict[str, tuple[Life, ...]]
    damage: list[Damage]
    clock: LabClock
    off: list[Sound]

    @property
    def is_simulated(self) -> bool:
        return self.manifest.host == SIMULATOR

    @property
    def is_of_lab(self) -> bool:
        """Whether a host of the lab's ran it; else it is somebody else's, made by hand."""
        return self.manifest.host is not None

    @property
    def is_made(self) -> bool:
        """Whether the lab made it: its plan names what it sends."""
        return bool(self.plan.messages)


def read_record(files: Files) -> Record:
    """Raises `NoPlanError`, `OSError`."""
    return _Reading(files).record()


def lab_clock(plan: Plan, host: Host, manifest: Manifest) -> LabClock:
    """A simulator has no wall clock: its monotonic one is lab time, whatever speed the plan
    names.
    """
    speed = 1.0 if manifest.host == SIMULATOR else plan.clock.speed or 1.0
    resolution_ms = host.clock_resolution_ms or 0.0
    return LabClock(host.monotonic_zero_ns, speed, -int(-min(resolution_ms, 1e15) // 1))


@dataclass(slots=True)
class _Reading:
    """One pass over the files of a record."""

    files: Files
    damage: list[Damage] = field(default_factory=list)
    rows: Rows = field(default_factory=Rows)
    tracking: list[TrackingRow] = field(default_factory=list)
    probes: list[TrackingRow] = field(default_factory=list)
    connectivity: list[ConnectivityRow] = field(default_factory=list)
    sound: list[Sound] = field(default_factory=list)
    bad: list[Damage] = field(default_factory=list)

    def record(self) -> Record:
        plan, host, manifest = self._plan(), self._host(), self._manifest()
        clock = lab_clock(plan, host, manifest)
        origin_ms = epoch_ms_of(manifest.origin or plan.clock.origin or "")
        if origin_ms is None:
            self.damage.append(damaged(PLAN, None, NO_DATE))
            origin_ms = 0
        for name in evidence(self.files):
            try:
                self._lines_of(name, origin_ms, clock)
            except PACKED_BADLY:
                self.damage.append(damaged(name, None, NOT_UNPACKED))
        lives = self._lives()
        self.rows.go_by(lives)
        return Record(
            plan, host, manifest, frozenset(self.files.names()), self.rows, self.tracking,
            self.probes, self.connectivity, lives, self.damage + placed(self.bad, self.sound),
            clock, self._off(),
        )  # fmt: skip

    def _off(self) -> list[Sound]:
        told = (
            Sound(row.ref, row.at_ms, row.off_ms)
            for row in self.rows.lifecycle
            if row.at_ms is not None and row.off_ms
        )
        return [*(row for row in self.sound if row.off_ms), *told]

    # what stands in one file of JSON

    def _plan(self) -> Plan:
        try:
            return plan_of(self._whole(PLAN))
        except FileNotFoundError as error:
            raise NoPlanError(f"no {PLAN}, so nothing says what should have happened") from error
        except Malformed:
            self.damage.append(damaged(PLAN, None, NO_SHAPE))
            return plan_of({})

    def _host(self) -> Host:
        found = self._optional("host.json", host_of)
        return NO_HOST if found is None else found

    def _manifest(self) -> Manifest:
        found = self._optional("manifest.json", manifest_of)
        return NO_MANIFEST if found is None else found

    def _optional(self, name: str, read: Callable[[Any], Any]) -> Any:
        try:
            return read(self._whole(name))
        except FileNotFoundError:
            return None
        except Malformed:
            self.damage.append(damaged(name, None, NO_SHAPE))
            return None

    def _whole(self, name: str) -> Any:
        with self.files.open(name) as file:
            return strict_json(file.read())

    # what is read line by line

    def _lines_of(self, name: str, origin_ms: int, clock: LabClock) -> None:
        """Of a packed file that is not whole, what comes before counts. Raises PACKED_BADLY."""
        if (kind := kind_of(name.removesuffix(PACKED))) is None:
            self._log(name, origin_ms, clock)
        else:
            self._json_lines(name, kind, clock)

    def _json_lines(self, name: str, kind: str, clock: LabClock) -> None:
        read = READERS[kind]
        for place, text in self._texts(name):
            try:
                read(self.rows, strict_json(text), place, clock)
            except Malformed:
                self.damage.append(damaged(name, place.line, MALFORMED))

    def _texts(self, name: str) -> Iterator[tuple[Place, str]]:
        with open_lines(self.files, name) as file:
            for line in lines(file):
                if line.damage is None:
                    yield Place(name, line.number), line.text
                else:
                    self.damage.append(damaged(name, line.number, line.damage))

    def _log(self, name: str, origin_ms: int, clock: LabClock) -> None:
        is_tracking = "/MSGTRK" in name
        with open_lines(self.files, name) as file:
            for row in log_rows(file):
                if isinstance(row, BadRow):
                    self.bad.append(damaged(name, row.line, row.damage))
                elif is_tracking:
                    event, off_ms = tracking_row(name, row, origin_ms, clock)
                    (self.probes if is_probe(event.message_id) else self.tracking).append(event)
                    self.sound.append(Sound(event.ref, event.at_ms, off_ms))
                else:
                    said, off_ms = connectivity_row(name, row, origin_ms, clock)
                    self.connectivity.append(said)
                    self.sound.append(Sound(said.ref, said.at_ms, off_ms))

    def _lives(self) -> dict[str, tuple[Life, ...]]:
        of_server: dict[str, list[Any]] = {}
        for row in self.rows.lifecycle:
            of_server.setdefault(row.server, []).append(row)
        return {server: lives_of(rows) for server, rows in of_server.items()}
