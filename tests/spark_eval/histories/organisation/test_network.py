"""The path between two sites, as the judge has it: computed apart from a node's, and the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nodes.core.config.network import Network, Site, SiteLink
from nodes.core.routing.paths import paths_from
from spark_eval.histories.organisation.network import network_of
from spark_eval.read.json_values import row_of
from spark_eval.read.plan import Topology

SITES = ("bonn", "lisbon", "metz", "oslo", "paris", "rome")
PAIRS = [(a, b) for a in SITES for b in SITES if a < b]
LINKS = st.dictionaries(
    st.sampled_from(PAIRS), st.tuples(st.integers(1, 4), st.none() | st.integers(1, 3)), min_size=3
)


def topology(links: dict[tuple[str, str], tuple[int, int | None]]) -> Topology:
    site_links: list[dict[str, Any]] = [
        {"between": list(pair), "cost": cost, "max_message_size_bytes": limit}
        for pair, (cost, limit) in links.items()
    ]
    sites = [{"name": site, "outside": False} for site in SITES]
    return row_of(Topology, {"sites": sites, "site_links": site_links})


@given(LINKS)
def test_a_node_and_the_judge_find_the_same_paths(
    links: dict[tuple[str, str], tuple[int, int | None]],
) -> None:
    judged = network_of(topology(links))
    known = Network(
        tuple(Site(site, is_hub=False) for site in SITES),
        tuple(SiteLink(pair, *rest) for pair, rest in links.items()),
        (),
    )
    for start in SITES:
        found = paths_from(start, known)
        for end in SITES:
            path, node = judged.path(start, end), found.get(end)
            assert (path and tuple(path)) == (node and (node.sites, node.cost, node.max_bytes))


def test_an_exchange_cost_overrides_the_cost_of_a_link() -> None:
    links = [{"between": ["lisbon", "oslo"], "cost": 50, "exchange_cost": 10}]
    path = network_of(row_of(Topology, {"site_links": links})).path("lisbon", "oslo")
    assert path is not None
    assert path.cost == 10


def test_in_a_plan_without_links_every_site_is_on_the_default_link() -> None:
    servers = [{"name": site, "role": "mailbox", "site": site} for site in ("lisbon", "oslo")]
    path = network_of(row_of(Topology, {"servers": servers})).path("lisbon", "oslo")
    assert path == (("lisbon", "oslo"), 100, None)
