"""The drawings as Plotly figures in plain JSON. Shape and pattern carry the meaning, colour only
helps.

Colours are names of roles (`accent`, `alarm`, …); the page's script puts in the values of its light
or dark theme.
"""

from __future__ import annotations

from typing import Any

from spark_eval.report.rows import ReportRows, Rows
from spark_eval.report.words import fault, lab_time, span

Figure = dict[str, Any]

# kind of moment: symbol, size, colour role
MARKS: dict[str, tuple[str, int, str]] = {
    "accepted": ("line-ns-open", 7, "quiet"),
    "shadow let go": ("circle-open", 5, "quiet"),
    "duplicate hidden": ("hourglass-open", 9, "second"),
    "deferred": ("y-down-open", 8, "second"),
    "heartbeat failed": ("x-thin-open", 7, "alarm"),
    "unprotected": ("triangle-down", 10, "alarm"),
    "restart": ("diamond", 11, "accent"),
    "new database": ("square-cross-open", 13, "accent"),
    "database set aside": ("square-x-open", 13, "alarm"),
    "promotion": ("star", 13, "good"),
    "resubmitted": ("triangle-up-open", 9, "good"),
    "copy activated": ("pentagon", 13, "second"),
}
PATTERNS = {
    "kill": "/",
    "corrupt": "/",
    "pause": "-",
    "stop": "|",
    "restart": "+",
    "fill_disk": "x",
    "skew_clock": "x",
    "cut": ".",
    "slow": ".",
    "throttle": ".",
}
PHASE_SYMBOLS = {"before": "circle-open", "during": "diamond", "after": "square-open"}


def hours(ms: float) -> float:
    """Lab time on an axis."""
    return round(ms / 3_600_000, 5)


def timeline(rows: ReportRows, lanes: list[str], end_ms: int) -> Figure:
    """A lane for each server, fault windows behind, marks on top."""
    traces = _fault_bars(rows.faults, end_ms)
    for kind, (symbol, size, role) in MARKS.items():
        marks = [row for row in rows.moments if row["kind"] == kind and row["lane"] in lanes]
        if marks:
            traces.append(_marks(kind, marks, symbol, size, role))
    axis = {"categoryorder": "array", "categoryarray": lanes[::-1], "automargin": True}
    layout = {
        "height": 170 + 44 * len(lanes),
        "barmode": "overlay",
        "bargap": 0.25,
        "xaxis": {"title": {"text": "lab time (h)"}, "range": [0, hours(end_ms)]},
        "yaxis": axis,
        "legend": _legend(44 * len(lanes)),
    }
    return {"data": traces, "layout": layout}


def _legend(plot_height: int) -> Figure:
    """Below the axis and its title, whatever the height of the drawing."""
    return {"orientation": "h", "yanchor": "top", "y": -round(62 / plot_height, 3)}


def _fault_bars(faults: Rows, end_ms: int) -> list[Figure]:
    traces = []
    for kind, pattern in PATTERNS.items():
        bars = [bar for row in faults if row["kind"] == kind for bar in _bars(row, end_ms)]
        if bars:
            traces.append(_bar_trace(kind, pattern, bars))
    return traces


def _bars(row: dict[str, Any], end_ms: int) -> list[tuple[str, float, float, str]]:
    """(lane, start, length, text): the server that was away, or each whose sessions suffer."""
    start = row["applied_ms"] if row["applied_ms"] is not None else row["intended_ms"]
    if start is None:
        return []
    over = min(row["over_ms"] or end_ms, end_ms)
    lanes = [row["server"]] if row["server"] else _cut_lanes(row)
    text = f"{row['fault']}: {fault(row)}<br>{lab_time(start)} to {lab_time(over)}"
    return [(lane, hours(start), hours(max(over - start, 0)), text) for lane in lanes]


def _cut_lanes(row: dict[str, Any]) -> list[str]:
    return sorted({link["from"] for link in row["links"] or []})


def _bar_trace(kind: str, pattern: str, bars: list[tuple[str, float, float, str]]) -> Figure:
    names = {
        "kill": "killed",
        "corrupt": "killed, disk damaged",
        "pause": "paused",
        "stop": "stopped",
        "restart": "restarted",
        "fill_disk": "disk full",
        "skew_clock": "clock wrong",
        "cut": "sessions cut",
        "slow": "sessions slowed",
        "throttle": "sessions throttled",
    }
    return {
        "type": "bar",
        "orientation": "h",
        "name": names[kind],
        "y": [lane for lane, _, _, _ in bars],
        "base": [start for _, start, _, _ in bars],
        "x": [length for _, _, length, _ in bars],
        "hovertext": [text for _, _, _, text in bars],
        "hoverinfo": "text",
        "marker": {
            "color": "role:shade",
            "line": {"color": "role:ink", "width": 1},
            "pattern": {"shape": pattern, "size": 6, "fgcolor": "role:ink"},
        },
    }


def _marks(kind: str, marks: Rows, symbol: str, size: int, role: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "x": [hours(row["at_ms"]) for row in marks],
        "y": [row["lane"] for row in marks],
        "hovertext": [_moment(row) for row in marks],
        "hoverinfo": "text",
        "marker": {
            "symbol": symbol,
            "size": size,
            "color": f"role:{role}",
            "line": {"color": f"role:{role}", "width": 1.5},
        },
    }


def _moment(row: dict[str, Any]) -> str:
    detail = f" ({row['detail']})" if row["detail"] else ""
    return f"{row['lane']}: {row['count']} × {row['kind']}{detail}<br>from {lab_time(row['at_ms'])}"


def delays(rows: ReportRows, end_ms: int) -> Figure:
    """Delivery delay over lab time, before, during and after the faults."""
    traces = [
        _delay_trace(phase, symbol, [row for row in rows.delays if row["phase"] == phase])
        for phase, symbol in PHASE_SYMBOLS.items()
    ]
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "submitted at, lab time (h)"}, "range": [0, hours(end_ms)]},
        "yaxis": {"title": {"text": "delay (lab s, log)"}, "type": "log", "automargin": True},
        "legend": _legend(200),
        "shapes": _windows(rows.faults, end_ms),
    }
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def _delay_trace(phase: str, symbol: str, slices: Rows) -> Figure:
    roles = {"before": "quiet", "during": "alarm", "after": "accent"}
    worst = [max(row["max_ms"] / 1000, 0.001) for row in slices]
    median = [max(row["median_ms"] / 1000, 0.001) for row in slices]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{phase}: median, line up to the worst",
        "x": [hours(row["at_ms"]) for row in slices],
        "y": [round(value, 3) for value in median],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [round(w - m, 3) for w, m in zip(worst, median, strict=True)],
            "arrayminus": [0] * len(slices),
            "color": f"role:{roles[phase]}",
            "thickness": 1,
        },
        "hovertext": [_slice(row) for row in slices],
        "hoverinfo": "text",
        "marker": {"symbol": symbol, "size": 8, "color": f"role:{roles[phase]}"},
    }


def _slice(row: dict[str, Any]) -> str:
    return (
        f"{row['deliveries']} deliveries submitted from {lab_time(row['at_ms'])}<br>"
        f"median {span(row['median_ms'])}, worst {span(row['max_ms'])}"
    )


def _windows(faults: Rows, end_ms: int) -> list[Figure]:
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": hours(row["applied_ms"]),
            "x1": hours(min(row["over_ms"] or end_ms, end_ms)),
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"width": 1, "dash": "dot", "color": "role:quiet"},
            "fillcolor": "role:shade",
        }
        for row in faults
        if row["applied_ms"] is not None
    ]


def promotions(rows: ReportRows) -> Figure:
    """How long after its cause each promotion came, one line a pair of servers, bounds as bars."""
    names = {_pair(row): row for row in rows.promotions}
    lines = list(names)[::-1]
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "promotions",
        "x": [row["seconds"] for row in rows.promotion_points],
        "y": [_pair(row) for row in rows.promotion_points],
        "hovertext": [f"{p['promotions']} × {p['seconds']} s" for p in rows.promotion_points],
        "hoverinfo": "text",
        "marker": {"symbol": "star", "size": 11, "color": "role:good"},
    }
    bounds = {
        "type": "scatter",
        "mode": "markers",
        "name": "latest permitted",
        "x": [row["bound_ms"] / 1000 for row in names.values() if row["bound_ms"] is not None],
        "y": [name for name, row in names.items() if row["bound_ms"] is not None],
        "hoverinfo": "x",
        "marker": {"symbol": "line-ns-open", "size": 26, "color": "role:alarm",
                   "line": {"width": 3, "color": "role:alarm"}},
    }  # fmt: skip
    layout = {
        "height": 180 + 46 * len(lines),
        "xaxis": {"title": {"text": "after the cause (lab s)"}, "rangemode": "tozero"},
        "yaxis": {"categoryorder": "array", "categoryarray": lines, "automargin": True},
        "legend": _legend(46 * len(lines)),
    }
    return {"data": [points, bounds], "layout": layout}


def _pair(row: dict[str, Any]) -> str:
    return f"{row['shadow_server']} for {row['primary_server']}<br>{row['cause']}"
