"""A row of a table: column to value, in order, with the columns that the table has."""

from __future__ import annotations

from typing import Any

from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow

Row = dict[str, Any]


def ref_value(ref: Ref) -> Row:
    return {"file": ref.file, "line": ref.line}


def ref_values(*refs: Ref | None) -> list[Row]:
    """Those that there are."""
    return [ref_value(each) for each in refs if each is not None]


def of_rows(*rows: TrackingRow | None) -> list[Row]:
    """Where they stand."""
    return ref_values(*(row.ref for row in rows if row is not None))
