"""A table that many others are made from, cut loose from how it was made.

Spark plans every query from its first source on; for small tables that costs far more than running
it. A settled table is computed once, kept on this machine, and looks like a source to whatever
follows.
"""

from __future__ import annotations

from pyspark.sql import DataFrame


def settled(rows: DataFrame) -> DataFrame:
    """The same rows, computed on first use and only then."""
    return rows.localCheckpoint(eager=False)
