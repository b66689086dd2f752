"""A lab that stands and runs, as faults, probes and the steady-state check see it.

Three things can be touched: the proxies of the links, the servers, and the prober inside the
lab. They are protocols, so that a test or another host can stand in for the containers. Which
faults act at the moment is kept beside them (`lab.faults.observer.standing`).
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lab.clock import LabClock
from lab.faults.observer.standing import Standing
from lab.plan.directory import Directory
from lab.plan.effects import Effect
from lab.plan.plan import Plan
from lab.plan.topology import LinkName, Server
from lab.workload.probe import Probe


class Proxies(Protocol):
    """The proxies of the links, by proxy name.

    Each call returns when the proxies say that it is done. Every method raises GroundError.
    """

    def apply(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None: ...

    def undo(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        """Of that fault, whole, half or not at all applied."""

    def read_back(self, proxies: Sequence[str]) -> Mapping[str, Mapping[str, object]]: ...


class Servers(Protocol):
    """The servers, by name. Every method raises GroundError."""

    def kill(self, server: str) -> int:
        """SIGKILL; the exit code."""

    def lose_power(self, server: str) -> int:
        """The same, and what was not made durable may be gone. Where no host can do that,
        GroundError.
        """

    def is_running(self, server: str) -> bool: ...

    def stop(self, server: str) -> int:
        """SIGTERM, and time to end in good order; the exit code."""

    def restart(self, server: str) -> int:
        """The same, and a start as soon as it has ended; the exit code of its end."""

    def pause(self, server: str) -> None:
        """It stands still where it is; its connections stay."""

    def resume(self, server: str) -> None:
        """Of a server that is paused."""

    def is_paused(self, server: str) -> bool: ...

    def set_aside_queue_database(self, server: str, fault_id: str) -> Sequence[str]:
        """Of a server that is down; the names of the files moved."""

    def lose(self, server: str) -> None:
        """Nothing is left of a server that is down: no process, no disk. Gone for good, unless
        `make_anew` follows.
        """

    def make_anew(self, server: str, databases: Sequence[str]) -> None:
        """A new server of that name, with nothing on its disk, to be started; `databases`: those it
        has copies of, which exist already.
        """

    def damage_queue_database(self, server: str) -> Sequence[str]:
        """Of a server that is down; the names of the files that cannot be read any more."""

    def start(self, server: str) -> None: ...

    def fill_disk(self, server: str, *, is_full: bool) -> None:
        """Its machine is so from now on; the server is notified of it if it runs."""

    def use_disk(self, server: str, percent: int) -> None:
        """So much of the volume that holds its queue database is in use, some of it by somebody
        else; 0: what it uses itself.
        """

    def skew_clock(self, server: str, by_ms: int) -> None:
        """The same; 0 is right."""

    def machine(self, server: str) -> Mapping[str, object]:
        """How the server finds its machine, `disk_is_full`, `disk_percent` and `skew_ms` among it;
        empty while it has not said so since the last change.
        """

    def ask(self, server: str, line: str) -> Callable[[], str]:
        """Said to a server on its own machine, as itself. What comes back waits for its reply, and
        gives its code and text; empty where none comes. Does not raise GroundError."""

    def change_directory(self, server: str, directory: Directory) -> None:
        """Active Directory has this from now on; the server is notified of it if it runs."""

    def goes_by_directory(self, server: str) -> bool:
        """Whether the server has read what Active Directory has now."""

    def answers(self, server: str) -> bool:
        """Whether its banner is seen from inside the server, past every link."""

    def reached(self, server: str, fault_id: str) -> Mapping[str, object] | None:
        """`at_ms` and `mono_ns` of the moment at which the server reached the place that the
        fault waits for, by its own clocks; None before. It has held still there since."""

    def let_go(self, server: str, fault_id: str) -> bool:
        """A server that is held may go on; false where it has not waited so long. A server that
        reaches the place after this goes on at once."""


class Prober(Protocol):
    """Connects over links from inside the lab. Raises AgentError."""

    def probe(self, address: str, wait_seconds: float) -> Probe: ...


@dataclass(slots=True)
class KeptDirectory:
    """What Active Directory has `now`; None while that is what the plan's topology has. `lock` is
    for whoever changes it.
    """

    now: Directory | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Wire:
    """How a link is reached: the name of its proxy and the address that the proxy listens on."""

    proxy: str
    address: str


@dataclass(slots=True)
class RunningLab:
    """The plan and the means to act on it. `links` holds every link of the plan, which is another
    one when something is done by hand.

    `ending` is set when nobody waits for anything any more. `monotonic_ns` is the clock of the
    host that the lab runs on.
    """

    plan: Plan
    clock: LabClock
    links: Mapping[LinkName, Wire]
    proxies: Proxies
    servers: Servers
    prober: Prober
    monotonic_ns: Callable[[], int] = time.monotonic_ns
    standing: Standing = field(default_factory=Standing)
    directory: KeptDirectory = field(default_factory=KeptDirectory)
    ending: threading.Event = field(default_factory=threading.Event)

    def server(self, name: str) -> Server:
        return next(server for server in self.plan.topology.servers if server.name == name)

    def kind_of_link(self, link: LinkName) -> tuple[str, str]:
        """The roles at its ends: `("mailbox", "external")`; the workload is its own role."""
        roles = {server.name: server.role for server in self.plan.topology.servers}
        return roles.get(link.source, link.source), roles.get(link.target, link.target)

    def links_to(self, server: str) -> list[LinkName]:
        return [link for link in self.links if link.target == server]
