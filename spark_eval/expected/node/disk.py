"""When a row of a server may be missing for no fault of its own: its log has a hole, or its disk
was full, or it was away.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.histories.organisation.server import Server
from spark_eval.intervals.interval import Interval, touches

FULL = "fill_disk"
# the process stays; of any other fault a start may lie within what possibly is its extent
_STAYS = ("pause", FULL)


def full(server: Server) -> Iterator[Interval]:
    """While its disk may have been full."""
    return server.away(FULL)


def is_lost(server: Server, start_ms: int, end_ms: int) -> bool:
    """Whether a row of that time may be missing."""
    return not server.shows(start_ms, end_ms) or touches(full(server), start_ms, end_ms)


def away_or_full(server: Server) -> Iterator[Interval]:
    """A process is away from when it certainly was; a start may lie within what possibly is."""
    for down in server.downs:
        possible, certain = down.outage.possible, down.outage.certain
        if down.kind in _STAYS:
            yield possible
        else:
            yield Interval(possible.lo, certain.lo if certain else possible.lo)
