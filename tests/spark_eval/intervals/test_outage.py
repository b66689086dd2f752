"""What may have been lies around what surely was: every extent, every stretch of time."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

from spark_eval.intervals.interval import Interval
from spark_eval.intervals.outage import Certainty, Outage, out_at

MOMENTS = range(4)
SPANS = [Interval(lo, hi) for lo, hi in combinations_with_replacement(MOMENTS, 2)]
OUTAGES = [
    Outage(possible, certain)
    for possible, certain in product(SPANS, [None, *SPANS])
    if certain is None or possible.covers(*certain)
]


@pytest.mark.parametrize("outage", OUTAGES)
@pytest.mark.parametrize("span", SPANS)
def test_it_lasted_at_some_moment(outage: Outage, span: Interval) -> None:
    expected = Certainty.NO
    if outage.possible.touches(*span):
        expected = Certainty.MAYBE
    if outage.certain is not None and outage.certain.touches(*span):
        expected = Certainty.YES
    assert outage.at(*span) is expected


def test_of_several_the_surest_counts() -> None:
    outages = [Outage(Interval(0, 9), None), Outage(Interval(4, 8), Interval(5, 6))]
    assert out_at(outages, 0, 1) is Certainty.MAYBE
    assert out_at(outages, 0, 5) is Certainty.YES
    assert out_at(outages, 20, 30) is Certainty.NO
