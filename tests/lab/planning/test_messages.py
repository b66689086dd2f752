"""Who receives a message is drawn from the seed alone, however many there are to choose from."""

from hypothesis import given
from hypothesis import strategies as st

from lab.planning import messages as traffic


@st.composite
def draws(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    """Receivers, and for each turn a draw among those that are left."""
    known = draw(st.integers(1, 60))
    turns = draw(st.integers(0, known))
    left = [draw(st.integers(0, known - turn - 1)) for turn in range(turns)]
    return [str(n) for n in range(known)], left


@given(draws())
def test_few_of_many_are_the_same_ones_without_a_copy(drawn: tuple[list[str], list[int]]) -> None:
    few, plain = traffic._taken_few(*drawn), traffic._taken(*drawn)
    assert few in ((), plain)
    assert (few == plain) or len(plain) ** 2 > len(drawn[0])
    assert len(set(plain)) == len(plain)
