"""The path to each site (RT-1), by example and against every path that there is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodes.core.config.network import Network, Site, SiteLink
from nodes.core.routing.paths import Path, paths_from

SITES = ("bonn", "lisbon", "oslo", "paris", "rome")


def network(*links: tuple[str, str, int]) -> Network:
    named = sorted({site for one, other, _ in links for site in (one, other)})
    return Network(
        tuple(Site(each, is_hub=False) for each in named),
        tuple(SiteLink((one, other), cost, None) for one, other, cost in links),
        (),
    )


WAYS = {
    "the least cost, over more links": (
        "lisbon oslo 100, lisbon paris 10, paris oslo 10",
        "lisbon paris oslo",
    ),
    "of equal costs the fewest hops": (
        "lisbon oslo 20, lisbon paris 10, paris oslo 10",
        "lisbon oslo",
    ),
    "of as many hops the lowest name": (
        "lisbon paris 10, paris oslo 10, lisbon bonn 10, bonn oslo 10",
        "lisbon bonn oslo",
    ),
    "the name of the site nearest the destination, not of the first": (
        "lisbon bonn 9, bonn rome 9, rome oslo 9, lisbon tunis 9, tunis paris 9, paris oslo 9",
        "lisbon tunis paris oslo",
    ),
    "where that is the same, the site before it": (
        "lisbon tunis 10, tunis paris 10, lisbon bonn 10, bonn paris 10, paris oslo 10",
        "lisbon bonn paris oslo",
    ),
}


@pytest.mark.parametrize("what", WAYS)
def test_what_counts_is(what: str) -> None:
    links, way = WAYS[what]
    each = (link.split() for link in links.split(","))
    known = network(*((one, other, int(cost)) for one, other, cost in each))
    assert " ".join(paths_from("lisbon", known)["oslo"].sites) == way


def test_a_site_that_no_link_names_is_on_the_default_link() -> None:
    known = network(("lisbon", "paris", 10))
    found = paths_from("lisbon", known, ["oslo"])
    assert found["oslo"] == Path(("lisbon", "oslo"), 100, None)
    assert paths_from("oslo", known)["paris"].cost == 100


def test_a_site_that_no_link_reaches_has_no_path() -> None:
    known = network(("lisbon", "paris", 10), ("bonn", "oslo", 10))
    assert set(paths_from("lisbon", known)) == {"lisbon", "paris"}


def test_a_path_takes_no_more_than_its_narrowest_link() -> None:
    links = (SiteLink(("lisbon", "paris"), 10, 500), SiteLink(("paris", "oslo"), 10, 300))
    found = paths_from("lisbon", Network((), links, ()))
    assert [found[site].max_bytes for site in ("lisbon", "paris", "oslo")] == [None, 500, 300]


LINKS = st.dictionaries(
    st.sampled_from([(a, b) for a in SITES for b in SITES if a < b]), st.integers(1, 4), min_size=4
)


@given(LINKS)
def test_no_other_path_is_better(links: dict[tuple[str, str], int]) -> None:
    known = network(*((one, other, cost) for (one, other), cost in links.items()))
    assume("lisbon" in {site for pair in links for site in pair})
    for end, path in paths_from("lisbon", known).items():
        best = min(_every(links, "lisbon", end))
        assert (path.cost, len(path.sites), path.sites[::-1]) == best


def _every(
    links: dict[tuple[str, str], int],
    start: str,
    end: str,
    cost: int = 0,
    seen: tuple[str, ...] = (),
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    seen = (*seen, start)
    if start == end:
        yield cost, len(seen), seen[::-1]
    for (one, other), more in links.items():
        for here, there in ((one, other), (other, one)):
            if here == start and there not in seen:
                yield from _every(links, there, end, cost + more, seen)
