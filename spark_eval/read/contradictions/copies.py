"""Copies of mailbox databases that a server opened, and that no line of copies.jsonl has.

The lab lists every copy of a database of several when it has stopped the server.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.spark.joins import joined, small

UNLISTED = "no line of a copy that lifecycle.jsonl opens"
COPY = ["run", "server", "database"]


def of_copies(made: DataFrame, lifecycle: DataFrame, copies: DataFrame) -> DataFrame:
    """Contradictions, as `found_in` gives them."""
    ended = made.where("ended").select("run")
    opened = lifecycle.where("event = 'copy-opened'").select(*COPY).distinct()
    unlisted = joined(opened, small(ended), "run").join(
        small(copies.select(*COPY)), COPY, "left_anti"
    )
    file = "concat('logs/', server, '/copies.jsonl')"
    return found_in(unlisted, finding("true", file, "NULL", UNLISTED))
