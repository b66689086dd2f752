"""Times that a server kept by a clock that was wrong, in lab time."""

from __future__ import annotations

import pytest

from spark_eval.read.clocks import Life, kept_ms


def _lives(first_ms: int, second_ms: int) -> tuple[Life, Life]:
    """The skew of a life until 100 and of the one from then on."""
    return Life(0, 100, first_ms), Life(100, None, second_ms)


@pytest.mark.parametrize(
    ("first", "second", "said", "meant"),
    [
        (0, 0, 70, 70),
        (0, 0, 170, 170),
        (0, 50, 70, 70),
        (0, 50, 170, 120),
        (0, 500, 70, 70),
        (40, 40, 70, 30),
        (-10, 20, 85, 95),
        (-10, 20, 95, None),  # neither life: the server was down
        (0, -50, 70, None),  # either life
        (0, -500, -300, 200),  # not before lab time began
    ],
)
def test_a_time_that_was_kept_is_known_where_one_life_can_have_written_it(
    first: int, second: int, said: int, meant: int | None
) -> None:
    assert kept_ms(said, _lives(first, second)) == meant


def test_a_time_that_was_kept_is_not_after_the_row_that_tells_it() -> None:
    assert kept_ms(70, _lives(0, -50), not_after_ms=110) == 70
