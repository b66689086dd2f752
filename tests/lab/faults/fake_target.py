"""A lab of fakes: it remembers what was done to it, and shows banners accordingly."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lab.clock import LabClock, parse_origin
from lab.faults.observer.target import RunningLab, Wire
from lab.plan.directory import Directory
from lab.plan.effects import DOWN, Effect
from lab.plan.link_faults import CUTS, CutKind
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.program.errors import GroundError
from lab.workload.agent import Hushed, ProbeMessageReply, WorkloadStatus
from lab.workload.probe import Probe, Seen

BANNER = "220 " + "a long way to say who answers " * 4
LOOKS: Mapping[CutKind, Seen] = {
    "refuse": Seen.REFUSED,
    "blackhole": Seen.SILENT,
    "stall": Seen.SILENT,
    "reset": Seen.RESET,
    "ack-lost": Seen.SILENT,
}


@dataclass
class FakeGround:
    """Proxies, servers and prober in one. `deeds` is what was done, in order.

    `fails` holds deeds that raise GroundError; `works` false makes cuts do nothing. `places` says
    which faults have reached theirs, `lapsed` whose servers did not wait.
    """

    plan: Plan
    deeds: list[str] = field(default_factory=list)
    fails: set[str] = field(default_factory=set)
    works: bool = True
    reads: bool = True
    says: dict[str, str] = field(default_factory=dict)
    exit_code: int = 137
    stays_down: bool = False
    effects: dict[str, Effect] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    paused: set[str] = field(default_factory=set)
    disk_is_full: bool = False
    skew_ms: int = 0
    disk_percent: int = 0
    places: dict[str, Mapping[str, object]] = field(default_factory=dict)
    lapsed: set[str] = field(default_factory=set)
    when_done: Callable[[str], None] = lambda deed: None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def links(self) -> dict[LinkName, Wire]:
        """Addresses are the names of the proxies."""
        return {
            LinkName(link.source, link.target, link.service): Wire(link.proxy, link.proxy)
            for link in self.plan.links
        }

    def apply(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        self._do(f"apply {fault_id}")
        if self.works:
            self.effects.update(dict.fromkeys(proxies, effect))

    def undo(self, fault_id: str, effect: Effect, proxies: Sequence[str]) -> None:
        self._do(f"undo {fault_id}")
        for proxy in proxies:
            self.effects.pop(proxy, None)

    def read_back(self, proxies: Sequence[str]) -> Mapping[str, Mapping[str, object]]:
        return {proxy: {"effect": str(self.effects.get(proxy))} for proxy in proxies}

    def kill(self, server: str) -> int:
        self.down.add(server)
        self._do(f"kill {server}")
        return self.exit_code

    def lose_power(self, server: str) -> int:
        self.down.add(server)
        self._do(f"lose power {server}")
        return self.exit_code

    def stop(self, server: str) -> int:
        self.down.add(server)
        self._do(f"stop {server}")
        return self.exit_code

    def restart(self, server: str) -> int:
        exit_code = self.stop(server)
        self.start(server)
        return exit_code

    def pause(self, server: str) -> None:
        self._do(f"pause {server}")
        if self.works:
            self.paused.add(server)

    def resume(self, server: str) -> None:
        self._do(f"resume {server}")
        self.paused.discard(server)

    def is_paused(self, server: str) -> bool:
        return server in self.paused

    def is_running(self, server: str) -> bool:
        return server not in self.down

    def set_aside_queue_database(self, server: str, fault_id: str) -> Sequence[str]:
        self._do(f"set aside {server}")
        return ["queue.db"]

    def lose(self, server: str) -> None:
        self._do(f"lose {server}")

    def make_anew(self, server: str, databases: Sequence[str]) -> None:
        self._do(f"new {server} with {', '.join(databases)}")

    def damage_queue_database(self, server: str) -> Sequence[str]:
        self._do(f"damage {server}")
        return ["queue.db"] if self.works else []

    def ask(self, server: str, line: str) -> Callable[[], str]:
        self._do(f"ask {server}: {line}")
        said = self.says.get(server, "250 2.0.0 1 b")
        return lambda: said if self.works and server not in self.down else ""

    def change_directory(self, server: str, directory: Directory) -> None:
        for each in directory.groups:
            self._do(f"directory of {server}: {each.name} has {' '.join(each.members)}")
        for moved in directory.mailboxes:
            on_its_way = f", on its way to {moved.moves_to}" if moved.moves_to else ""
            self._do(f"directory of {server}: {moved.address} in {moved.database}{on_its_way}")

    def goes_by_directory(self, server: str) -> bool:
        return self.reads

    def fill_disk(self, server: str, *, is_full: bool) -> None:
        self._do(f"{'fill' if is_full else 'clear'} {server}")
        self.disk_is_full = is_full and self.works

    def skew_clock(self, server: str, by_ms: int) -> None:
        self._do(f"skew {server} by {by_ms}")
        self.skew_ms = by_ms if self.works else 0

    def use_disk(self, server: str, percent: int) -> None:
        self._do(f"use {percent} % of {server}")
        self.disk_percent = percent if self.works else 0

    def machine(self, server: str) -> Mapping[str, object]:
        if server in self.down:
            return {}
        return {
            "disk_is_full": self.disk_is_full,
            "skew_ms": self.skew_ms,
            "disk_percent": self.disk_percent,
        }

    def start(self, server: str) -> None:
        self._do(f"start {server}")
        if not self.stays_down:
            self.down.discard(server)

    def answers(self, server: str) -> bool:
        self._do(f"look into {server}")
        return server not in self.down

    def reached(self, server: str, fault_id: str) -> Mapping[str, object] | None:
        return self.places.get(fault_id)

    def let_go(self, server: str, fault_id: str) -> bool:
        self._do(f"let {server} go for {fault_id}")
        return fault_id not in self.lapsed

    def probe(self, address: str, wait_seconds: float) -> Probe:
        _, target, _ = address.split("--")
        effect = self.effects.get(address, Effect())
        for kind, seen in LOOKS.items():
            if effect == CUTS[kind]:
                return Probe(seen, "")
        if target in self.paused:
            return Probe(Seen.SILENT, "")
        if target in self.down:
            return Probe(Seen.CLOSED, "")
        late_seconds = _late_ms(effect) / 1000 / self.plan.clock.speed
        if late_seconds > wait_seconds:
            return Probe(Seen.SILENT, "", wait_seconds * 1000)
        if any(toxic.type == "reset_peer" for toxic in effect.toxics):
            return Probe(Seen.RESET, "", late_seconds * 1000)
        return Probe(Seen.BANNER, BANNER, late_seconds * 1000)

    def probe_message(
        self,
        address: str,
        *,
        fqdn: str,
        sender: str,
        recipient: str,
        message_id: str,
        wait_seconds: float,
    ) -> ProbeMessageReply:
        self._do(f"mail over {address} to {recipient}")
        return ProbeMessageReply("ok", "250 2.6.0 queued", "accepted")

    def add(self, messages: Sequence[Mapping[str, object]]) -> None:
        self._do(f"add {len(messages)} messages")

    def hush(self) -> Hushed:
        self._do("hush")
        return Hushed(0, frozenset())

    def status(self) -> WorkloadStatus:
        return WorkloadStatus(0, 0, 0, 0, None)

    def running_lab(self, zero_ns: int | None = None) -> RunningLab:
        clock = LabClock(
            parse_origin(self.plan.clock.origin),
            self.plan.clock.speed,
            time.monotonic_ns() if zero_ns is None else zero_ns,
        )
        return RunningLab(self.plan, clock, self.links(), self, self, self)

    def _do(self, deed: str) -> None:
        with self.lock:
            self.deeds.append(deed)
        self.when_done(deed)
        if deed in self.fails:
            raise GroundError(f"cannot {deed}")


def _late_ms(effect: Effect) -> int:
    """By how much its banner is late."""
    late_ms = 0
    for toxic in effect.toxics:
        if toxic.stream == DOWN and toxic.type == "latency":
            late_ms += toxic.attributes["latency"] - toxic.attributes["jitter"]
        if toxic.stream == DOWN and toxic.type == "bandwidth":
            late_ms += len(BANNER) * 1000 // toxic.attributes["rate"]
        if toxic.stream == DOWN and toxic.type == "reset_peer":
            late_ms += toxic.attributes["timeout"]
    return late_ms
