"""What a line must say, and whom a row must not be about."""

from __future__ import annotations

from typing import TypeVar

from spark_eval.read.json_values import Malformed
from spark_eval.read.names import is_probe
from spark_eval.read.rows import AttemptRow, OutcomeRow, QueueRow, SentRow, VisibleRow

Value = TypeVar("Value")
Named = TypeVar("Named", SentRow, AttemptRow, OutcomeRow, QueueRow, VisibleRow)


def needed(value: Value | None) -> Value:
    """Raises `Malformed` where it is None: without it, the line would be passed over."""
    if value is None:
        raise Malformed("what its kind must say is missing")
    return value


def require(condition: bool) -> None:
    if not condition:
        raise Malformed("what its kind must say is missing")


def add(rows: list[Named], row: Named) -> None:
    """Unless it is about a probe."""
    if not is_probe(row.message_id):
        rows.append(row)
