"""The comparison of two runs: verdicts, claims and messages, and one word for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_eval.cases.case import HOLDS, VIOLATED
from spark_eval.compare.differences import DISAGREES, OPEN, SAME, UNKNOWN, compared
from spark_eval.compare.fates import fates
from spark_eval.compare.side import NUMBERS, Side
from spark_eval.compare.tables import read_tables
from spark_eval.compare.timing import left_open, margin_ms, pace_ms
from spark_eval.program import exit_codes

AGREES = "agrees"
NOT_CHECKED = "not checked"
DIFFERS = "differs"  # a count, which says nothing by itself
EXIT_CODES = {AGREES: exit_codes.PASS, DISAGREES: exit_codes.FAIL, UNKNOWN: exit_codes.UNKNOWN}
MOST_DIFFERENCES = 200


@dataclass(frozen=True, slots=True)
class Compared:
    """One thing on both sides. `why` says what leaves a difference open."""

    name: str
    a: str
    b: str
    status: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field of one message. `rule` and `why` are empty where it disagrees."""

    message_id: str
    submitted_ms: int
    field: str
    a: str
    b: str
    status: str
    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`outcome`: agrees, disagrees or unknown. `messages` counts them by their worst field.

    `differences` are the first MOST_DIFFERENCES, what disagrees before what is left open.
    """

    sides: tuple[Side, Side]
    outcome: str
    margin_ms: int
    verdict: Compared
    claims: tuple[Compared, ...]
    numbers: tuple[Compared, ...]
    messages: Mapping[str, int]
    differences: tuple[Difference, ...]

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    def content(self) -> dict[str, Any]:
        """compare.json."""
        return {
            "version": 1,
            "scenario": self.sides[0].folder.scenario,
            "seed": self.sides[0].folder.seed,
            "outcome": self.outcome,
            "runs": [_named(side) for side in self.sides],
            "margin_ms": self.margin_ms,
            "verdict": asdict(self.verdict),
            "claims": [asdict(claim) for claim in self.claims],
            "numbers": [asdict(number) for number in self.numbers],
            "messages": dict(self.messages),
            "differences": [asdict(difference) for difference in self.differences],
        }


def compare(spark: SparkSession, sides: tuple[Side, Side]) -> Comparison:
    """Reads both evaluations and sets them side by side; writes nothing."""
    tables = [read_tables(spark, side.folder.evaluation) for side in sides]
    margin = margin_ms([pace_ms(each) for each in tables], [side.resolution_ms for side in sides])
    told = [
        (fates(each), left_open(each, margin, side.heartbeat_ms))
        for each, side in zip(tables, sides, strict=True)
    ]
    rows = compared(told[0], told[1]).localCheckpoint()  # asked twice
    verdict = compare_verdicts(*sides)
    claims = tuple(compare_claims(*sides))
    messages = _counts(rows)
    return Comparison(
        sides=sides,
        outcome=reach([verdict, *claims], messages),
        margin_ms=margin,
        verdict=verdict,
        claims=claims,
        numbers=tuple(count_numbers(*sides)),
        messages=messages,
        differences=tuple(_differences(rows, [side.name for side in sides])),
    )


def reach(told: list[Compared], messages: Mapping[str, int]) -> str:
    statuses = {each.status for each in told} | {name for name, count in messages.items() if count}
    return next((word for word in (DISAGREES, UNKNOWN) if word in statuses), AGREES)


def compare_verdicts(a: Side, b: Side) -> Compared:
    """Two unknown verdicts show no agreement."""
    x, y = (str(side.verdict.get("verdict", UNKNOWN)) for side in (a, b))
    if UNKNOWN in (x, y):
        return Compared("verdict", x, y, UNKNOWN, "no verdict was reached on one side")
    return Compared("verdict", x, y, SAME if x == y else DISAGREES)


def compare_claims(a: Side, b: Side) -> list[Compared]:
    ours, theirs = (
        {claim["name"]: claim for claim in side.verdict.get("claims", [])} for side in (a, b)
    )
    names = [*ours, *(name for name in theirs if name not in ours)]
    return [_claim(name, ours.get(name), theirs.get(name)) for name in names]


def _claim(name: str, ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None) -> Compared:
    """A claim that had nothing to ask on one side says nothing against the other."""
    x, y = (str(claim["status"]) if claim else NOT_CHECKED for claim in (ours, theirs))
    if x == y:
        return Compared(name, x, y, SAME)
    if {x, y} == {HOLDS, VIOLATED}:
        return Compared(name, x, y, DISAGREES)
    if VIOLATED not in (x, y) and any(c and not c.get("asked") for c in (ours, theirs)):
        return Compared(name, x, y, OPEN, "one run had nothing to ask")
    return Compared(name, x, y, UNKNOWN, "one run could not tell")


def count_numbers(a: Side, b: Side) -> list[Compared]:
    """Counts as they are; fates say what they mean."""
    found = []
    for part in NUMBERS:
        ours, theirs = (side.verdict.get(part) or {} for side in (a, b))
        for name in ours:
            x, y = ours[name], theirs.get(name)
            if isinstance(x, int):
                status = SAME if x == y else DIFFERS
                found.append(Compared(f"{part}.{name}", str(x), str(y), status))
    return found


def _counts(rows: DataFrame) -> dict[str, int]:
    """Messages by the worst status of their fields."""
    worst = (
        f"CASE WHEN bool_or(status = '{DISAGREES}') THEN '{DISAGREES}' "
        f"WHEN bool_or(status = '{UNKNOWN}') THEN '{UNKNOWN}' "
        f"WHEN bool_or(status = '{OPEN}') THEN '{OPEN}' ELSE '{SAME}' END"
    )
    by_message = rows.groupBy("message_id").agg(F.expr(worst).alias("status"))
    counted = {
        row["status"]: row["count"] for row in by_message.groupBy("status").count().collect()
    }
    return {status: counted.get(status, 0) for status in (SAME, OPEN, UNKNOWN, DISAGREES)}


def _differences(rows: DataFrame, names: list[str]) -> list[Difference]:
    order = F.expr(f"array_position(array('{DISAGREES}', '{UNKNOWN}', '{OPEN}'), status)")
    parted = rows.where(f"status <> '{SAME}'").orderBy(order, "submitted_ms", "message_id", "field")
    return [
        Difference(
            message_id=row["message_id"],
            submitted_ms=row["submitted_ms"],
            field=row["field"],
            a=row["a"] or "not sent",
            b=row["b"] or "not sent",
            status=row["status"],
            rule=row["rule"] or "",
            why=f"{names[row['side'] == 'b']}: {row['why']}" if row["why"] else "",
        )
        for row in parted.limit(MOST_DIFFERENCES).collect()
    ]


def _named(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "run": side.folder.run,
        "host": side.folder.host,
        "folder": side.folder.path.name,
        "verdict": side.verdict.get("verdict"),
    }
