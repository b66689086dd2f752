"""What passed between two servers: contacts that the asking one logged, cuts of the link it asks
over.

One row for each ordered pair with either; about as many as servers squared at most.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.transforms.fault_windows import cuts
from spark_eval.transforms.sql import INTERVAL

NO_EXTENT = f"CAST(NULL AS {INTERVAL})"


def talks(contacts: DataFrame, windows: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, and arrays: `contacts` (lab ms), `cut_possible`, `cut_certain`."""
    reached = contacts.where("reached").selectExpr(
        "run", "server", "peer", "at_ms", f"{NO_EXTENT} AS possible", f"{NO_EXTENT} AS certain"
    )
    cut = cuts(windows).selectExpr(
        "run", "server", "peer", "CAST(NULL AS BIGINT) AS at_ms", "possible", "certain"
    )
    return (
        reached.unionByName(cut)
        .groupBy("run", "server", "peer")
        .agg(
            F.expr("array_sort(collect_list(at_ms)) AS contacts"),
            F.expr("collect_list(possible) AS cut_possible"),
            F.expr("collect_list(certain) AS cut_certain"),
        )
    )
