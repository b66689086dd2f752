"""Servers that others say took mail, and that have no row of a message tracking log.

A sender has a 250 of theirs, or a server names them for the shadow message that they hold.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.spark.joins import joined, small

SILENT = "no row of a message tracking log, though this server took mail"
KEY = ["run", "server"]


def of_silent_servers(made: DataFrame, ledger: DataFrame, tracking: DataFrame) -> DataFrame:
    """Contradictions, as `found_in` gives them."""
    asked = ledger.where("outcome = 'ok'").select(*KEY)
    named = tracking.where("event = 'HAREDIRECT' AND shadow_server IS NOT NULL").selectExpr(
        "run", "shadow_server AS server"
    )
    took = asked.unionByName(named).distinct().transform(joined, small(made.select("run")), "run")
    silent = took.join(small(tracking.select(*KEY).distinct()), KEY, "left_anti")
    return found_in(silent, finding("true", "concat('logs/', server, '/')", "NULL", SILENT))
