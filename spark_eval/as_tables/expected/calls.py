"""What a client from outside may expect of a session with a server: its end, and what excuses it.

The workload and strangers are such clients; each calls a server at its `smtp` service.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps

# what a server's timer and the way to the client take: lab ms, and wall ms at the lab's speed
SLACK_MS, SLACK_WALL_MS = 1_000, 2_000
SLACK = f"{SLACK_MS} + CAST({SLACK_WALL_MS} * speed AS BIGINT) + finest_ms"
LIMIT = f"session_ms + {SLACK}"


def limits(servers: DataFrame, runs: DataFrame) -> DataFrame:
    """`run`, `server`, `session_ms` (ConnectionTimeout), `limit_ms`: how long after its beginning
    a session is over, as its client sees it.
    """
    paces = runs.select("run", "speed", "finest_ms")
    return (
        servers.select("run", "server", "session_ms")
        .transform(joined, small(paces), "run")
        .selectExpr("run", "server", "session_ms", f"{LIMIT} AS limit_ms")
    )


def troubles(ways: DataFrame) -> DataFrame:
    """`run`, `server`, `troubles`: of the server itself, and of the way to it from outside. `ways`
    is `transforms.troubles`.
    """
    outside = ways.where("server IN (peer, 'workload') AND service = 'smtp'")
    each = outside.selectExpr("run", "peer AS server", "explode(troubles) AS trouble")
    return each.groupBy("run", "server").agg(F.expr("collect_set(trouble) AS troubles"))


def troubled(start: str, end: str) -> str:
    """SQL over a row that has `troubles`, or null: whether one of them touches [start, end]."""
    return f"coalesce({overlaps('troubles', start, end)}, false)"
