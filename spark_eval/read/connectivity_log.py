"""Connectivity logs: sessions that a server opened, what it heard in them, and when it asked."""

from __future__ import annotations

import re

from spark_eval.read.clocks import LabClock
from spark_eval.read.csv_rows import LogRow, epoch_ms_of, integer
from spark_eval.read.names import Ref, server_of, short_name
from spark_eval.read.rows import ConnectivityRow

_MONO = re.compile(r"(?:^|;)Mono=([0-9]+)(?:;|$)")
_ASKED = re.compile(r";Asked=([^;]*)")


def connectivity_row(
    file: str, row: LogRow, origin_ms: int, clock: LabClock
) -> tuple[ConnectivityRow, int]:
    """The row in lab time, and by how much its date was ahead of it."""
    get = row.values.get
    description = get("description") or ""
    mono = _MONO.search(description)
    mono_ns = integer(mono[1]) if mono else None
    dated_ms = row.epoch_ms - origin_ms
    off_ms = clock.off_ms(dated_ms, mono_ns)
    asked = _ASKED.search(description)
    asked_ms = epoch_ms_of(asked[1]) if asked else None
    return ConnectivityRow(
        server_of(file),
        dated_ms - off_ms,
        mono_ns,
        get("session") or "",
        short_name(get("destination") or None),
        get("direction") or "",
        description.partition(";")[0],
        description,
        None if asked_ms is None else asked_ms - origin_ms - off_ms,
        Ref(file, row.line),
    ), off_ms
