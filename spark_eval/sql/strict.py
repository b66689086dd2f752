"""JSON of a record read strictly, in SQL: one value and no more, of the types that its kind has.

Spark's own functions of JSON end with the first value, take single quotes and a key twice, and read
a value of another type as null: what was damaged would be passed over as if it were not there.
"""

from __future__ import annotations

from spark_eval import schema

DAMAGED = "damaged"  # the column in which from_json keeps what does not fit
OPTIONS = f"map('columnNameOfCorruptRecord', '{DAMAGED}', 'allowSingleQuotes', 'false')"


VARIANT_MAX = 128 * 1024 * 1024
"""Bytes. A larger plan was read whole and strictly by the driver, when it opened the folder."""


def one_value(text: str) -> str:
    """SQL: `text` is one value of JSON; whatever follows it would break up the list around it."""
    alone = f"try_variant_get(try_parse_json(concat('[', {text}, ',0]')), '$[1]', 'int') = 0"
    return f"IF(octet_length({text}) < {VARIANT_MAX // 2}, {alone}, {text} IS NOT NULL)"


def parsed(text: str, columns: schema.Columns) -> str:
    """SQL: `text` as a struct, with what does not fit in its `damaged`."""
    return f"from_json({text}, '{schema.ddl((*columns, (DAMAGED, 'STRING')))}', {OPTIONS})"
