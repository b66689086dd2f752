"""How records name things, in one place: Message-Ids, servers, addresses; and what is a probe.

The lab sends probes over every link before the first fault and while faults last. They carry a mark
and are no part of what is judged; here, and nowhere else, they are taken out. SQL text in and out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a story reads these names, and must not wait for Spark
    from pyspark.sql import DataFrame

PROBE_MARK = "<probe."
REF = "named_struct('file', file, 'line', line) AS ref"
SERVER_OF_LOG = "lower(regexp_extract(file, '^logs/([^/]+)/', 1))"


def message_id(column: str) -> str:
    """With its angle brackets, whether or not the record wrote them; null where there is none."""
    return f"concat('<', nullif(trim(BOTH '<> ' FROM {column}), ''), '>')"


def short_name(column: str) -> str:
    """A server's name without its domain, lower case."""
    return f"lower(substring_index({column}, '.', 1))"


def lower_all(column: str) -> str:
    """Addresses compare without regard to case."""
    return f"transform({column}, address -> lower(address))"


def without_probes(rows: DataFrame) -> DataFrame:
    """Rows that are not about a probe message; rows about no message stay."""
    return rows.where(f"NOT coalesce(startswith(message_id, '{PROBE_MARK}'), false)")
