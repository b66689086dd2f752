"""What the page shows, as bounded rows out of the tables of `evaluation/`.

Each table is gone through row by row, and what is kept of it is aggregated or cut off: moments of
a timeline, slices of lab time, whole lab seconds. A night's mail makes a page no larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Any, TypeAlias

from spark_eval.read.rows import grouped
from spark_eval.report.rows import LATE_MS, MOST_MESSAGES, MOST_UNDELIVERED, ReportRows, Rows
from spark_eval.story.row import StoryLine

Row: TypeAlias = Mapping[str, Any]
Tables: TypeAlias = Mapping[str, Iterable[Row]]
"""Rows of result tables by name; each may be asked for more than once."""

SLICES = 120
MOST_POINTS = 400
MOST_FAULTS = 200
MOST_STORY_LINES = 4000
MOST_FATES = 12

UNDELIVERED = ("lost", "excused", "unknown")
PHASES = ("before", "during", "after")
PAIR = ("shadow_server", "primary_server", "cause")
DISPLAYED = ("on time", "late", "missing", "early", "spurious")
UNDELIVERED_SHOWN = (
    "message_id", "recipient", "outcome", "reason", "submitted_ms", "acknowledged_ms", "refs",
)  # fmt: skip


def build(tables: Tables, end_ms: int) -> ReportRows:
    """All but the stories. `end_ms`: how long the run's lab time is."""
    width_ms = max(end_ms // SLICES, 1)
    undelivered = [row for row in tables["deliveries"] if _is_undelivered(row)]
    return ReportRows(
        faults=_first(tables["fault_windows"], MOST_FAULTS, "applied_ms", "fault"),
        moments=_first(tables["timeline_events"], None, "at_ms", "lane", "kind", "detail"),
        phases=_phases(tables["delays"]),
        delays=_delays(tables["delays"], width_ms),
        fates=_fates(undelivered),
        undelivered=_undelivered(undelivered),
        undelivered_slices=_undelivered_slices(undelivered, width_ms),
        messages=_messages(tables["deliveries"]),
        promotions=_promotions(tables["promotions"], tables["promotion_delays"]),
        promotion_windows=_promotion_windows(tables["promotions"]),
        promotion_points=_promotion_points(tables["promotions"]),
        exposure=_exposure(tables["redundancy_exposure"], width_ms),
        attempts=_counted(Counter(_key(row, "outcome") for row in tables["attempts"]),
                          ("outcome",), "attempts"),
        stories=[],
        # tables that a run has only where its plan may make somebody ask a Safety Net
        transitions=_first(
            tables.get("transitions", ()), MOST_FAULTS, "mounted_ms", "database", "epoch"
        ),
        operations=_first(tables.get("operations", ()), MOST_FAULTS, "planned_ms", "operation"),
    )  # fmt: skip


def with_stories(rows: ReportRows, stories: Sequence[StoryLine]) -> ReportRows:
    """The same page with the first lines of `stories`."""
    told = sorted(stories, key=lambda line: line.order)[:MOST_STORY_LINES]
    return replace(rows, stories=[line.as_row() for line in told])


def _key(row: Row, *columns: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in columns)


def _placed(values: Iterable[Any]) -> tuple[Any, ...]:
    """To sort by: what is missing comes first."""
    return tuple((value is not None, value) for value in values)


def _first(rows: Iterable[Row], most: int | None, *order: str) -> Rows:
    """The first so many, in order, or all of them; a page is of one run, and does not name it."""

    def place(row: Row) -> tuple[Any, ...]:
        return _placed(_key(row, *order))

    chosen = sorted(rows, key=place) if most is None else nsmallest(most, rows, key=place)
    return [{name: value for name, value in row.items() if name != "run"} for row in chosen]


def _counted(counts: Mapping[tuple[Any, ...], int], columns: Sequence[str], name: str) -> Rows:
    """One row for each, in order of what is counted."""
    ordered = sorted(counts.items(), key=lambda each: _placed(each[0]))
    return [dict(zip(columns, key, strict=True)) | {name: count} for key, count in ordered]


def _grouped(
    rows: Iterable[Row], key: Callable[[Row], tuple[Any, ...]], column: str
) -> dict[tuple[Any, ...], list[int]]:
    """The values that there are, in order; every group."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        own = found.setdefault(key(row), [])
        if row[column] is not None:
            own.append(row[column])
    return {group: sorted(values) for group, values in found.items()}


def percentile(ordered: Sequence[int], part: float) -> float:
    """Between the two nearest where it falls between them; `ordered` has one at least."""
    place = (len(ordered) - 1) * part
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _div(time_ms: int | None, width_ms: int) -> int | None:
    return None if time_ms is None else int(time_ms / width_ms)


def _exposure(stretches: Iterable[Row], width_ms: int) -> Rows:
    """Per slice of lab time, how many messages were exposed at some moment of it: in transit, or
    else after their delivery. Slices in which none was are left out.
    """
    changes: dict[str, Counter[int]] = {"in_transit": Counter(), "delivered": Counter()}
    for row in stretches:
        first, last = row["from_ms"] // width_ms, row["to_ms"] // width_ms
        after = first
        if row["in_transit_ms"]:
            after = (row["from_ms"] + row["in_transit_ms"]) // width_ms + 1
        for name, lo, hi in (("in_transit", first, after), ("delivered", after, last + 1)):
            if lo < hi:
                changes[name][lo] += 1
                changes[name][hi] -= 1
    edges = sorted({*changes["in_transit"], *changes["delivered"]})
    exposed = dict.fromkeys(changes, 0)
    rows = []
    for at in range(edges[0], edges[-1]) if edges else ():
        for name, change in changes.items():
            exposed[name] += change[at]
        if any(exposed.values()):
            span = {"slice": at, "from_ms": at * width_ms, "to_ms": (at + 1) * width_ms}
            rows.append(span | exposed)
    return rows


def _phases(delays: Iterable[Row]) -> Rows:
    """Before, during, after: how many deliveries, and how long they took."""
    grouped = _grouped(delays, lambda row: _key(row, "phase"), "delay_ms")
    return [
        {
            "phase": phase,
            "deliveries": len(own),
            "min_ms": own[0],
            "median_ms": percentile(own, 0.5),
            "p95_ms": percentile(own, 0.95),
            "max_ms": own[-1],
        }
        for phase in PHASES
        if (own := grouped.get((phase,)))
    ]


def _delays(delays: Iterable[Row], width_ms: int) -> Rows:
    """Per slice of lab time, late ones by themselves: how many, median and worst delay."""

    def place(row: Row) -> tuple[Any, ...]:
        return row["delay_ms"] > LATE_MS, _div(row["submitted_ms"], width_ms)

    grouped = _grouped(delays, place, "delay_ms")
    first = {key: own[0] for key, own in _grouped(delays, place, "submitted_ms").items()}
    rows = [
        {
            "late": late,
            "slice": at,
            "deliveries": len(own),
            "at_ms": first[late, at],
            "min_ms": own[0],
            "median_ms": percentile(own, 0.5),
            "max_ms": own[-1],
        }
        for (late, at), own in grouped.items()
    ]
    return sorted(rows, key=lambda row: _placed(_key(row, "at_ms", "late")))


def _is_undelivered(row: Row) -> bool:
    return bool(row["promised"]) and row["outcome"] in UNDELIVERED


def _fates(undelivered: Iterable[Row]) -> Rows:
    """Why what was promised was not delivered: outcome, reason, how many; the most first."""
    counts = Counter(_key(row, "outcome", "reason") for row in undelivered)
    rows = _counted(counts, ("outcome", "reason"), "deliveries")
    return sorted(rows, key=lambda row: -int(row["deliveries"]))[:MOST_FATES]


def _undelivered(undelivered: Iterable[Row]) -> Rows:
    """Each of them, the first `MOST_UNDELIVERED`."""
    known = _first(undelivered, MOST_UNDELIVERED, "submitted_ms", "message_id", "recipient")
    return [{name: row[name] for name in UNDELIVERED_SHOWN} for row in known]


def _undelivered_slices(undelivered: Iterable[Row], width_ms: int) -> Rows:
    """All of them, counted by slice of lab time and outcome."""
    grouped = _grouped(
        (row for row in undelivered if row["submitted_ms"] is not None),
        lambda row: (row["outcome"], _div(row["submitted_ms"], width_ms)),
        "submitted_ms",
    )
    rows = [
        {"outcome": outcome, "slice": at, "deliveries": len(own), "at_ms": own[0]}
        for (outcome, at), own in grouped.items()
    ]
    return sorted(rows, key=lambda row: _placed(_key(row, "at_ms", "outcome")))


def _messages(deliveries: Iterable[Row]) -> Rows:
    """What became of each message, for each recipient; first those with a delivery not made."""
    found = grouped(deliveries, lambda row: str(row["message_id"]))
    rows = ({"message_id": name, **_fate_of(own)} for name, own in found.items())
    return _first(rows, MOST_MESSAGES, "delivered", "submitted_ms", "message_id")


def _fate_of(rows: Iterable[Row]) -> dict[str, Any]:
    ordered = sorted(rows, key=lambda row: _placed(_key(row, "recipient", "outcome", "first_ms")))
    submitted = [row["submitted_ms"] for row in ordered if row["submitted_ms"] is not None]
    return {
        "submitted_ms": min(submitted, default=None),
        "recipients": [
            {
                "recipient": row["recipient"],
                "outcome": row["outcome"],
                "at_ms": row["first_ms"],
            }
            for row in ordered
        ],
        "delivered": all(row["outcome"] == "delivered" for row in ordered),
    }


def _what(promotion: Row) -> str:
    """What became of a promotion that was due, or came."""
    promoted_ms, before_ms = promotion["promoted_ms"], promotion["not_before_ms"]
    if promotion["earliness"] == "violated":
        is_early = None not in (promoted_ms, before_ms) and promoted_ms < before_ms
        return "early" if is_early else "spurious"
    if promotion["timeliness"] == "violated":
        return "missing" if promoted_ms is None else "late"
    return "not shown" if promoted_ms is None else "on time"


def _promotions(promotions: Iterable[Row], delays: Iterable[Row]) -> Rows:
    """Per pair of servers and cause: what became of what was due, and how long it took."""
    counts: dict[tuple[Any, ...], Counter[str]] = {}
    for row in promotions:
        if row["cause"] is not None:
            counts.setdefault(_key(row, *PAIR), Counter())[_what(row)] += 1
    taken = _grouped(delays, lambda row: _key(row, *PAIR), "delay_ms")
    bounds = _grouped(delays, lambda row: _key(row, *PAIR), "bound_ms")
    return [
        dict(zip(PAIR, pair, strict=True))
        | {what.replace(" ", "_"): counts[pair][what] for what in DISPLAYED}
        | _spread(taken.get(pair, []), bounds.get(pair, []))
        for pair in sorted(counts, key=_placed)
    ]


def _spread(taken_ms: Sequence[int], bounds_ms: Sequence[int]) -> dict[str, Any]:
    return {
        "min_ms": min(taken_ms, default=None),
        "median_ms": percentile(taken_ms, 0.5) if taken_ms else None,
        "max_ms": max(taken_ms, default=None),
        "bound_ms": min(bounds_ms, default=None),
    }


def _promotion_windows(promotions: Iterable[Row]) -> Rows:
    """When promotions were due: not before, not after; to the second."""
    due = (
        row for row in promotions if row["cause"] is not None and row["not_after_ms"] is not None
    )
    counts = Counter(
        (*_key(row, *PAIR), _div(row["not_before_ms"], 1000), _div(row["not_after_ms"], 1000))
        for row in due
    )
    return _counted(counts, (*PAIR, "from_s", "to_s"), "promotions")[:MOST_POINTS]


def _promotion_points(promotions: Iterable[Row]) -> Rows:
    """When they came; those that never did, when they were due at the latest. To the second."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in promotions:
        promoted_ms, what = row["promoted_ms"], _what(row)
        at_s = _div(row["not_after_ms"] if promoted_ms is None else promoted_ms, 1000)
        if what != "not shown" and at_s is not None:
            counts[(*_key(row, *PAIR), what, at_s)] += 1
    rows = _counted(counts, (*PAIR, "what", "at_s"), "promotions")
    return _first(rows, MOST_POINTS, "at_s", *PAIR, "what")
