"""Places as columns are asked as a sorted list of them would be, whatever parts they came in."""

from __future__ import annotations

import random
from bisect import bisect_right

import pytest

from spark_eval.histories.orders import Order, Orders
from spark_eval.read.names import Ref

FILES = ("logs/b/MSGTRK-2.LOG", "logs/b/MSGTRK-1.LOG", "logs/a/MSGTRK-1.LOG")


def _places(chance: random.Random, count: int) -> list[Order]:
    """Many at the same time, some at the same moment too."""
    return [
        (
            chance.randrange(10),
            chance.randrange(3),
            Ref(chance.choice(FILES), chance.randrange(1, 99)),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_asked_as_one_sorted_list(seed: int) -> None:
    chance = random.Random(seed)
    places, whole, split = _places(chance, 40), Orders(), chance.randrange(40)
    for some in (places[split:], places[:split]):
        part = Orders()
        for place in some:
            part.append(place)
        whole.add(part)
    whole.sort()
    ordered = sorted(places)
    for asked in (*places, *_places(chance, 40)):
        if asked[2].file in {place[2].file for place in places}:
            assert whole.by(asked) == bisect_right(ordered, asked)
    for at_ms in range(-1, 11):
        after = [place[0] for place in ordered if place[0] > at_ms]
        before = [place[0] for place in ordered if place[0] <= at_ms]
        assert whole.first_ms(at_ms) == (after[0] if after else None)
        assert whole.last_ms(at_ms) == (before[-1] if before else None)
    assert len(whole) == 40


def test_of_none_nothing_is_said() -> None:
    nobody = Orders()
    nobody.sort()
    assert nobody.by((5, 0, Ref(FILES[0], 1))) == 0
    assert nobody.first_ms(0) is nobody.last_ms(9) is None
