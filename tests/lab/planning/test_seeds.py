"""Seeds by name: stable everywhere, and independent of one another."""

from hypothesis import given
from hypothesis import strategies as st

from lab.planning.seeds import seed_for


def test_a_seed_is_the_same_number_for_ever() -> None:
    assert seed_for(7, "link", "par-mbx1", "lyo-mbx1") == 8104439329467028507


@given(st.integers(), st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_other_names_give_another_seed(run_seed: int, names: list[str], others: list[str]) -> None:
    same = seed_for(run_seed, *names) == seed_for(run_seed, *others)
    assert same == (names == others)


def test_names_are_not_run_together() -> None:
    assert seed_for(1, "a", "bc") != seed_for(1, "ab", "c")
    assert seed_for(1, "2") != seed_for(1, 2)
