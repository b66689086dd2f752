"""Connectivity logs: the moments at which a server had, or failed to have, contact with a primary.

Contact is the final reply to a server's own XQDISCARD and nothing else (SM-6).
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.read.csv_log import field
from spark_eval.read.names import REF, short_name

CONTACT = "XQDISCARD "
TOLD = field("description")
PEER = "try_element_at(told, 'Peer')"


def contacts(parsed: DataFrame) -> DataFrame:
    """`run`, `server` (asking), `peer` (asked), `at_ms`, `mono_ns`, `reached`, `database_id`,
    `ref`.
    """
    asked = parsed.where(f"sound AND startswith({TOLD}, '{CONTACT}')")
    told = asked.selectExpr(
        "*",
        f"startswith({TOLD}, '{CONTACT}contact') AS reached",
        f"str_to_map({TOLD}, ';', '=') AS told",
    )
    return told.selectExpr(
        "run", "server", "at_ms", "reached", REF,
        f"{short_name(PEER)} AS peer",
        "try_element_at(told, 'DatabaseId') AS database_id",
        "mono_ns",
    )  # fmt: skip
