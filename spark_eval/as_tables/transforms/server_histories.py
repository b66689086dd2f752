"""What became of each server: when it was down, which queue database it had, where its log has
holes.

A row that is missing inside a hole proves nothing. Holes lie around damage, and just before a
SIGKILL, since a commit is logged after it is durable. A queue database that was replaced has lost
everything it held (SM-17); the evidence is the lifecycle log, or else the database id on tracking
rows.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.fault_windows import downs
from spark_eval.read.clocks import FAR_ABOVE
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS, INTERVAL

# a node logs within this of its commit, in wall milliseconds; more than any commit takes
UNLOGGED_WALL_MS = 250
UNLOGGED_MS = f"CAST({UNLOGGED_WALL_MS} * speed AS BIGINT)"
# how late a row may be, and how well two times of one clock can be compared
VAGUE_MS = f"{UNLOGGED_MS} + {FAR_ABOVE} * finest_ms"

EXTENT = f"struct<possible: {INTERVAL}, certain: {INTERVAL}, kind: string>"
FIRST = "struct<from_ms: bigint, id: string>"
DOWN = "named_struct('possible', possible, 'certain', certain, 'kind', kind)"
NOTHING = {"down": EXTENT, "hole": INTERVAL, "first": FIRST}
ERAS = """transform(firsts, (f, i) -> named_struct('id', f.id, 'from_ms', f.from_ms,
  'lost_ms', try_element_at(firsts, i + 2).from_ms, 'next_id', try_element_at(firsts, i + 2).id))"""


def histories(
    servers: DataFrame, windows: DataFrame, tracking: DataFrame, lifecycle: DataFrame,
    damaged: DataFrame, runs: DataFrame, lives: DataFrame,
) -> DataFrame:  # fmt: skip
    """One row a server with its settings and the run's, and three arrays in order of time.

    `kills` (each time that it was away: possible and certain extent, `kind` of the fault: a kill, a
    pause, a stop, a restart or a full disk), `blind` (holes), `eras` (`id`, `from_ms`,
    and, where it was replaced, `lost_ms` and `next_id`). Beside them `lives` (its clocks) and
    `askew_ms`: how far the clocks that servers went by in this run were apart.
    """
    told = (
        _part(downs(windows), down=DOWN)
        .unionByName(_part(_around_damage(damaged), hole="named_struct('lo', lo, 'hi', hi)"))
        .unionByName(_part(_first_seen(tracking, lifecycle), first="first"))
    )
    together = told.groupBy("run", "server").agg(
        F.expr("array_sort(collect_list(down)) AS downs"),
        F.expr("collect_list(hole) AS holes"),
        F.expr("array_sort(collect_list(first)) AS firsts"),
    )
    before_kill = f"d -> named_struct('lo', d.certain.lo - {UNLOGGED_MS}, 'hi', d.certain.lo)"
    killed = "filter(downs, d -> d.kind = 'kill')"
    holes = f"concat(holes, transform({killed}, {before_kill}))"
    known = (
        servers.join(together, ["run", "server"], "left")
        .join(lives, ["run", "server"], "left")
        .join(_apart(lives), "run", "left")
        .transform(joined, runs, "run")
    )
    return known.selectExpr(
        "*",
        f"coalesce(downs, CAST(array() AS array<{EXTENT}>)) AS kills",
        f"coalesce({holes}, CAST(array() AS array<{INTERVAL}>)) AS blind",
        f"coalesce({ERAS}, array()) AS eras",
        "coalesce(apart_ms, 0L) AS askew_ms",
    ).drop("downs", "holes", "firsts", "apart_ms")  # fmt: skip


def _part(rows: DataFrame, **given: str) -> DataFrame:
    """The same columns from every voice: what it says, null for the rest."""
    columns = [
        f"{given.get(name, f'CAST(NULL AS {kind})')} AS {name}" for name, kind in NOTHING.items()
    ]
    return rows.selectExpr("run", "server", *columns)


def _apart(lives: DataFrame) -> DataFrame:
    each = lives.selectExpr("run", "inline(lives)").groupBy("run")
    return each.agg(F.expr("max(skew_ms) - min(skew_ms) AS apart_ms"))


def _first_seen(tracking: DataFrame, lifecycle: DataFrame) -> DataFrame:
    columns = ("run", "server", "database_id", "at_ms")
    both = lifecycle.select(*columns).unionByName(tracking.select(*columns))
    named = both.where("database_id <> ''").groupBy("run", "server", "database_id")
    return named.agg(F.expr("named_struct('from_ms', min(at_ms), 'id', database_id) AS first"))


def _around_damage(damaged: DataFrame) -> DataFrame:
    return damaged.where("server <> ''").selectExpr(
        "run", "server", "coalesce(from_ms, 0L) AS lo", f"coalesce(to_ms, {FOREVER_MS}) AS hi"
    )


def lost(database_id: str) -> str:
    """SQL: when this database of a server was replaced, by `eras`; null where it never was."""
    return f"try_element_at(filter(eras, e -> e.id = {database_id}), 1).lost_ms"
