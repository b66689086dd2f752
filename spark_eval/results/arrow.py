"""The result tables as Arrow has them, so that a task can make one without Spark's JVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from spark_eval.results.schema import LINK, REF, REFS, RESULT_TABLES


def _list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind))  # as Spark calls it


_REF = pa.struct([("file", pa.string()), ("line", pa.int32())])
_LINK = pa.struct([("from", pa.string()), ("to", pa.string()), ("service", pa.string())])
_TYPES: Mapping[str, pa.DataType] = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "ARRAY<STRING>": _list_of(pa.string()),
    REF: _REF,
    REFS: _list_of(_REF),
    f"ARRAY<{LINK}>": _list_of(_LINK),
}
ARROW_SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    table: pa.schema([(name, _TYPES[kind]) for name, kind in columns])
    for table, columns in RESULT_TABLES.items()
}
