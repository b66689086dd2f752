"""All logs of one node, line by line (TL-1, TL-4).

Message tracking by the hour, connectivity by the day, `lifecycle.jsonl`, and `inputs.jsonl`: every
input of the core with the lab time that it was handled at, which is the replay (design decision 1).
A log that cannot be written is said once on stderr and stops no mail.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import LogConnectivity, LogLifecycle, LogTracking
from nodes.core.interface.inputs import Input
from nodes.core.model.lab_time import iso
from nodes.shell.logs import exchange as exchange_logs
from nodes.shell.logs.exchange import Stamp, Writer
from nodes.shell.logs.files import LineFile, LogFiles
from nodes.shell.logs.inputs import to_text


class Clock(Protocol):
    """What a node's records are dated by; see `nodes.shell.clock`."""

    @property
    def origin_ms(self) -> int: ...

    @property
    def ahead_ms(self) -> int:
        """How far the date is ahead of the time that the core goes by."""

    def stamp(self) -> tuple[int, int]:
        """The date, epoch ms, and the monotonic clock by which the order of events is judged."""

    def mono_ns(self) -> int: ...


class Logs:
    """No method raises for a file that cannot be written."""

    def __init__(
        self, files: LogFiles, config: NodeConfig, addresses: Mapping[str, str], clock: Clock
    ) -> None:
        """`addresses`: where other servers are reached, by name, for server-ip."""
        self._files = files
        self._clock = clock
        self._writer = Writer(config, "", addresses)
        self._complain: Callable[[str], None] = _say

    def name_database(self, database_id: str) -> None:
        """From here on rows name the queue database."""
        self._writer = Writer(self._writer.config, database_id, self._writer.addresses)

    def tracking(self, row: LogTracking) -> None:
        stamp = self._stamp()
        line = exchange_logs.tracking_row(row, self._writer, stamp)
        hour = line[:13].replace("-", "").replace("T", "")
        self._dated("MSGTRK", hour, lambda: exchange_logs.tracking_header(stamp.date_ms), line)

    def connectivity(self, row: LogConnectivity) -> None:
        stamp = self._stamp()
        line = exchange_logs.connectivity_row(row, stamp)
        day = line[:10].replace("-", "")
        header = exchange_logs.connectivity_header
        self._dated("CONNECTLOG", day, lambda: header(stamp.date_ms), line)

    def lifecycle(self, entry: LogLifecycle) -> None:
        stamp = self._stamp()
        record = {
            "event": entry.event,
            "at_ms": stamp.date_ms - self._clock.origin_ms,
            "date": iso(stamp.date_ms),
            "mono_ns": stamp.mono_ns,
            **self._ahead(),
            **dict(entry.fields),
        }
        self._append("lifecycle.jsonl", json.dumps(record))

    def input(self, happened: Input, now_ms: int) -> None:
        """`now_ms`: the lab time that the core is given with it, epoch ms. Where the date is ahead
        of that, the line says so, since rows then speak of other times than the core.
        """
        line = to_text(happened, now_ms=now_ms, mono_ns=self._clock.mono_ns(), **self._ahead())
        self._append("inputs.jsonl", line)

    def close(self) -> None:
        self._files.close()

    def _ahead(self) -> dict[str, int]:
        return {"ahead_ms": self._clock.ahead_ms} if self._clock.ahead_ms else {}

    def _stamp(self) -> Stamp:
        return Stamp(*self._clock.stamp(), self._clock.ahead_ms)

    def _append(self, name: str, line: str) -> None:
        try:
            self._files.append(name, line)
        except OSError as error:
            self._bear(error)

    def _dated(self, prefix: str, stamp: str, header: Callable[[], str], line: str) -> None:
        try:
            self._files.append_dated(prefix, stamp, header, line)
        except OSError as error:
            self._bear(error)

    def _bear(self, error: OSError) -> None:
        self._complain(f"a log cannot be written: {error}")
        self._complain = _stay_silent


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _stay_silent(line: str) -> None:
    """It has been said."""


def note_refusal(config: Path, reason: str) -> None:
    """Leave a line in the lifecycle log of a node whose configuration is wrong, if it names one."""
    _note(config, "configuration-refused", reason)


def note_crash(config: Path, reason: str) -> None:
    """The same for a node that a mistake of ours has ended before it could say so itself."""
    _note(config, "crashed", reason)


def _note(config: Path, event: str, reason: str) -> None:
    try:
        document = json.loads(config.read_text("utf-8"))
        folder = document.get("Logs") if isinstance(document, dict) else None
        if isinstance(folder, str) and Path(folder).is_dir():
            record = {"event": event, "at_ms": 0, "mono_ns": time.monotonic_ns()}
            file = LineFile(Path(folder) / "lifecycle.jsonl")
            file.append(json.dumps({**record, "reason": reason}))
            file.close()
    except (OSError, ValueError):
        return  # what is wrong has been said on stderr
