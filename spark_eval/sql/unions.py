"""Unions of many tables. Spark analyses a whole union anew with each table that is added to it, so
what grows one by one takes the square of their number.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame


def union_of(tables: Sequence[DataFrame]) -> DataFrame:
    """The rows of all, one table after the other; of one at least. Columns by name."""
    if len(tables) == 1:
        return tables[0]
    middle = len(tables) // 2
    return union_of(tables[:middle]).unionByName(union_of(tables[middle:]))
