"""The path from one Active Directory site to every other one (RT-1).

Of two paths the one with the lower sum of link costs counts, then that with fewer hops, then that
whose site nearest to the destination has the alphanumerically lower name; where it is the same one,
the site before it decides, and so on (F§5.2). Pure: knows sites and links, no servers.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.config.network import DEFAULT_COST, Network, SiteLink

Rank: TypeAlias = tuple[int, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Path:
    """`sites` from the own one to the destination, both with it; `max_bytes`: the least maximum
    message size of its links, None where none has any.
    """

    sites: tuple[str, ...]
    cost: int
    max_bytes: int | None

    @property
    def rank(self) -> Rank:
        """Of two paths the lower one counts."""
        return self.cost, len(self.sites), self.sites[-2::-1]


def paths_from(site: str, network: Network, others: Iterable[str] = ()) -> Mapping[str, Path]:
    """By destination, with the path to the site itself, which costs nothing; `others` are sites
    that the network does not list.
    """
    neighbours = _neighbours(network, {site, *others})
    found: dict[str, Path] = {}
    start = Path((site,), 0, None)
    count = itertools.count()
    waiting = [(start.rank, next(count), site, start)]
    while waiting:
        *_, here, path = heapq.heappop(waiting)
        if here in found:
            continue
        found[here] = path
        for other, link in neighbours.get(here, ()):
            if other not in found:
                longer = _over(path, link, other)
                heapq.heappush(waiting, (longer.rank, next(count), other, longer))
    return found


def _neighbours(network: Network, also: set[str]) -> dict[str, list[tuple[str, SiteLink]]]:
    found: dict[str, list[tuple[str, SiteLink]]] = {}
    for link in (*network.links, *_default_links(network, also)):
        one, other = link.between
        found.setdefault(one, []).append((other, link))
        found.setdefault(other, []).append((one, link))
    return found


def _default_links(network: Network, also: set[str]) -> Iterator[SiteLink]:
    """DEFAULTIPSITELINK."""
    named = {site for link in network.links for site in link.between}
    every = sorted({site.name for site in network.sites} | also)
    for one, other in _pairs(every):
        if one not in named or other not in named:
            yield SiteLink((one, other), DEFAULT_COST, None)


def _pairs(names: list[str]) -> Iterable[tuple[str, str]]:
    return ((one, other) for at, one in enumerate(names) for other in names[at + 1 :])


def _over(path: Path, link: SiteLink, site: str) -> Path:
    limits = [each for each in (path.max_bytes, link.max_bytes) if each is not None]
    return Path((*path.sites, site), path.cost + link.cost, min(limits, default=None))
