"""Many small results in one Spark job: each row as JSON, under the name of its result.

A job costs the driver more than some hundred rows do. What is collected here is bounded by whoever
asks: counts, moments of a timeline, the first so many.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.sql.unions import union_of

Rows: TypeAlias = list[dict[str, Any]]
AS_JSON = "to_json(struct(*), map('ignoreNullFields', 'false'))"


def collected(results: Mapping[str, DataFrame]) -> dict[str, Rows]:
    """The rows of each result, in its order."""
    parts = [_part(name, rows) for name, rows in results.items()]
    found: dict[str, Rows] = {name: [] for name in results}
    rows = union_of(parts).collect() if parts else []
    for row in sorted(rows, key=lambda row: row["place"]):
        found[row["result"]].append(json.loads(row["row"]))
    return found


def _part(name: str, rows: DataFrame) -> DataFrame:
    # the place grows from row to row and from partition to partition, so it keeps an order
    place = F.monotonically_increasing_id()
    return rows.select(
        F.lit(name).alias("result"), place.alias("place"), F.expr(AS_JSON).alias("row")
    )
