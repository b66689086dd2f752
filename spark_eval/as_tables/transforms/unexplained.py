"""Damage of a record that no fault explains.

Every line was whole when the lab left the record, but for what a server was writing when a fault
took it away. A server that nobody asked anything has no tracking log. What happened to a file after
that no fault explains.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.file_list import DEPARTURES

EXPLAINED = f"""CASE WHEN damage IN {DEPARTURES} THEN false
  WHEN damage = 'no message tracking log' THEN true
  WHEN file RLIKE '/(MSGTRK|CONNECTLOG)[^/]*$' THEN exists(away, a ->
    coalesce(from_ms, a.lo) <= a.hi AND coalesce(to_ms, a.hi) >= a.lo)
  ELSE file LIKE '%/lifecycle.jsonl' AND damaged_lines <= size(away) END"""


def unexplained(lines: DataFrame, downs: DataFrame) -> DataFrame:
    """`damaged_lines` that no fault explains: `downs`, as `fault_windows.downs` gives them."""
    away = downs.groupBy("run", "server").agg(F.expr("collect_list(possible) AS away"))
    counted = lines.selectExpr("*", "count(*) OVER (PARTITION BY run, file) AS damaged_lines")
    known = counted.join(away, ["run", "server"], "left")
    return known.where(f"NOT coalesce({EXPLAINED}, false)").drop("away", "damaged_lines")
