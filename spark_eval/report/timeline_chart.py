"""The servers over lab time: a row for each fault with its name, then a lane for each server, with
pale bands where a fault holds it, its mail as small columns, and marks for what it did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from spark_eval.report.axis import LabTime
from spark_eval.report.drawing import Bar, Drawing, Key, Line, Mark, Traffic, Words, keys_of
from spark_eval.report.labels import Labels
from spark_eval.report.promotion_chart import POINTS
from spark_eval.report.rows import ReportRows, Rows
from spark_eval.report.windows import FEW_LINKS, Window, fault_windows, operations
from spark_eval.story.words import lab_time

ROW, LANE, GAP = 22, 42, 12
MOST_ROWS = 30
MOST_MARKS = 1200
COLUMNS = 240
# kind of moment: symbol, colour role
MARKS: dict[str, tuple[str, str]] = {
    "duplicate hidden": ("hourglass", "second"),
    "deferred": ("chevron", "second"),
    "heartbeat failed": ("slashed", "alarm"),
    "unprotected": ("down", "alarm"),
    "restart": ("diamond", "accent"),
    "new database": ("box-plus", "accent"),
    "database set aside": ("box-cross", "alarm"),
    "resubmitted": ("up", "good"),
    "copy activated": ("pentagon", "second"),
}
UPWARD, DOWNWARD = "accepted", "shadow let go"
BANDS = {
    "away": "the server is away",
    "cut": "its sessions are cut, slowed or throttled",
    "far": "the far end of those sessions",
    "impaired": "its disk or clock is out of order",
}


def timeline(rows: ReportRows, servers: list[str], end_ms: int) -> Drawing:
    """`servers` have a lane each, and so has whoever else is at an end of a link with a fault."""
    time = LabTime(end_ms)
    faults, asked = fault_windows(rows.faults, end_ms), operations(rows.operations)
    known = sorted([*faults, *asked], key=lambda window: window.from_ms)
    named, more = known[:MOST_ROWS], len(known[MOST_ROWS:])
    lanes = _lanes(servers, faults)
    top = ROW * (len(named) + (1 if more else 0)) + (GAP if named else 0)
    middle = {lane: top + LANE * number + LANE // 2 for number, lane in enumerate(lanes)}
    marks = _moments(rows.moments, middle, time) + _promotions(rows, middle, time)
    bands = _side_by_side([bar for fault in faults for bar in _bands(fault, middle, time)])
    return Drawing(
        says=f"{len(lanes)} servers, {len(faults)} faults and {len(asked)} operations over lab "
        "time; the tables below say the same in words",
        height=top + LANE * len(lanes),
        ticks=time.ticks(),
        label_ch=max((len(lane) for lane in lanes), default=0),
        bars=bands + [_row(window, number, time) for number, window in enumerate(named)],
        lines=_levels(middle) + _asked(asked, top, LANE * len(lanes), time) + _arrows(
            faults, middle, time
        ),
        words=[Words("0%", y, lane, "lane") for lane, y in middle.items()] + _more(more),
        traffic=[strip for lane in lanes for strip in _traffic(rows.moments, lane, middle, end_ms)],
        marks=marks + _heads(faults, middle, time),
        keys=keys_of(marks) + _keys(bands, rows.moments),
    )  # fmt: skip


def _lanes(servers: list[str], faults: list[Window]) -> list[str]:
    named = (end for window in faults for end in (*window.near, *window.far))
    return list(dict.fromkeys([*servers, *named]))


def _row(window: Window, number: int, time: LabTime) -> Bar:
    late = window.from_ms > time.end_ms * 0.45
    return Bar(
        x=time.x(window.from_ms),
        width=time.width(window.from_ms, window.over_ms),
        y=ROW * number + 2,
        height=ROW - 5,
        style=f"named {window.style}",
        title=window.title,
        label=f"{window.name}: {window.says}",
        label_x=-4 if late else 4,
        end=late,
        href=window.href,
    )


def _more(more: int) -> list[Words]:
    text = f"and {more} more, in the table of faults below"
    return [Words("0%", ROW * MOST_ROWS + 16, text, "above")] if more else []


def _bands(window: Window, middle: dict[str, int], time: LabTime) -> Iterable[Bar]:
    ends = [(lane, window.style, window.name) for lane in window.near]
    ends += [(lane, "far", "") for lane in window.far if lane not in window.near]
    for lane, style, label in ends:
        if lane in middle:
            yield Bar(
                x=time.x(window.from_ms),
                width=time.width(window.from_ms, window.over_ms),
                y=middle[lane] - LANE // 2 + 2,
                height=LANE - 4,
                style=style,
                title=window.title,
                label=label,
                href=window.href,
            )


def _side_by_side(bands: list[Bar]) -> list[Bar]:
    """A name that finds no room near where its band begins is left out: the rows above have it."""
    labels = Labels()
    placed = {id(bar): bar for bar in bands}
    for bar in sorted(bands, key=lambda bar: float(bar.x.removesuffix("%"))):
        if bar.label:
            place = labels.place(bar.x, bar.label, [bar.y])
            label = bar.label if place else ""
            placed[id(bar)] = replace(bar, label=label, label_x=4 + (place[1] if place else 0))
    return list(placed.values())


def _arrows(faults: list[Window], middle: dict[str, int], time: LabTime) -> list[Line]:
    return [
        Line(time.x(window.from_ms), time.x(window.from_ms), middle[near], middle[far], "link")
        for window, near, far in _few_links(faults, middle)
    ]


def _heads(faults: list[Window], middle: dict[str, int], time: LabTime) -> list[Mark]:
    """An arrow's head at the far end of each link; too many would hide the lanes."""
    return [
        Mark(
            x=time.x(window.from_ms),
            y=middle[far] - 9 if middle[far] > middle[near] else middle[far] + 9,
            symbol="head-down" if middle[far] > middle[near] else "head-up",
            role="ink",
            name="far end of a cut",
            title=window.title,
        )
        for window, near, far in _few_links(faults, middle)
    ]


def _few_links(
    faults: list[Window], middle: dict[str, int]
) -> Iterable[tuple[Window, str, str]]:  # fmt: skip
    for window in faults:
        for near, far in window.links if len(window.links) <= FEW_LINKS else ():
            if near in middle and far in middle and near != far:
                yield window, near, far


def _asked(asked: list[Window], top: int, height: int, time: LabTime) -> list[Line]:
    return [
        Line(time.x(window.from_ms), time.x(window.from_ms), top, top + height, "operation")
        for window in asked
    ]


def _levels(middle: dict[str, int]) -> list[Line]:
    return [Line("0%", "100%", y, y, "level") for y in middle.values()]


def _moments(moments: Rows, middle: dict[str, int], time: LabTime) -> list[Mark]:
    drawn = [row for row in moments if row["kind"] in MARKS and row["lane"] in middle]
    kinds = list(MARKS)
    ordered = sorted(thinned(drawn, time.end_ms), key=lambda row: kinds.index(row["kind"]))
    return [_moment(row, middle[row["lane"]], time) for row in ordered]


def _moment(row: dict[str, Any], y: int, time: LabTime) -> Mark:
    symbol, role = MARKS[row["kind"]]
    return Mark(
        x=time.x(row["at_ms"]),
        y=y,
        symbol=symbol,
        role=role,
        name=row["kind"],
        title=_says(row),
        count=row["count"],
    )


def thinned(moments: Rows, end_ms: int, most: int = MOST_MARKS) -> Rows:
    """At most `most` of them: those of one kind, lane and detail that are near are one."""
    columns = COLUMNS
    while len(moments) > most and columns > 1:
        columns //= 2
        width = max(end_ms // columns, 1)
        merged: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in moments:
            key = (row["lane"], row["kind"], row["detail"], row["at_ms"] // width)
            known = merged.setdefault(key, {**row, "count": 0})
            known["count"] += row["count"]
            known["at_ms"] = min(known["at_ms"], row["at_ms"])
        moments = list(merged.values())
    return moments


def _says(row: dict[str, Any]) -> str:
    detail = f" ({row['detail']})" if row["detail"] else ""
    return f"{row['lane']}: {row['count']} × {row['kind']}{detail}, from {lab_time(row['at_ms'])}"


def _promotions(rows: ReportRows, middle: dict[str, int], time: LabTime) -> list[Mark]:
    """Those that came, and those that did not at the time when they were due."""
    return [
        Mark(
            x=time.x(row["at_s"] * 1000),
            y=middle[row["shadow_server"]],
            symbol=POINTS[row["what"]].symbol,
            role=POINTS[row["what"]].role,
            name=POINTS[row["what"]].name,
            title=f"{row['shadow_server']} for {row['primary_server']}: {row['promotions']} × "
            f"{POINTS[row['what']].name}, {lab_time(row['at_s'] * 1000)}",
            count=row["promotions"],
        )
        for row in rows.promotion_points
        if row["shadow_server"] in middle
    ]


def _traffic(
    moments: Rows, lane: str, middle: dict[str, int], end_ms: int
) -> Iterable[Traffic]:  # fmt: skip
    """Mail accepted above the middle of the lane, shadow messages let go below it."""
    for kind, sign, style in ((UPWARD, -1, "accepted"), (DOWNWARD, 1, "let-go")):
        counts = [0] * COLUMNS
        for row in moments:
            if row["lane"] == lane and row["kind"] == kind:
                column = row["at_ms"] * COLUMNS // end_ms
                counts[min(max(column, 0), COLUMNS - 1)] += row["count"]
        most = max(counts)
        steps = [
            f"M{n} 1v{sign * round(count / most, 2):g}h.8V1z"
            for n, count in enumerate(counts)
            if count
        ]
        if steps:
            yield Traffic(middle[lane] - 15, 30, COLUMNS, "".join(steps), style)


def _keys(bands: list[Bar], moments: Rows) -> list[Key]:
    drawn = {bar.style for bar in bands}
    kinds = {row["kind"] for row in moments}
    traffic = ((UPWARD, "accepted", "mail accepted (upwards)"),
               (DOWNWARD, "let-go", "shadow messages let go (downwards)"))  # fmt: skip
    return [Key(text, bar=style) for style, text in BANDS.items() if style in drawn] + [
        Key(text, bar=style) for kind, style, text in traffic if kind in kinds
    ]
