"""Where mail of a server may have to go, and when faults may have stood in its way.

A place is a mailbox database, a server outside, or a next hop of the organisation: another
boundary, a hub site, the sources of a connector, an expansion server; servers there need others to
take mail. The way to a mailbox database of one copy is that to its server. Where a database changed
its active copy, or was dismounted, the ways to all of them count, and those of Active Manager, who
has to find one and to name it; and a while after each dismount and mount, in which others learn of
it, or in which a server with a new queue database is reminded of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from spark_eval.histories.organisation.active_copies import ActiveCopies
from spark_eval.histories.organisation.database import Database
from spark_eval.histories.organisation.routing import Routing
from spark_eval.histories.organisation.server import ACTIVE_MANAGER, Server
from spark_eval.histories.organisation.software import Software
from spark_eval.histories.ways import MANAGEMENT, Trouble, Ways
from spark_eval.intervals.interval import Interval


class Routes:
    """Troubles between every server and every place of a run, each derived once."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        databases: Mapping[str, Database],
        active_copies: Mapping[str, ActiveCopies],
        ways: Ways,
        software: Software,
        routing: Routing,
        *,
        makes_redundant: bool,
    ) -> None:
        self._servers = servers
        self._databases = databases
        self._active_copies = active_copies
        self._ways = ways
        self._software = software
        self._routing = routing
        self._makes_redundant = makes_redundant
        self._known: dict[tuple[str, str], tuple[Trouble, ...]] = {}

    def troubles(self, server: str, place: str) -> tuple[Trouble, ...]:
        """In order of time. `place` is a mailbox database, a server outside, or a next hop."""
        key = (server, place)
        if key not in self._known:
            self._known[key] = tuple(sorted(set(self._troubles(server, place))))
        return self._known[key]

    def around(self, server: str) -> tuple[Trouble, ...]:
        """Of every way from a server, in whatever order."""
        return tuple(
            trouble for peer in self._servers for trouble in self._ways.troubles(server, peer)
        )

    def boundary_of(self, place: str) -> str | None:
        """The boundary in which a mailbox database has its copies; None of other places."""
        database = self._databases.get(place)
        copies = database.copies if database else ()
        known = (self._servers[name].boundary for name in copies if name in self._servers)
        return min((each for each in known if each is not None), default=None)

    def _troubles(self, server: str, place: str) -> Iterator[Trouble]:
        peers = self._peers(place)
        for peer in peers:
            yield from self._ways.troubles(server, peer)
        mine = self._servers.get(server)
        if self._makes_redundant and mine is not None and mine.is_mailbox:
            yield from self._inside(place)
        if place in self._moved and mine is not None and mine.is_mailbox:
            yield from self._of_managers(mine, peers)
            learnt_ms = self._software.learnt_ms
            yield from (_while_learning(at_ms, learnt_ms) for at_ms in self._moved[place])
            yield from self._reminded(mine)

    def _peers(self, place: str) -> list[str]:
        database = self._databases.get(place)
        if database is not None:
            return list(database.copies)
        return [place] if place in self._servers else list(self._routing.members(place))

    def _inside(self, place: str) -> Iterator[Trouble]:
        """What is between the servers of the boundaries of those who take mail there, which make it
        redundant anew before they acknowledge it, or refuse it (SR-5).
        """
        takers = self._routing.members(place)
        boundaries = {self._servers[name].boundary for name in takers if name in self._servers}
        for boundary in boundaries:
            members = self._routing.members(boundary or "")
            for server in members:
                for peer in members:
                    yield from self._ways.troubles(server, peer)

    @cached_property
    def _moved(self) -> dict[str, list[int]]:
        """When copies of a database were mounted or dismounted, of those that were."""
        known = self._active_copies.values()
        return {each.database: each.moved_ms for each in known if each.moved_ms}

    def _of_managers(self, server: Server, copies: list[str]) -> Iterator[Trouble]:
        """With a copy, whoever's mail it is; with the server itself where it is of that DAG, and
        the while after it in which Active Manager tries again to name the copy.
        """
        dags = {self._servers[copy].dag for copy in copies if copy in self._servers}
        for manager in self._servers.values():
            if manager.role != ACTIVE_MANAGER or manager.dag not in dags:
                continue
            for copy in copies:
                for trouble in self._ways.troubles(manager.name, copy, MANAGEMENT):
                    yield Trouble(trouble.at, hangs=True)
            if server.dag in dags:
                # whoever goes by `hangs` adds its time-out
                learning_ms = max(self._software.learnt_ms - server.config.timeout_ms, 0)
                for trouble in self._ways.troubles(manager.name, server.name, MANAGEMENT):
                    yield Trouble(trouble.at.longer(learning_ms), hangs=True)

    def _reminded(self, server: Server) -> Iterator[Trouble]:
        """A server with a new queue database knows of no move before it."""
        for era in server.eras:
            if era.lost_ms is not None:
                until_ms = era.lost_ms + self._software.reminded_ms
                yield Trouble(Interval(era.lost_ms, until_ms), hangs=False)


def _while_learning(at_ms: int, for_ms: int) -> Trouble:
    return Trouble(Interval(at_ms, at_ms + for_ms), hangs=True)
