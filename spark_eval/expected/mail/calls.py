"""What a client from outside may expect of a session with a server: its end, and what excuses it.

The workload and strangers are such clients; each calls a server at its `smtp` service.
"""

from __future__ import annotations

from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run

# what a server's timer and the way to the client take: lab ms, and wall ms at the lab's speed
SLACK_MS, SLACK_WALL_MS = 1_000, 2_000


def limit_ms(server: Server, run: Run) -> int:
    """How long after its beginning a session is over, as its client sees it."""
    return server.config.session_ms + slack_ms(run)


def slack_ms(run: Run) -> int:
    return SLACK_MS + int(SLACK_WALL_MS * run.speed) + run.finest_ms


def is_troubled(server: str, run: Run, start_ms: int | None, end_ms: int | None) -> bool:
    """Whether the server, or the way to it from outside, may have been in trouble meanwhile."""
    if start_ms is None or end_ms is None:
        return False
    return any(each.at.touches(start_ms, end_ms) for each in run.ways.from_outside(server))
