"""Every question about intervals, against the same asked of each millisecond of a short time."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

from spark_eval.intervals.interval import (
    Interval,
    first_clear,
    last_by,
    merged,
    shared_ms,
    touches,
)

MOMENTS = range(6)
SPANS = [Interval(lo, hi) for lo, hi in combinations_with_replacement(MOMENTS, 2)]
PAIRS = list(product(SPANS, SPANS))


def _moments(span: Interval) -> set[int]:
    return set(range(span.lo, span.hi + 1))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_touch_where_they_share_a_moment(one: Interval, other: Interval) -> None:
    assert one.touches(*other) == bool(_moments(one) & _moments(other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_one_covers_another_where_it_has_all_its_moments(one: Interval, other: Interval) -> None:
    assert one.covers(*other) == (_moments(one) >= _moments(other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_touches_is_merged_into_one(one: Interval, other: Interval) -> None:
    found = merged([one, other])
    assert set().union(*map(_moments, found)) == _moments(one) | _moments(other)
    assert len(found) == (1 if one.touches(*other) else 2)
    assert list(found) == sorted(found)


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("need", [0, 1, 2])
def test_the_first_clear_time_has_nothing_in_it_and_none_is_earlier(
    one: Interval, other: Interval, need: int
) -> None:
    def is_clear(start: int) -> bool:
        return not any(span.lo < start + need and span.hi > start for span in (one, other))

    found = first_clear(0, [one, other], need)
    assert is_clear(found)
    assert not any(is_clear(start) for start in range(found) if start in (0, one.hi, other.hi))


def test_any_of_several_may_touch() -> None:
    spans = [Interval(1, 2), Interval(5, 6)]
    assert touches(spans, 2, 3)
    assert not touches(spans, 3, 4)


def test_shared_time_counts_each_by_itself() -> None:
    assert shared_ms([Interval(0, 4), Interval(2, 8)], 1, 6) == 3 + 4


def test_the_last_time_by_a_limit_may_be_the_limit() -> None:
    assert last_by([1, 5, 3], 4) == 3
    assert last_by([1, 5, 3], 5) == 5
    assert last_by([1, 5, 3], 0) is None
