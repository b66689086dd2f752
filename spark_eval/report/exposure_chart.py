"""How many messages had fewer than two custodians, over lab time, above the faults that caused it:
in transit, and after their delivery.
"""

from __future__ import annotations

from typing import Any

from spark_eval.report.axis import LabTime
from spark_eval.report.drawing import Bar, Drawing, Key, Line, Words
from spark_eval.report.rows import ReportRows
from spark_eval.report.windows import behind, fault_windows
from spark_eval.story.words import lab_time

PLOT, ROOM = 150, 16
# column of the rows, style, its words
KINDS = (
    ("in_transit", "column alarm", "in transit"),
    ("delivered", "column second", "after delivery"),
)


def exposure(rows: ReportRows, end_ms: int) -> Drawing:
    """`rows.exposure`: by slice of lab time, how many messages were exposed in it."""
    time = LabTime(end_ms)
    most = max(row["in_transit"] + row["delivered"] for row in rows.exposure)
    columns = [bar for row in rows.exposure for bar in _columns(row, most, time)]
    return Drawing(
        says=f"up to {most} messages at a time had fewer than two custodians; the table below "
        "says for how long, and why",
        height=PLOT,
        ticks=time.ticks(),
        label_ch=11,
        bars=[*behind(fault_windows(rows.faults, end_ms), time, 0, PLOT), *columns],
        lines=[Line("0%", "100%", ROOM, ROOM, "level")],
        words=[Words("0%", ROOM, str(most), "lane"), Words("0%", PLOT - 4, "0", "lane")],
        keys=[
            Key(name, bar=style)
            for kind, style, name in KINDS
            if any(row[kind] for row in rows.exposure)
        ],
    )


def _columns(row: dict[str, Any], most: int, time: LabTime) -> list[Bar]:
    bars, y = [], float(PLOT)
    for kind, style, name in KINDS:
        if row[kind]:
            height = (PLOT - ROOM) * row[kind] / most
            y -= height
            bars.append(
                Bar(
                    x=time.x(row["from_ms"]),
                    width=time.width(row["from_ms"], row["to_ms"]),
                    y=round(y, 1),
                    height=round(height, 1),
                    style=style,
                    title=f"{row[kind]} messages, {name}: {lab_time(row['from_ms'])} to "
                    f"{lab_time(row['to_ms'])}",
                )
            )
    return bars
