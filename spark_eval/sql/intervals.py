"""Pieces of Spark SQL on intervals that several derivations need: `lo`, `hi` in lab ms, hi
excluded.

Text in, text out; nothing is evaluated here.
"""

from __future__ import annotations

FOREVER_MS = "4102444800000L"
INTERVAL = "struct<lo: bigint, hi: bigint>"


def merged(intervals: str) -> str:
    """The same array of intervals sorted, overlapping and touching ones made one."""
    last = "try_element_at(acc, -1)"
    grown = (
        f"concat(slice(acc, 1, size(acc) - 1), array(named_struct('lo', {last}.lo, "
        f"'hi', greatest({last}.hi, x.hi))))"
    )
    return (
        f"aggregate(array_sort({intervals}), CAST(array() AS array<{INTERVAL}>), "
        f"(acc, x) -> IF(coalesce({last}.hi >= x.lo, false), {grown}, concat(acc, array(x))))"
    )


def first_clear(start: str, intervals: str, need_ms: str) -> str:
    """Earliest time from `start` on that is followed by `need_ms` free of `intervals`."""
    ends = f"transform(filter({intervals}, o -> o.hi >= {start}), o -> o.hi)"
    blocked = f"exists({intervals}, o -> o.lo < t + ({need_ms}) AND o.hi > t)"
    return f"array_min(filter(concat(array({start}), {ends}), t -> NOT {blocked}))"


def last_before(times: str, limit: str) -> str:
    """Latest of `times` at or before `limit`; null where there is none."""
    return f"array_max(filter({times}, t -> t <= {limit}))"


def overlaps(intervals: str, start: str, end: str) -> str:
    """Whether any of `intervals` touches [start, end]."""
    return f"exists({intervals}, o -> o.lo <= {end} AND o.hi >= {start})"
