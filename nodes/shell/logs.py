"""What a node shows besides its tracking log: connectivity, lifecycle, and the inputs of its core
(TL-4).

The list of (lab time, input) is the replay of the core (design decision 1).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from nodes.core.config import NodeConfig
from nodes.core.effects import LogConnectivity, LogLifecycle, LogTracking
from nodes.core.inputs import Input
from nodes.core.lab_time import iso
from nodes.shell.clock import LabClock
from nodes.shell.input_lines import encode
from nodes.shell.lines import LineFile
from nodes.shell.tracking_log import VERSION, TrackingLog

CONNECTIVITY_FIELDS = "date-time,session,source,destination,direction,description"


class Logs:
    """All logs of one server, in `folder`."""

    def __init__(self, folder: Path, config: NodeConfig, clock: LabClock) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._clock = clock
        self._tracking = TrackingLog(folder, config)
        self._lifecycle = LineFile(folder / "lifecycle.jsonl")
        self._inputs = LineFile(folder / "inputs.jsonl")
        self._connectivity: LineFile | None = None
        self._day = ""
        self._database_id = ""

    def set_database_id(self, database_id: str) -> None:
        self._database_id = self._tracking.database_id = database_id

    def tracking(self, row: LogTracking) -> None:
        self._tracking.write(row, self._clock.now_ms())

    def connectivity(self, row: LogConnectivity) -> None:
        date = iso(self._clock.now_ms())
        description = f"{row.description};Mono={time.monotonic_ns()}"
        quoted = '"' + description.replace('"', '""') + '"'
        values = (date, row.session, "SMTP", row.destination, row.direction, quoted)
        self._connectivity_file(date).append(",".join(values))

    def lifecycle(self, effect: LogLifecycle) -> None:
        now_ms = self._clock.now_ms()
        line = {
            "event": effect.event,
            "at_ms": self._clock.since_start_ms(now_ms),
            "date": iso(now_ms),
            "mono_ns": time.monotonic_ns(),
            "database_id": self._database_id,
        }
        self._lifecycle.append(json.dumps(line | dict(effect.fields)))

    def input(self, happened: Input, now_ms: int) -> None:
        self._inputs.append(encode(happened, now_ms))

    def close(self) -> None:
        self._tracking.close()
        for file in (self._lifecycle, self._inputs, self._connectivity):
            if file is not None:
                file.close()

    def _connectivity_file(self, date: str) -> LineFile:
        day = date[:10].replace("-", "")
        if self._connectivity is None or day != self._day:
            if self._connectivity is not None:
                self._connectivity.close()
            header = (
                f"#Software: Microsoft Exchange Server\n#Version: {VERSION}\n"
                f"#Log-type: Transport Connectivity Log\n#Date: {date}\n"
                f"#Fields: {CONNECTIVITY_FIELDS}\n"
            )
            self._day = day
            self._connectivity = LineFile(self._folder / f"CONNECTLOG{day}-1.LOG", header)
        return self._connectivity
