"""What faults may have done to the way from one server to another.

A way is (from, to, service). It is in trouble while either end may be away, full or out of order,
or, where mail goes, under back pressure, while the component HubTransport of the server that is to
take it may be Inactive; while the Receive connector of the server that is called may authenticate
no other one; and while its link is cut, slow or throttled. `hangs`:
whoever had begun something then may wait for its end longer than the fault lasts; a server that
starts anew waits for nothing. A way from a server to itself is in trouble while the server is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from spark_eval.fault_kinds import Does
from spark_eval.histories.faults import Fault
from spark_eval.histories.organisation.server import Server
from spark_eval.intervals.interval import Interval
from spark_eval.intervals.outage import Outage

SMTP, REPLICATION, MANAGEMENT = "smtp", "replication", "management"
WORKLOAD = "workload"
_ENDS_IT = ("kill", "stop", "restart")


class Trouble(NamedTuple):
    """While something may have been in the way."""

    at: Interval
    hangs: bool

    def prolonged(self, by_ms: int) -> Interval:
        """With the time that what hangs may take to end."""
        return self.at.longer(by_ms) if self.hangs else self.at


class Slow(NamedTuple):
    """While exchanges took up to `late_ms` longer."""

    at: Interval
    late_ms: int


class Ways:
    """Of every ordered pair of ends."""

    def __init__(
        self,
        faults: Iterable[Fault],
        servers: Mapping[str, Server],
        inactive: Mapping[str, tuple[Outage, ...]],
        denying: Mapping[str, tuple[Outage, ...]],
    ) -> None:
        self._of_servers: dict[str, list[tuple[Interval, bool]]] = {}
        self._of_links: dict[tuple[str, str, str], list[Fault]] = {}
        self._inactive, self._denying = inactive, denying
        self._pressed = {server.name: server.pressure for server in servers.values()}
        self._troubles: dict[tuple[str, str, str], list[Trouble]] = {}
        for server in servers.values():
            for down in server.downs:
                ends_it = down.kind in _ENDS_IT
                self._of_servers.setdefault(server.name, []).append((down.outage.possible, ends_it))
        for fault in faults:
            for link in fault.links:
                if fault.outage is not None:
                    way = ((link.from_ or "").lower(), (link.to or "").lower(), link.service or "")
                    self._of_links.setdefault(way, []).append(fault)

    def troubles(self, server: str, peer: str, service: str = SMTP) -> list[Trouble]:
        """In order of time."""
        way = (server, peer, service)
        if way not in self._troubles:
            self._troubles[way] = self._all_troubles(*way)
        return self._troubles[way]

    def _all_troubles(self, server: str, peer: str, service: str) -> list[Trouble]:
        found = {Trouble(at, not ends_it) for at, ends_it in self._of_servers.get(server, ())}
        if peer != server:
            found |= {Trouble(at, hangs=True) for at, _ in self._of_servers.get(peer, ())}
        if service == SMTP:
            ends = (*self._pressed.get(server, ()), *self._pressed.get(peer, ()))
            found |= {Trouble(each.possible, hangs=True) for each in ends}
        if service == SMTP and server not in (peer, WORKLOAD):  # whoever is outside hears why
            away = self._inactive.get(peer, ())
            found |= {Trouble(each.possible, hangs=True) for each in away}
        if server not in (peer, WORKLOAD):
            found |= {Trouble(each.possible, hangs=True) for each in self._denying.get(peer, ())}
        links = self._of_links.get((server, peer, service), ())
        found |= {Trouble(each.outage.possible, hangs=True) for each in links if each.outage}
        return sorted(found)

    def cuts(self, server: str, peer: str, service: str = SMTP) -> list[Outage]:
        """While nothing may have passed, or some of it not, or the peer sent every server away."""
        links = self._of_links.get((server, peer, service), ())
        away = (Does.AWAY, Does.IN_DOUBT)
        cut = [each.outage for each in links if each.outage and each.does in away]
        return cut if server in (peer, WORKLOAD) else [*cut, *self._denying.get(peer, ())]

    def slows(self, server: str, peer: str, service: str = SMTP) -> list[Slow]:
        links = self._of_links.get((server, peer, service), ())
        return sorted(
            Slow(each.outage.possible, each.late_ms)
            for each in links
            if each.outage and each.late_ms is not None
        )

    def from_outside(self, server: str) -> list[Trouble]:
        """Of a server itself, and of the way to it from the workload."""
        own = self.troubles(server, server)
        return sorted({*own, *self.troubles(WORKLOAD, server)})
