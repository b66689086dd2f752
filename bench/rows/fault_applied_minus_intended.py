"""How late a fault of links is: from the planned moment to its `applied` row, on the wall's clock.

FAULTS faults, every kind of cut, slow and throttle in turn, on single links and on whole sites, up
to two at a time; the lab's own validation, plan, schedule, journal and Toxiproxy client, on a real
Toxiproxy with a proxy for each link of two-site-dag. Probes for evidence run beside, as in a run.
What takes time: waking up, the row of the intent, the calls, and reading the proxies back. How late
this machine wakes a thread that sleeps (p99.9, as a run records it) is given too: a fault is some
dozens of such wake-ups in three processes, so where that is not small the machine is measured.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import docker

from bench.result import Result, spread_of
from bench.toxiproxy import standing
from lab.clock import START_MARGIN_NS, LabClock, parse_origin
from lab.faults import faults_of
from lab.faults.observer.target import RunningLab
from lab.hosts.containers import engine
from lab.hosts.containers.images import toxiproxy as toxiproxy_image
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.program.errors import GroundError
from lab.record.folder import JsonLines
from lab.run.clock_resolution import ClockResolution, quantile
from lab.schedule.journal import Journal, Phase
from lab.schedule.schedule import Schedule
from lab.validation.validate import check
from lab.workload.probe import Probe, probe

NAME = "fault_applied_minus_intended"
FAULTS, ROUNDS, SHARE = 200, 3, 0.99
EVERY_S, FOR_S = 9, 12  # of lab time; 60 times less on the wall

SCENARIO = """\
version: 1
scenario: bench
summary: Faults of links to measure the schedule with.
topology: two-site-dag
workload: [{mail: inbound, at: 1m, for: 1m, rate: 1/m}]
settle: 1m
faults:
"""
CUTS = ("refuse", "blackhole", "stall", "reset", "ack-lost")
WHERE = (
    "from: site paris, to: site lyon",
    "from: par-mbx1, to: par-mbx2",
    "from: site lyon, to: site paris",
    "from: workload, to: par-mbx1",
    "from: lyo-mbx1, to: lyo-mbx3",
    "from: par-mbx2, to: ext1",
)
"""No two neighbours share a link. As many as have no divisor in common with the kinds, so that
every kind acts everywhere."""


def measure() -> Result:
    """p99 in milliseconds, median of ROUNDS; aim: 25."""
    client = engine.connect()
    image = toxiproxy_image.ensure(client, lambda line: print(line, file=sys.stderr))
    found = [_round(client, image) for _ in range(ROUNDS)]
    return result_of([late for late, _ in found], max(jitter for _, jitter in found))


def result_of(rounds: Sequence[Sequence[float]], jitter_ms: float) -> Result:
    """`rounds`: how late each fault was, in ms."""
    found = [p99(late) for late in rounds]
    ours = round(statistics.median(found), 3)
    machine = f"this machine wakes a sleeper up to {jitter_ms:.0f} ms late"
    against = f"p99 of {len(rounds[0])} link faults, aim 25; {spread_of(found)}; {machine}"
    return Result(NAME, ours, None, ours, "ms", against)


def p99(late: Sequence[float]) -> float:
    found = quantile(late, SHARE)
    assert found is not None, "there are faults"
    return found


def timeline() -> Plan:
    """The faults, planned. Raises GroundError where the lab takes them for a mistake."""
    with tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(SCENARIO + "".join(map(_fault, range(FAULTS))), encoding="utf-8")
        checked = check([path])
    if checked.mistakes:
        raise GroundError(f"the timeline of the bench is wrong: {checked.mistakes[0]}")
    one = checked.scenarios[0]
    return resolve(one.scenario, one.topology, seed=1)


def _fault(number: int) -> str:
    where = WHERE[number % len(WHERE)]
    kinds = [f"cut: {{{where}, kind: {kind}}}" for kind in CUTS]
    kinds.append(f"slow: {{{where}, latency: 1s, jitter: 200ms}}")
    kinds.append(f"throttle: {{{where}, rate: 1KiB/s}}")
    at = 60 + number * EVERY_S
    return f"  - {{at: {at}s, for: {FOR_S}s, {kinds[number % len(kinds)]}}}\n"


def lateness_ms(plan: Plan, clock: LabClock, rows: Iterable[Mapping[str, Any]]) -> list[float]:
    """Wall ms of each fault from its planned moment to its `applied` row, in the plan's order.

    Raises GroundError where a fault has no such row.
    """
    applied = {row["fault"]: row["mono_ns"] for row in rows if row["phase"] == Phase.APPLIED}
    missing = [fault.id for fault in plan.faults if fault.id not in applied]
    if missing:
        raise GroundError(f"{len(missing)} faults were never applied, the first is {missing[0]}")
    return [(applied[f.id] - clock.mono_ns_at(f.start_ms)) / 1e6 for f in plan.faults]


def _round(client: docker.DockerClient, image: str) -> tuple[list[float], float]:
    """How late each fault was, and how late a sleeper of this machine, in ms."""
    plan = timeline()
    with (
        standing(client, image, plan.links, plan.clock.speed) as (proxies, links),
        tempfile.TemporaryDirectory(prefix="shadowlab-bench-") as folder,
    ):
        zero_ns = time.monotonic_ns() + START_MARGIN_NS
        clock = LabClock(parse_origin(plan.clock.origin), plan.clock.speed, zero_ns)
        nobody: Any = None  # faults of links touch no server
        lab = RunningLab(plan, clock, links, proxies, nobody, Prober())
        with ClockResolution() as resolution:
            rows = _carry_out(lab, Path(folder) / "faults.jsonl")
        late = lateness_ms(plan, clock, rows)
    _tell(late, rows)
    return late, resolution.lab_ms(speed=1.0) or 0.0


def _carry_out(lab: RunningLab, path: Path) -> list[dict[str, Any]]:
    """The journal of the whole timeline. Raises GroundError where something was not healed."""
    journal = Journal(JsonLines(path), lab.clock)
    schedule = Schedule(faults_of(lab.plan, lab), journal, lab.clock, lambda line: None)
    try:
        schedule.run(lambda at_ms: _sleep_until(lab.clock.mono_ns_at(at_ms)))
    finally:
        schedule.heal()
        schedule.finish()
    if schedule.complaints:
        raise GroundError(f"the timeline went wrong: {schedule.complaints[0]}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _sleep_until(due_ns: int) -> None:
    while (left_ns := due_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)


class Prober:
    """Probes from this machine: the proxies' addresses are reachable from here."""

    def probe(self, address: str, wait_seconds: float) -> Probe:
        host, _, port = address.rpartition(":")
        return asyncio.run(probe(host, int(port), wait_seconds))


def _tell(late: list[float], rows: Iterable[Mapping[str, Any]]) -> None:
    median, worst = statistics.median(late), max(late)
    seen = [row["took_effect"] for row in rows if row["phase"] == Phase.EVIDENCE]
    print(
        f"median {median:.1f} ms, p99 {p99(late):.1f}, worst {worst:.1f}; "
        f"evidence for {seen.count(True)} of {len(late)}, against {seen.count(False)}",
        file=sys.stderr,
    )
