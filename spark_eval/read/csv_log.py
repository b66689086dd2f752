"""Exchange's CSV logs by their `#Fields:` line, so that every version's list reads the same way.

A row is a map from field name to value. A row is sound when it has as many values as there are
fields, its quotes close, its date reads, and its line ends; anything else is damage, counted,
unused (F§1.1: values holding a comma are quoted, quotes double inside).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import SERVER_OF_LOG

# a value with the comma before it; unrolled, since alternation in a loop overflows on long values
TOKEN = r'(?:^|,)(?:"[^"]*(?:""[^"]*)*"|[^",]*)'
WHOLE = "NOT torn AND fields <> '' AND size(tokens) = size(names) AND array_join(tokens, '') = text"


def parse_rows(lines: DataFrame) -> DataFrame:
    """Adds `row` (map), `server`, `at_ms` (lab ms since the start) and `sound`; no header lines."""
    tokens = lines.where("NOT startswith(text, '#')").select(
        "*",
        F.regexp_extract_all("text", F.lit(TOKEN), 0).alias("tokens"),
        F.split(F.lower("fields"), r",\s*").alias("names"),
    )
    row = F.when(F.expr(WHOLE), F.map_from_arrays("names", _values()))
    rows = tokens.select("run", "origin_ms", "file", "fields", "line", "torn", row.alias("row"))
    at_ms = (
        "unix_millis(try_to_timestamp(coalesce(row['date-time'], row['timestamp']))) - origin_ms"
    )
    return rows.selectExpr("*", f"{SERVER_OF_LOG} AS server", f"{at_ms} AS at_ms").selectExpr(
        "*", "at_ms IS NOT NULL AS sound"
    )


def _values() -> Column:
    return F.transform(F.col("tokens"), _unquoted)


def _unquoted(token: Column, index: Column) -> Column:
    bare = F.when(index > 0, F.substring(token, F.lit(2), F.length(token))).otherwise(token)
    inner = F.substring(bare, F.lit(2), F.length(bare) - 2)
    quoted = F.startswith(bare, F.lit('"'))
    return F.when(quoted, F.regexp_replace(inner, '""', '"')).otherwise(bare)
