"""Operations as they happened: what was asked of Active Manager, when, and what it said."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

# the epoch in an answer as `250 2.0.0 1 lyo-mbx1`
EPOCH = r"try_cast(nullif(regexp_extract(said, '^250 [0-9.]+ ([0-9]+) ', 1), '') AS INT)"


def operations(planned: DataFrame, record: DataFrame) -> DataFrame:
    """One row an operation: `operation`, `kind`, `database`, `to`, `planned_ms`, `asked_ms`,
    `took_effect`, `reason` (the answer, or why there was none), `epoch` that it led to.
    """
    said = "coalesce(max(reply), max(reason) FILTER (WHERE phase = 'evidence')) AS said"
    seen = record.groupBy("run", "operation").agg(
        F.expr("min(at_ms) FILTER (WHERE phase = 'applied') AS asked_ms"),
        F.expr("bool_and(took_effect) FILTER (WHERE phase = 'evidence') AS took_effect"),
        F.expr("max(reason) FILTER (WHERE phase = 'evidence') AS reason"),
        F.expr(said),
    )
    joined = planned.join(seen, ["run", "operation"], "left")
    return joined.selectExpr(
        "run", "operation", "kind", "`database`", "`to`", "at_ms AS planned_ms", "asked_ms",
        "took_effect", "coalesce(nullif(reason, ''), said) AS reason", f"{EPOCH} AS epoch",
    )  # fmt: skip
