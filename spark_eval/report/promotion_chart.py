"""Promotions over lab time: a lane for each shadow server, primary server and cause, a band while
they were due, and a mark for each that came, and for each that never did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spark_eval.report.axis import LabTime
from spark_eval.report.drawing import Bar, Drawing, Key, Line, Mark, Words, keys_of
from spark_eval.report.rows import ReportRows
from spark_eval.story.words import lab_time

LANE = 48
MOST_LANES = 40


@dataclass(frozen=True, slots=True)
class Point:
    """How a promotion is drawn and named."""

    name: str
    symbol: str
    role: str


POINTS = {
    "on time": Point("promotion", "star", "good"),
    "late": Point("late promotion", "star-late", "late"),
    "missing": Point("missing promotion (drawn when due)", "star-hollow", "alarm"),
    "early": Point("early promotion", "left", "alarm"),
    "spurious": Point("promotion without a cause", "star-ring", "alarm"),
}


def promotions(rows: ReportRows, end_ms: int) -> Drawing:
    """The first `MOST_LANES` pairs; the table has all."""
    time = LabTime(end_ms)
    pairs = [_pair(row) for row in rows.promotions[:MOST_LANES]]
    top = {pair: LANE * number for number, pair in enumerate(pairs)}
    marks = [_mark(row, top, time) for row in rows.promotion_points if _pair(row) in top]
    bands = [_band(row, top, time) for row in rows.promotion_windows if _pair(row) in top]
    due = [Key("due: not before, not after", bar="due")] if bands else []
    return Drawing(
        says=f"promotions of {len(pairs)} pairs of servers; the table below has the numbers",
        height=LANE * len(pairs),
        ticks=time.ticks(),
        label_ch=0,
        bars=bands,
        lines=[Line("0%", "100%", y + LANE - 1, y + LANE - 1, "level") for y in top.values()],
        words=[Words("0%", y + 14, _says(pair), "above") for pair, y in top.items()],
        marks=marks,
        keys=keys_of(marks) + due,
    )


def _pair(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["shadow_server"], row["primary_server"], row["cause"]


def _says(pair: tuple[str, str, str]) -> str:
    return f"{pair[0]} for {pair[1]}, {pair[2]}"


def _mark(row: dict[str, Any], top: dict[tuple[str, str, str], int], time: LabTime) -> Mark:
    point, at_ms = POINTS[row["what"]], row["at_s"] * 1000
    return Mark(
        x=time.x(at_ms),
        y=top[_pair(row)] + 32,
        symbol=point.symbol,
        role=point.role,
        name=point.name,
        title=f"{row['promotions']} × {point.name}, {lab_time(at_ms)}",
        count=row["promotions"],
    )


def _band(row: dict[str, Any], top: dict[tuple[str, str, str], int], time: LabTime) -> Bar:
    begun = row["from_s"] if row["from_s"] is not None else row["to_s"]
    from_ms, to_ms = begun * 1000, row["to_s"] * 1000
    return Bar(
        x=time.x(from_ms),
        width=time.width(from_ms, to_ms),
        y=top[_pair(row)] + 22,
        height=20,
        style="due",
        title=f"{row['promotions']} due from {lab_time(from_ms)} to {lab_time(to_ms)}",
    )
