"""How fast the lab was, measured by itself: what taking a message took, and when everything stood
still.

A simulator's machine takes no time. On containers a disk may stop all servers at once: a sender
waits for its 250, and no server writes a line. Such a moment is nobody's delay. Silence while
nobody waits is none, nor that of one server.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import FOREVER_MS, INTERVAL

# pieces of wall time that are looked at, and how many empty ones in a row are a standstill
PIECE_WALL_MS = 250
STILL_PIECES = 4
PIECE = f"CAST(greatest({PIECE_WALL_MS} * speed, 1D) AS BIGINT)"
WAITED = f"named_struct('lo', started_ms, 'hi', coalesce(ended_ms, {FOREVER_MS}))"


def pace(runs: DataFrame, attempts: DataFrame, rows: DataFrame) -> DataFrame:
    """One row a run: `taking_ms`, what a sender waited for its 250 in the median; `still`, the
    intervals of a wall second and more in which somebody did and no server wrote a line of a log,
    none in a simulator.
    """
    real = runs.where("NOT (host <=> 'simulator')").selectExpr("run", f"{PIECE} AS piece_ms")
    tried = attempts.groupBy("run").agg(
        F.expr(
            "CAST(percentile(ended_ms - started_ms, 0.5) FILTER (WHERE outcome = 'ok') AS BIGINT) "
            "AS taking_ms"
        ),
        F.expr(f"collect_list({WAITED}) FILTER (WHERE started_ms IS NOT NULL) AS waits"),
    )
    silent = _silence(rows.select("run", "at_ms").transform(joined, small(real), "run"))
    known = runs.select("run").join(tried, "run", "left").join(silent, "run", "left")
    still = "filter(gaps, g -> exists(waits, w -> w.lo <= g.lo AND w.hi >= g.hi))"
    return known.selectExpr(
        "run", "taking_ms", f"coalesce({still}, CAST(array() AS array<{INTERVAL}>)) AS still"
    )


def _silence(rows: DataFrame) -> DataFrame:
    """`run`, `gaps`: between pieces of time in which a line was written."""
    heard = rows.groupBy("run", "piece_ms").agg(
        F.expr("array_sort(collect_set(at_ms DIV piece_ms)) AS pieces")
    )
    gaps = (
        "transform(filter(sequence(1, size(pieces) - 1), i -> "
        f"pieces[i] - pieces[i - 1] > {STILL_PIECES}), i -> named_struct("
        "'lo', (pieces[i - 1] + 1) * piece_ms, 'hi', pieces[i] * piece_ms))"
    )
    return heard.where("size(pieces) > 1").selectExpr("run", f"{gaps} AS gaps")


def stood_still(start: str, end: str) -> str:
    """SQL: lab ms between two times in which everything stood still."""
    shared = f"greatest(0L, least(x.hi, {end}) - greatest(x.lo, {start}))"
    return f"aggregate(still, 0L, (acc, x) -> acc + {shared})"
