"""Exchange's CSV logs by their `#Fields:` line, so that every version's list reads the same way.

A row is sound when it has as many values as there are fields, its quotes close, its date reads, and
its line ends; anything else is damage, counted, unused (F§1.1: values holding a comma are quoted,
quotes double inside). Names and values stay two arrays: a map for each row would cost more than all
the rest of reading it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import SERVER_OF_LOG

# a value after its comma; unrolled, since alternation in a loop overflows on long values
TOKEN = r'(?:^|,)("[^"]*(?:""[^"]*)*"|[^",]*)'
# this lab's servers say the host's monotonic time in every row (custom-data, description)
MONO = "(?:^|;)(?:S:)?Mono=([0-9]+)(?:;|$)"
IS_TRACKING, IS_CONNECTIVITY = "contains(file, '/MSGTRK')", "contains(file, '/CONNECTLOG')"
# what anybody asks of a row, beside its date
TRACKED = (
    "event-id", "source", "internal-message-id", "message-id", "network-message-id",
    "recipient-address", "recipient-count", "recipient-status", "total-bytes", "source-context",
    "server-hostname", "reference", "return-path", "custom-data",
)  # fmt: skip
CONNECTED = ("session", "destination", "direction", "description")
QUOTED = "contains(text, '\"')"
WHOLE = (
    "NOT torn AND fields <> '' AND size(tokens) = size(names) "
    f"AND (NOT {QUOTED} OR array_join(tokens, ',') = text)"
)
KEPT = ("run", "origin_ms", "file", "line", "torn", "fields <> '' AS headed")


def parse_rows(lines: DataFrame) -> DataFrame:
    """Adds `tracked` and `connected` (structs of `TRACKED` and `CONNECTED`: the first is null of a
    connectivity log, the second of a tracking log; their fields are null where the row is no row or
    its version has no such field), `headed` (its file says which fields it has), `server`, `at_ms`
    (lab ms since the start, by the row's date), `mono_ns` (null for real servers) and `sound`; no
    header lines.
    """
    # most rows have no quotes, and need not be looked at value by value
    told_apart = F.regexp_extract_all("text", F.lit(TOKEN), 1)
    tokens = lines.where("NOT startswith(text, '#')").select(
        "*",
        F.when(F.expr(QUOTED), told_apart).otherwise(F.split("text", ",")).alias("tokens"),
        F.expr("split(replace(lower(fields), ' ', ''), ',') AS names"),
    )
    bare = F.when(F.expr(QUOTED), _unquoted()).otherwise(F.col("tokens"))
    rows = tokens.select("*", F.when(F.expr(WHOLE), bare).alias("values"))
    date = f"coalesce({_value('date-time')}, {_value('timestamp')}) AS date"
    custom = f"coalesce({_value('custom-data')}, {_value('description')}) AS custom"
    mono_ns = f"try_cast(nullif(regexp_extract(custom, '{MONO}', 1), '') AS BIGINT) AS mono_ns"
    return (
        rows.selectExpr(
            *KEPT, f"{SERVER_OF_LOG} AS server",
            f"IF({IS_TRACKING}, {_struct(TRACKED)}, NULL) AS tracked",
            f"IF({IS_CONNECTIVITY}, {_struct(CONNECTED)}, NULL) AS connected",
            date, custom,
        )
        .selectExpr("*", "unix_millis(try_to_timestamp(date)) - origin_ms AS at_ms", mono_ns)
        .drop("date", "custom")
        .selectExpr("*", "at_ms IS NOT NULL AS sound")
    )  # fmt: skip


def tracked(name: str) -> str:
    """SQL: the value of a field of a tracking log's row."""
    assert name in TRACKED
    return f"tracked.`{name}`"


def connected(name: str) -> str:
    """SQL: the value of a field of a connectivity log's row."""
    assert name in CONNECTED
    return f"connected.`{name}`"


def _struct(names: Sequence[str]) -> str:
    return f"struct({', '.join(f'{_value(name)} AS `{name}`' for name in names)})"


def _value(name: str) -> str:
    place = f"CAST(nullif(array_position(names, '{name}'), 0) AS INT)"
    return f"try_element_at(values, {place})"


def _unquoted() -> Column:
    return F.transform(F.col("tokens"), _without_quotes)


def _without_quotes(token: Column) -> Column:
    inner = F.substring(token, F.lit(2), F.length(token) - 2)
    quoted = F.startswith(token, F.lit('"'))
    return F.when(quoted, F.regexp_replace(inner, '""', '"')).otherwise(token)
