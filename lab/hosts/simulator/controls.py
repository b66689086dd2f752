"""What faults act through in the simulator: its links, its servers, and eyes on both.

The same faults as on containers (lab/faults) use these; a probe sees at once what a connection
would see at this moment.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from lab.hosts.simulator.connection import Flow
from lab.hosts.simulator.event_loop import MS, World
from lab.hosts.simulator.network import Link
from lab.hosts.simulator.operations import ask_locally
from lab.hosts.simulator.server import STOPPED, SimulatedServer
from lab.hosts.simulator.smtp.external import ExternalServer
from lab.plan.directory import Directory
from lab.plan.effects import DOWN, Effect
from lab.workload.probe import Probe, Seen
from nodes.core.config.groups import DistributionGroup
from nodes.core.config.mailboxes import Mailbox

AnyServer = SimulatedServer | ExternalServer
BANNER = "220 simulated"


class SimulatedProxies:
    """Links by the name of their proxy."""

    def __init__(self, links: Mapping[str, Link]) -> None:
        self._links = links

    def apply(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        for proxy in proxies:
            self._links[proxy].apply(effect)

    def undo(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        for proxy in proxies:
            self._links[proxy].undo()

    def read_back(self, proxies: Sequence[str]) -> dict[str, Mapping[str, object]]:
        return {proxy: _state(self._links[proxy]) for proxy in proxies}


def _state(link: Link) -> Mapping[str, object]:
    return {
        "enabled": not link.is_refusing,
        "forward": link.forward.value,
        "backward": link.backward.value,
        "resetting": link.is_resetting,
        "latency_us": {stream: late.latency_us for stream, late in link.late.items()},
        "bytes_per_second": dict(link.bytes_per_second),
        **({} if link.limit_bytes is None else {"limit_bytes": link.limit_bytes}),
        **({} if link.reset_after_us is None else {"reset_after_us": link.reset_after_us}),
        **({} if link.slicing is None else asdict(link.slicing)),
        **({} if link.slow_close_us is None else {"slow_close_us": link.slow_close_us}),
    }


class SimulatedServers:
    """Servers by name."""

    def __init__(self, world: World, servers: Mapping[str, AnyServer]) -> None:
        self._world, self._servers = world, servers
        self._going_down: set[str] = set()

    def kill(self, server: str) -> int:
        return self._servers[server].kill()

    def lose_power(self, server: str) -> int:
        found = self._servers[server]
        return found.lose_power() if isinstance(found, SimulatedServer) else found.kill()

    def stop(self, server: str) -> int:
        """It is asked to stop, and is down soon after."""
        self._going_down.add(server)
        self._servers[server].stop(lambda: self._going_down.discard(server))
        return STOPPED

    def restart(self, server: str) -> int:
        self._going_down.add(server)
        self._servers[server].stop(lambda: self._start_again(server))
        return STOPPED

    def _start_again(self, server: str) -> None:
        self._servers[server].start()
        self._going_down.discard(server)

    def pause(self, server: str) -> None:
        self._servers[server].pause()

    def resume(self, server: str) -> None:
        self._servers[server].resume()

    def is_paused(self, server: str) -> bool:
        return self._servers[server].is_paused

    def is_running(self, server: str) -> bool:
        return self._servers[server].is_running

    def set_aside_queue_database(self, server: str, fault_id: str) -> Sequence[str]:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.disk.set_queue_database_aside()
        return ["queue.db"]

    def lose(self, server: str) -> None:
        """One that is on its way down is lost when it is down."""
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.lose()

    def make_anew(self, server: str, databases: Sequence[str]) -> None:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.make_anew(tuple(databases))

    def damage_queue_database(self, server: str) -> Sequence[str]:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.disk.damage_queue_database()
        return ["queue.db"]

    def fill_disk(self, server: str, *, is_full: bool) -> None:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.fill_disk(is_full)

    def use_disk(self, server: str, percent: int) -> None:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.use_disk(percent)

    def skew_clock(self, server: str, by_ms: int) -> None:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.skew_clock(by_ms)

    def change_directory(self, server: str, directory: Directory) -> None:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.change_directory(
                tuple(DistributionGroup(each.address, each.members) for each in directory.groups),
                tuple(
                    Mailbox(each.address, each.database, each.moves_to)
                    for each in directory.mailboxes
                ),
                directory.inactive,
                directory.not_authenticating,
            )

    def goes_by_directory(self, server: str) -> bool:
        """What it does not know yet it hears before anything else."""
        return True

    def machine(self, server: str) -> Mapping[str, object]:
        found = self._servers[server]
        return found.machine() if isinstance(found, SimulatedServer) else {}

    def start(self, server: str) -> None:
        self._servers[server].start()

    def ask(self, server: str, line: str) -> Callable[[], str]:
        return ask_locally(self._world, self._servers[server], line)

    def answers(self, server: str) -> bool:
        found = self._servers[server]
        return found.listens and not found.is_paused

    def reached(self, server: str, fault_id: str) -> Mapping[str, object] | None:
        found = self._servers[server]
        return found.holds.reached.get(fault_id) if isinstance(found, SimulatedServer) else None

    def let_go(self, server: str, fault_id: str) -> bool:
        found = self._servers[server]
        if isinstance(found, SimulatedServer):
            found.holds.let_go(fault_id)
        return True

    @property
    def are_settled(self) -> bool:
        """No server is on its way up or down."""
        coming_up = any(not each.listens and each.is_running for each in self._servers.values())
        return not self._going_down and not coming_up


class SimulatedProber:
    """Sees what a new connection would see. Addresses are names of proxies."""

    def __init__(self, links: Mapping[str, Link], servers: SimulatedServers) -> None:
        self._links, self._servers = links, servers

    def probe(self, address: str, wait_seconds: float) -> Probe:
        link = self._links[address]
        if link.is_refusing:
            return Probe(Seen.REFUSED, "connection refused")
        if link.is_resetting:
            return Probe(Seen.RESET, "connection reset by peer")
        if not link.target.listens:
            return Probe(Seen.CLOSED, "")
        if link.backward is not Flow.PASS or not self._servers.answers(link.name.target):
            return Probe(Seen.SILENT, "no banner")
        if link.reset_after_us is not None:
            return _reset_in_time(link.reset_after_us / MS, wait_seconds * 1000)
        late_ms = link.late[DOWN].latency_us / MS
        late_ms += len(BANNER) * 1000 / (link.bytes_per_second[DOWN] or math.inf)
        if late_ms > wait_seconds * 1000:
            return Probe(Seen.SILENT, "no banner in time", wait_seconds * 1000)
        return Probe(Seen.BANNER, BANNER, late_ms)


def _reset_in_time(after_ms: float, wait_ms: float) -> Probe:
    if after_ms > wait_ms:
        return Probe(Seen.SILENT, "no banner in time", wait_ms)
    return Probe(Seen.RESET, "connection reset by peer", after_ms)
