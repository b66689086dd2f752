"""Sites, links and Send connectors of a plan, and the path between any two sites (RT-1).

Which path is right is computed here from what F§5.2 says, and shares nothing with what a server
computes: first what each site costs, then back from the destination, each time to the site with
the lowest name of those that are on some path that costs no more and has no more hops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from spark_eval.read.plan import Topology

# an IP site link's own cost, and DEFAULTIPSITELINK's, which joins sites that no link names
DEFAULT_COST = 100


class Path(NamedTuple):
    """`sites` from the first to the last, both with it; `max_bytes` of its narrowest link."""

    sites: tuple[str, ...]
    cost: int
    max_bytes: int | None


class Connector(NamedTuple):
    """By which servers mail for `to`, a server outside, leaves."""

    name: str
    to: str
    sources: tuple[str, ...]
    cost: int
    max_bytes: int | None


class _Link(NamedTuple):
    cost: int
    max_bytes: int | None


@dataclass(slots=True)
class Network:
    """`links` by both ends, either way round."""

    hubs: frozenset[str]
    connectors: tuple[Connector, ...]
    links: Mapping[tuple[str, str], _Link]
    _paths: dict[tuple[str, str], Path] = field(default_factory=dict)

    def path(self, start: str, end: str) -> Path | None:
        """None where no link leads there."""
        if (start, end) not in self._paths:
            for path in self._paths_from(start):
                self._paths[start, path.sites[-1]] = path
        return self._paths.get((start, end))

    def _paths_from(self, start: str) -> Iterable[Path]:
        distances = self._distances(start)
        for end in distances:
            sites = [end]
            while sites[0] != start:
                sites.insert(0, self._before(sites[0], distances))
            limits = (self.links[pair].max_bytes for pair in pairwise(sites))
            narrowest = min((each for each in limits if each is not None), default=None)
            yield Path(tuple(sites), distances[end][0], narrowest)

    def _distances(self, start: str) -> dict[str, tuple[int, int]]:
        """Cost and hops to each site."""
        found = {start: (0, 0)}
        is_settled = False
        while not is_settled:
            is_settled = True
            for (one, other), link in self.links.items():
                if one in found:
                    over = (found[one][0] + link.cost, found[one][1] + 1)
                    if other not in found or over < found[other]:
                        found[other], is_settled = over, False
        return found

    def _before(self, site: str, distances: Mapping[str, tuple[int, int]]) -> str:
        cost, hops = distances[site]
        return min(
            one
            for (one, other), link in self.links.items()
            if other == site and distances.get(one) == (cost - link.cost, hops - 1)
        )


def network_of(topology: Topology) -> Network:
    """In a plan of before sites are those of its servers, joined by the default link."""
    servers = [each for each in topology.servers or () if each.role != "external"]
    outside = {each.name for each in topology.sites or () if each.outside}
    sites = {each.name for each in topology.sites or ()} | {each.site for each in servers}
    links = dict(_links(topology))
    named = {site for pair in links for site in pair}
    inside = {site for site in sites - outside if site is not None}
    for one in inside:
        for other in inside - {one}:
            if one not in named or other not in named:
                links[one, other] = _Link(DEFAULT_COST, None)
    return Network(
        frozenset(each.name for each in topology.sites or () if each.hub and each.name),
        tuple(_connectors(topology)),
        links,
    )


def _links(topology: Topology) -> Iterable[tuple[tuple[str, str], _Link]]:
    for each in topology.site_links or ():
        one, other = each.between or ("", "")
        cost = each.cost if each.exchange_cost is None else each.exchange_cost
        link = _Link(DEFAULT_COST if cost is None else cost, each.max_message_size_bytes)
        yield (one, other), link
        yield (other, one), link


def _connectors(topology: Topology) -> Iterable[Connector]:
    for each in topology.send_connectors or ():
        sources = tuple(name.lower() for name in each.sources or ())
        to, cost = (each.to or "").lower(), each.cost or 0
        yield Connector(each.name or "", to, sources, cost, each.max_message_size_bytes)
