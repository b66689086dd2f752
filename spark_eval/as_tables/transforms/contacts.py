"""What passed between two servers: what the asking one logged of its questions, cuts of the link it
asks over, and what made that link late.

One row for each ordered pair with either; about as many as servers squared at most.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.fault_windows import cuts, slows
from spark_eval.spark.joins import small
from spark_eval.sql.intervals import INTERVAL

LATE = "struct<at: struct<lo: bigint, hi: bigint>, slowed_ms: bigint>"
TURN = "struct<at_ms: bigint, asked_ms: bigint>"
# an answer with as many notifications as one has room for may leave some for the next
TOLD_ALL = "reached AND coalesce(notifications < page, true)"
NO_EXTENT = f"CAST(NULL AS {INTERVAL})"
NO_TURN = f"CAST(NULL AS {TURN})"
NOT_LATE = f"CAST(NULL AS {LATE})"


def talks(contacts: DataFrame, windows: DataFrame, servers: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, and arrays, in lab ms: `contacts`; `answered` (those of them whose
    answer left nothing unsaid) and `failed` (heartbeats that had no answer), both `at_ms` and
    `asked_ms`; `cut_possible`, `cut_certain`, `late` (`at`, an interval, and `slowed_ms`).
    """
    pages = small(servers.selectExpr("run", "server AS peer", "page"))
    answers = contacts.join(pages, ["run", "peer"], "left")
    asked = answers.selectExpr(
        "run", "server", "peer", "IF(reached, at_ms, NULL) AS reached",
        f"IF({TOLD_ALL}, struct(at_ms, asked_ms), NULL) AS answered",
        "IF(failed, struct(at_ms, asked_ms), NULL) AS failed",
        f"{NO_EXTENT} AS possible", f"{NO_EXTENT} AS certain", f"{NOT_LATE} AS late",
    )  # fmt: skip
    nothing = ["CAST(NULL AS BIGINT) AS reached"]
    nothing += [f"{NO_TURN} AS {turn}" for turn in ("answered", "failed")]
    cut = cuts(windows).selectExpr(
        "run", "server", "peer", *nothing, "possible", "certain", f"{NOT_LATE} AS late"
    )
    slow = slows(windows).selectExpr(
        "run", "server", "peer", *nothing, f"{NO_EXTENT} AS possible", f"{NO_EXTENT} AS certain",
        "named_struct('at', possible, 'slowed_ms', slowed_ms) AS late",
    )  # fmt: skip
    return (
        asked.unionByName(cut)
        .unionByName(slow)
        .groupBy("run", "server", "peer")
        .agg(
            F.expr("array_sort(collect_list(reached)) AS contacts"),
            F.expr("array_sort(collect_list(answered)) AS answered"),
            F.expr("array_sort(collect_list(failed)) AS failed"),
            F.expr("collect_list(possible) AS cut_possible"),
            F.expr("collect_list(certain) AS cut_certain"),
            F.expr("array_sort(collect_list(late)) AS late"),
        )
    )
