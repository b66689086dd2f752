"""What there is to hold a record against, and the shape in which a contradiction is named.

It is damage of its file, by the server '': nothing of a server's log is excused by it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.fault_kinds import SERVER, Does, is_one_of, kinds
from spark_eval.read.plan import WALL_SPEED

UNSTEADY = is_one_of(kinds(SERVER, Does.AWAY, Does.IN_DOUBT))
# a simulated run has a record only if it went to its end
ENDED = "coalesce(`exit` = 0, host <=> 'simulator')"
FOUND = "struct<file: string, line: int, damage: string>"


def made_by_lab(plans: DataFrame) -> DataFrame:
    """`run`, `end_ms`, `speed`, `zero_ns`, `ended` (the lab said that it went to its end), `steady`
    (no fault was to take a server or its disk away), `askew` (servers whose clocks were to be
    wrong) of each run whose plan names what it sends.
    """
    faults = "coalesce(plan.faults, array())"
    askew = f"transform(filter({faults}, f -> f.kind = 'skew_clock'), f -> lower(f.server))"
    return plans.where("size(plan.messages) > 0").selectExpr(
        "run", "plan.duration_ms AS end_ms", f"{WALL_SPEED} AS speed", "zero_ns",
        f"{ENDED} AS ended",
        f"NOT exists({faults}, f -> f.{UNSTEADY}) AS steady",
        f"{askew} AS askew",
    )  # fmt: skip


def finding(condition: str, file: str, line: str, damage: str) -> str:
    """SQL: `FOUND` where `condition` holds, else null. `line` is SQL, null where there is none."""
    found_in = f"named_struct('file', {file}, 'line', CAST({line} AS INT), 'damage', '{damage}')"
    return f"IF(coalesce({condition}, false), {found_in}, NULL)"


def found_in(rows: DataFrame, *findings: str) -> DataFrame:
    """A row for each of `findings`, in the shape of `spark_eval.read.damage.damaged_lines`."""
    named = f"filter(array({', '.join(findings)}), f -> f IS NOT NULL)"
    return rows.selectExpr("run", f"inline({named})").selectExpr(
        "run", "'' AS server", "file", "line", "damage",
        "CAST(NULL AS BIGINT) AS from_ms", "CAST(NULL AS BIGINT) AS to_ms",
    )  # fmt: skip
