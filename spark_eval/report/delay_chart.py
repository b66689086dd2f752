"""What became of every delivery that was promised: its delay over the time when it was submitted,
and above all delays the band `never`, with a mark for each that was not made.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from spark_eval.report.axis import Delay, LabTime
from spark_eval.report.drawing import Bar, Drawing, Key, Line, Mark, Words, keys_of
from spark_eval.report.rows import LATE_MS, ReportRows, Rows
from spark_eval.report.windows import behind, fault_windows
from spark_eval.story.words import lab_moment, lab_time

PLOT, STEP, DEEPEST = 210, 9, 10
# in percent of the width: marks of one column are stacked
COLUMN = 0.7
NEVER: dict[str, tuple[str, str, str]] = {
    "lost": ("cross", "alarm", "lost"),
    "excused": ("diamond-hollow", "second", "excused"),
    "unknown": ("ring", "quiet", "nobody can say"),
}


def delays(rows: ReportRows, end_ms: int) -> Drawing:
    """Late deliveries are marked apart; the height of `never` grows with its deepest column."""
    time = LabTime(end_ms)
    never, columns, deepest = _never(rows, time)
    top = deepest * STEP + 14 if never or columns else 0
    scale = _scale(rows.delays, top + 8)
    made = [mark for row in rows.delays for mark in [_delivery(row, time, scale)]]
    bands = behind(fault_windows(rows.faults, end_ms), time, top, PLOT)
    if top:
        bands.append(Bar("0%", "100%", 0, top, "never"))
    marks = never + made
    return Drawing(
        says=f"delay of {sum(row['deliveries'] for row in rows.delays)} deliveries, and "
        f"{sum(row['deliveries'] for row in rows.undelivered_slices)} that were not made; the "
        "tables below say the same in words",
        height=top + PLOT,
        ticks=time.ticks(),
        label_ch=11,
        bars=bands + columns,
        lines=_levels(scale) + [_whisker(row, time, scale) for row in rows.delays],
        words=[Words("0%", y, text, "lane") for y, text in scale.ticks()]
        + ([Words("0%", top / 2, "never", "lane alarm")] if top else []),
        marks=marks,
        keys=keys_of(marks) + _keys(columns),
    )


def _scale(slices: Rows, top: int) -> Delay:
    least = min((row["min_ms"] for row in slices), default=100)
    most = max((row["max_ms"] for row in slices), default=LATE_MS)
    return Delay(max(least, 1), max(most, 10 * max(least, 1)), top, PLOT - 20)


def _never(rows: ReportRows, time: LabTime) -> tuple[list[Mark], list[Bar], int]:
    """A mark for each delivery, stacked from below; columns instead where there are too many."""
    total = sum(row["deliveries"] for row in rows.undelivered_slices)
    if total > len(rows.undelivered):
        return [], _columns(rows.undelivered_slices, time), DEEPEST
    places = [_column(row["submitted_ms"], time.end_ms) for row in rows.undelivered]
    depth = Counter(places)
    deepest = min(max(depth.values(), default=0), DEEPEST)
    seen: Counter[int] = Counter()
    marks = []
    for row, place in zip(rows.undelivered, places, strict=True):
        step = STEP * min(1, DEEPEST / depth[place])
        y = deepest * STEP + 4 - step * seen[place]
        seen[place] += 1
        marks.append(_undelivered(row, round(y, 1), time))
    return marks, [], deepest


def _column(at_ms: int, end_ms: int) -> int:
    return int(100 * at_ms / end_ms / COLUMN)


def _undelivered(row: dict[str, Any], y: float, time: LabTime) -> Mark:
    symbol, role, name = NEVER[row["outcome"]]
    return Mark(
        x=time.x(row["submitted_ms"]),
        y=y,
        symbol=symbol,
        role=role,
        name=name,
        title=f"{name}: {row['message_id']} to {row['recipient']}, submitted "
        f"{lab_time(row['submitted_ms'])}",
    )


def _columns(slices: Rows, time: LabTime) -> list[Bar]:
    totals: Counter[int] = Counter()
    for row in slices:
        totals[row["slice"]] += row["deliveries"]
    most = max(totals.values())
    bars = []
    below: Counter[int] = Counter()
    for row in slices:
        height = max(round(DEEPEST * STEP * row["deliveries"] / most), 3)
        below[row["slice"]] += height
        name = NEVER[row["outcome"]][2]
        bars.append(
            Bar(
                x=time.x(row["at_ms"]),
                width="0.7%",
                y=DEEPEST * STEP + 8 - below[row["slice"]],
                height=height,
                style=f"column {NEVER[row['outcome']][1]}",
                title=f"{row['deliveries']} {name}, submitted from {lab_time(row['at_ms'])}",
                name=name,
                count=row["deliveries"],
            )
        )
    return bars


def _keys(columns: list[Bar]) -> list[Key]:
    counts: Counter[tuple[str, str]] = Counter()
    for bar in columns:
        counts[bar.name, bar.style] += bar.count
    return [Key(name, bar=style, count=n) for (name, style), n in counts.items()]


def _delivery(row: dict[str, Any], time: LabTime, scale: Delay) -> Mark:
    symbol, role, name = (
        ("diamond", "late", f"late, over {lab_time(LATE_MS)} (median; line to the longest)")
        if row["late"]
        else ("dot", "accent", "delivered (median; line to the longest)")
    )
    return Mark(
        x=time.x(row["at_ms"]),
        y=scale.y(row["median_ms"]),
        symbol=symbol,
        role=role,
        name=name,
        title=f"{row['deliveries']} deliveries submitted from {lab_time(row['at_ms'])}: median "
        f"{lab_moment(row['median_ms'])}, longest {lab_moment(row['max_ms'])}",
        count=row["deliveries"],
    )


def _whisker(row: dict[str, Any], time: LabTime, scale: Delay) -> Line:
    x = time.x(row["at_ms"])
    style = "whisker late" if row["late"] else "whisker accent"
    return Line(x, x, scale.y(row["median_ms"]), scale.y(row["max_ms"]), style)


def _levels(scale: Delay) -> list[Line]:
    return [Line("0%", "100%", y, y, "level") for y, _ in scale.ticks()]
