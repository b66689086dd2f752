"""What could not be read: torn last lines, malformed lines, logs that are not there.

Counted per file, never skipped in silence. For a log the damage also has a place in time, between
its sound neighbours: what is missing from the record there proves nothing. Files of a server
follow each other in time unless its clock was off: such a server may write on in an earlier one.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import SERVER_OF_LOG
from spark_eval.spark.joins import joined, small

NAMED = (
    "CASE WHEN torn THEN 'torn last line' WHEN NOT headed THEN 'no #Fields line' "
    "ELSE 'malformed line' END"
)
ORDER = (
    r"struct(regexp_extract(file, '(\\d{8,10})[^/]*$', 1) AS day, "
    r"try_cast(regexp_extract(file, '-(\\d+)[.][^/]*$', 1) AS INT) AS instance, line)"
)
NONE_MS = "CAST(NULL AS BIGINT)"
_MISPLACED = """CASE
  WHEN role IS NULL AND is_made THEN 'of a server that plan.json does not have'
  WHEN role = 'mailbox' AND NOT coalesce(has_tracking, false) THEN 'no message tracking log' END"""


def damaged_lines(records: DataFrame, rows: DataFrame) -> DataFrame:
    """One row a line: `run`, `server`, `file`, `line`, `damage`, and for logs `from_ms`, `to_ms`.

    `from_ms` is null where nothing sound is known to come before, `to_ms` where nothing follows.
    """
    json_lines = records.where("NOT sound").selectExpr(
        "run", f"{SERVER_OF_LOG} AS server", "file", "line",
        "IF(torn, 'torn last line', 'malformed line') AS damage",
        f"{NONE_MS} AS from_ms", f"{NONE_MS} AS to_ms",
    )  # fmt: skip
    return json_lines.unionByName(_damaged_rows(rows))


def _damaged_rows(rows: DataFrame) -> DataFrame:
    family = "regexp_extract(file, '/([A-Za-z]+)[^/]*$', 1) AS family"
    bad = rows.where("NOT sound").selectExpr(
        "run", "server", family, "file", "line", f"{NAMED} AS damage", f"{ORDER} AS bad_place"
    )
    # nearly all servers have none
    theirs = small(bad.select("run", "server").distinct())
    good = (
        rows.where("sound")
        .select("run", "server", "file", "line", "at_ms", "off_ms")
        .join(theirs, ["run", "server"], "left_semi")
        .selectExpr(
            "run", "server", family, "file AS good_file", f"{ORDER} AS place", "at_ms", "off_ms"
        )
    )
    beside = bad.join(good, ["run", "server", "family"], "left")
    return beside.groupBy("run", "server", "file", "line", "damage").agg(
        F.expr(f"{_nearest('max(at_ms)', 'place < bad_place')} AS from_ms"),
        F.expr(f"{_nearest('min(at_ms)', 'place > bad_place')} AS to_ms"),
    )


def _nearest(time: str, side: str) -> str:
    """SQL: in the same file if a sound row there is on that side, else in the files beside it."""
    near = f"{time} FILTER (WHERE {side} AND good_file = file)"
    return f"coalesce({near}, IF(bool_and(off_ms = 0), {time} FILTER (WHERE {side}), NULL))"


def misplaced_logs(servers: DataFrame, files: DataFrame, made: DataFrame) -> DataFrame:
    """Mailbox servers of the plan whose tracking log is not in the folder, and in a run that the
    lab made (`made`) logs of servers that its plan does not have, in the same shape.
    """
    logs = files.where("file LIKE 'logs/%'").selectExpr("run", f"{SERVER_OF_LOG} AS server", "file")
    there = logs.groupBy("run", "server").agg(
        F.expr("bool_or(file LIKE 'logs/%/MSGTRK%') AS has_tracking"), F.min("file").alias("first")
    )
    known = (
        servers.select("run", "server", "role")
        .transform(joined, there, ["run", "server"], "full")
        .join(small(made.selectExpr("run", "true AS is_made")), "run", "left")
    )
    return known.selectExpr("*", f"{_MISPLACED} AS damage").where("damage IS NOT NULL").selectExpr(
        "run", "IF(role IS NULL, '', server) AS server",
        "IF(role IS NULL, first, concat('logs/', server, '/')) AS file",
        "CAST(NULL AS INT) AS line", "damage", f"{NONE_MS} AS from_ms", f"{NONE_MS} AS to_ms",
    )  # fmt: skip


def damaged_plans(plans: DataFrame) -> DataFrame:
    """plan.json and host.json of other types or more than one value, in the same shape."""
    return plans.selectExpr(
        "run", "'' AS server", "explode(damaged) AS file", "CAST(NULL AS INT) AS line",
        "'not what it should hold' AS damage", f"{NONE_MS} AS from_ms", f"{NONE_MS} AS to_ms",
    )  # fmt: skip


def departed(files: DataFrame) -> DataFrame:
    """Files that are not as the lab left them, in the same shape."""
    return files.selectExpr(
        "run", f"{SERVER_OF_LOG} AS server", "file", "CAST(NULL AS INT) AS line", "damage",
        f"{NONE_MS} AS from_ms", f"{NONE_MS} AS to_ms",
    )  # fmt: skip


def log_damage(lines: DataFrame) -> DataFrame:
    """One row a file and kind of damage, with how many lines and where the first is."""
    return lines.groupBy("run", "server", "file", "damage").agg(
        F.count("*").alias("lines"),
        F.min("line").alias("first_line"),
        F.min("from_ms").alias("from_ms"),
        F.max("to_ms").alias("to_ms"),
    )
