"""Where a server has to send mail for a recipient, and which servers stand in when it cannot
(RT-1 to RT-3, RT-5), by the plan alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from spark_eval.histories.organisation.database import Database
from spark_eval.histories.organisation.directory import Directory
from spark_eval.histories.organisation.network import Connector, Network, Path
from spark_eval.histories.organisation.server import Server

DATABASE, HUB, CONNECTOR, SERVERS = "database:", "hub:", "connector:", "servers:"
_RELAYS = ("dag:", "site:", HUB, CONNECTOR, SERVERS)
TOO_LARGE = "unreachable:ROUTING.SizeLimit"
Tiers = tuple[tuple[str, ...], ...]


class Way(NamedTuple):
    """`hop` as a server's rows have it; `tiers`: the servers to try, those of one site together:
    the next tier only where none before it can be reached. Without a tier nobody is to be tried.
    `sites`: the path to the primary site of the group, the sender's own first.
    """

    hop: str
    tiers: Tiers
    sites: tuple[str, ...] = ()

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(server for tier in self.tiers for server in tier)

    @property
    def is_into_a_database(self) -> bool:
        """Of the sender's own boundary, in one hop (SR-12)."""
        return self.hop.startswith(DATABASE)

    @property
    def is_to_a_hub(self) -> bool:
        return self.hop.startswith(HUB)

    @property
    def is_relay(self) -> bool:
        """To other servers of the organisation, which send it on."""
        return self.hop.startswith(_RELAYS)


class Routing:
    """Of every mailbox server, each way derived once."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        databases: Mapping[str, Database],
        directory: Directory,
        network: Network,
        expansion_servers: Mapping[str, str],
    ) -> None:
        self._servers = servers
        self._databases = databases
        self._directory = directory
        self._network = network
        self._lists = {group: SERVERS + server for group, server in expansion_servers.items()}
        self._known: dict[tuple[str, str, int], Way | None] = {}
        limits = [each.max_bytes for each in network.connectors]
        limits += [link.max_bytes for link in network.links.values()]
        self._limits = sorted({each for each in limits if each is not None})

    def way(self, server: Server, recipient: str, size_bytes: int | None) -> Way | None:
        """Of a recipient whom nobody serves there is none; of a group, that to its expansion
        server.
        """
        place = self._directory.place_of(recipient) or self._lists.get(recipient)
        return None if place is None else self.way_to(server, place, size_bytes)

    def way_to(self, server: Server, place: str, size_bytes: int | None) -> Way | None:
        """To a mailbox database, a server outside, or an expansion server (`servers:mbx1`)."""
        if not server.is_mailbox:
            return None
        size = size_bytes or 0
        key = (server.name, place, sum(size > limit for limit in self._limits))
        if key not in self._known:
            self._known[key] = self._way(server, place, size)
        return self._known[key]

    def members(self, hop: str) -> tuple[str, ...]:
        """The mailbox servers that a next hop of this organisation is reached at, by name."""
        if hop.startswith(CONNECTOR):
            name = hop.removeprefix(CONNECTOR)
            return next((c.sources for c in self._network.connectors if c.name == name), ())
        if hop.startswith(SERVERS):
            return (hop.removeprefix(SERVERS),)
        if hop.startswith(HUB):
            return self._mailbox_servers(hop.removeprefix(HUB))
        return tuple(sorted(s.name for s in self._servers.values() if s.boundary == hop))

    def _way(self, server: Server, place: str, size: int) -> Way | None:
        if place.startswith(SERVERS):
            return self._over(server, place, size)
        database = self._databases.get(place)
        if database is None:
            return self._out(server, place, size)
        boundaries = {self._servers[c].boundary for c in database.copies if c in self._servers}
        boundary = min((each for each in boundaries if each), default=None)
        if boundary in (None, server.boundary):
            return Way(DATABASE + place, (tuple(database.copies),))
        return self._over(server, boundary or "", size)

    def _out(self, server: Server, to: str, size: int) -> Way:
        straight = Way(f"external:{to}", ((to,),))
        connectors = [each for each in self._network.connectors if each.to == to]
        if not connectors:
            return straight
        wide = [each for each in connectors if each.max_bytes is None or size <= each.max_bytes]
        if not wide:
            return Way(TOO_LARGE, ())
        chosen = min(wide, key=lambda each: self._cost(server, each))
        if server.name in chosen.sources:
            return straight
        return self._over(server, CONNECTOR + chosen.name, size)

    def _cost(self, server: Server, connector: Connector) -> tuple[int, bool, str]:
        if server.name in connector.sources:
            return connector.cost, False, connector.name
        return self._nearest(server, connector.sources).cost + connector.cost, True, connector.name

    def _over(self, server: Server, hop: str, size: int) -> Way:
        path = self._nearest(server, self.members(hop))
        if path.max_bytes is not None and size > path.max_bytes:
            return Way(TOO_LARGE, ())
        for at, site in enumerate(path.sites[1:], start=2):
            if site in self._network.hubs:
                way = path.sites[:at]
                return Way(HUB + site, tuple(self._tiers(server, HUB + site, way)), path.sites)
        return Way(hop, tuple(self._tiers(server, hop, path.sites)), path.sites)

    def _nearest(self, server: Server, members: tuple[str, ...]) -> Path:
        """The path to the primary site of a group."""
        paths = (self._path(server, self._servers[m].site) for m in members if m in self._servers)
        return min(paths, key=_nearness, default=Path((server.site or "",), 0, None))

    def _path(self, server: Server, site: str | None) -> Path:
        start, end = server.site or "", site or ""
        return self._network.path(start, end) or Path((start, end), 0, None)

    def _tiers(self, server: Server, hop: str, sites: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        members = [self._servers[name] for name in self.members(hop) if name in self._servers]
        by_site: dict[Path, list[str]] = {}
        for each in members:
            by_site.setdefault(self._path(server, each.site), []).append(each.name)
        seen = {server.name}
        for path in sorted(by_site, key=_nearness):
            yield tuple(each for each in by_site[path] if each not in seen)
            seen.update(by_site[path])
        if all(each.site != server.site for each in members):
            for site in reversed(sites[1:]):
                yield tuple(each for each in self._mailbox_servers(site) if each not in seen)
                seen.update(self._mailbox_servers(site))

    def _mailbox_servers(self, site: str) -> tuple[str, ...]:
        known = self._servers.values()
        return tuple(sorted(each.name for each in known if each.is_mailbox and each.site == site))


def _nearness(path: Path) -> tuple[int, int, str]:
    return path.cost, len(path.sites), path.sites[-1]
