"""The plan: a scenario with every default written out, every link named, every message drawn.

`resolve` is pure: the same scenario, topology and seed give the same plan and the same bytes of
plan.json, on every machine. It expects a scenario that `lab.validate` found no mistake in, and
decides nothing that a person did not write or a default does not say.
"""

from dataclasses import dataclass
from typing import Literal

from lab.json_record import from_text, to_line, to_text
from lab.links import ends, links_between, mesh
from lab.plan_parts import (
    Clock,
    Cut,
    Dag,
    Database,
    DatabaseCopy,
    Expect,
    ExpectedPromotion,
    Fault,
    Kill,
    Link,
    LinkName,
    Mailbox,
    Message,
    Pause,
    PlanTopology,
    Restart,
    Server,
    Settings,
    Site,
    SiteLink,
    Slow,
    Stop,
    Throttle,
)
from lab.scenario import ExpectModel, MailModel, ScenarioModel
from lab.scenario_faults import FaultModel, LinksModel
from lab.seeds import seed_for
from lab.settings import resolve_settings
from lab.topology import TopologyModel, resolve_topology
from lab.traffic import resolve_messages

__all__ = [
    "Clock",
    "Cut",
    "Dag",
    "Database",
    "DatabaseCopy",
    "Expect",
    "ExpectedPromotion",
    "Fault",
    "Kill",
    "Link",
    "LinkName",
    "Mailbox",
    "Message",
    "Pause",
    "Plan",
    "PlanTopology",
    "Restart",
    "Server",
    "Settings",
    "Site",
    "SiteLink",
    "Slow",
    "Stop",
    "Throttle",
    "default_seed",
    "resolve",
    "resolve_links",
    "workload_end_ms",
]

# t = 0; a plan fixes the date, so that dates are the same in every run
ORIGIN = "2026-01-05T08:00:00Z"


@dataclass(frozen=True, slots=True)
class Plan:
    """What plan.json holds; `…_ms` is lab milliseconds since the start of lab time."""

    version: Literal[1]
    scenario: str
    summary: str
    proves: tuple[str, ...]
    tags: tuple[str, ...]
    seed: int
    seed_from: Literal["scenario", "argument"]
    clock: Clock
    duration_ms: int
    workload_end_ms: int
    last_heal_ms: int | None
    settle_ms: int
    topology: PlanTopology
    settings: Settings
    links: tuple[Link, ...]
    messages: tuple[Message, ...]
    faults: tuple[Fault, ...]
    operations: tuple[str, ...]
    expect: Expect

    def to_json(self) -> str:
        """The text of plan.json."""
        return to_text(self)

    def to_line(self) -> str:
        """The same in one line."""
        return to_line(self)

    @staticmethod
    def from_json(text: str) -> "Plan":
        """The plan that a plan.json holds. Raises ValueError with the place of what is wrong."""
        return from_text(Plan, text)


def default_seed(scenario: str) -> int:
    """The seed of a scenario that is run without one: always the same for the same name."""
    return seed_for(0, "scenario", scenario) % 1_000_000


def resolve(
    scenario: ScenarioModel,
    topology: TopologyModel,
    seed: int,
    seed_from: Literal["scenario", "argument"] = "argument",
) -> Plan:
    """Resolve a valid scenario and its topology under a seed. Pure; touches no file."""
    parts = resolve_topology(topology)
    links = mesh(parts.servers)
    faults = resolve_faults(scenario.faults, parts, links)
    end_ms = workload_end_ms(scenario.workload)
    last_heal_ms = max((fault.end_ms for fault in faults), default=None)
    return Plan(
        version=1,
        scenario=scenario.scenario,
        summary=scenario.summary,
        proves=tuple(scenario.proves),
        tags=tuple(scenario.tags),
        seed=seed,
        seed_from=seed_from,
        clock=Clock(ORIGIN, float(scenario.clock.speed)),
        duration_ms=max(end_ms, last_heal_ms or 0) + scenario.settle,
        workload_end_ms=end_ms,
        last_heal_ms=last_heal_ms,
        settle_ms=scenario.settle,
        topology=parts,
        settings=resolve_settings(scenario.settings, parts.servers),
        links=links,
        messages=resolve_messages(scenario.scenario, scenario.workload, parts, seed),
        faults=faults,
        operations=(),
        expect=_expect(scenario.expect),
    )


def workload_end_ms(workload: list[MailModel]) -> int:
    """When the last stream ends."""
    return max((stream.at + stream.for_ms for stream in workload), default=0)


def resolve_faults(
    faults: list[FaultModel], topology: PlanTopology, links: tuple[Link, ...]
) -> tuple[Fault, ...]:
    """The faults in the order of their starts, numbered f1, f2 … in the order of the file."""
    resolved = [
        _fault(f"f{number}", fault, topology, links) for number, fault in enumerate(faults, start=1)
    ]
    return tuple(sorted(resolved, key=lambda fault: fault.start_ms))


def resolve_links(
    named: LinksModel, topology: PlanTopology, links: tuple[Link, ...]
) -> tuple[LinkName, ...]:
    """The links that a fault names, each once, in the order of the mesh."""
    found = set()
    for sources, targets in named.directions():
        openers = [end for word in sources for end in ends(word, topology.servers, topology.sites)]
        goals = [end for word in targets for end in ends(word, topology.servers, topology.sites)]
        found.update(links_between(openers, goals, links))
    everything = (LinkName(link.source, link.target, link.service) for link in links)
    return tuple(link for link in everything if link in found)


def _fault(
    fault_id: str, fault: FaultModel, topology: PlanTopology, links: tuple[Link, ...]
) -> Fault:
    when = (fault.start_ms, fault.end_ms)
    if fault.links is not None:
        concerned = resolve_links(fault.links, topology, links)
        if fault.cut is not None:
            return Cut(fault_id, "cut", *when, fault.cut.kind, concerned)
        if fault.slow is not None:
            latency = fault.slow
            return Slow(fault_id, "slow", *when, latency.latency, latency.jitter, concerned)
        assert fault.throttle is not None, "the model lets a fault be one of its kinds"
        return Throttle(fault_id, "throttle", *when, fault.throttle.rate, concerned)
    return _of_server(fault_id, fault)


def _of_server(fault_id: str, fault: FaultModel) -> Fault:
    when = (fault.start_ms, fault.end_ms)
    if fault.kill is not None:
        return Kill(fault_id, "kill", *when, fault.kill, fault.returns_with)
    if fault.pause is not None:
        return Pause(fault_id, "pause", *when, fault.pause)
    if fault.stop is not None:
        return Stop(fault_id, "stop", *when, fault.stop)
    assert fault.restart is not None, "the model lets a fault be one of its kinds"
    return Restart(fault_id, "restart", *when, fault.restart)


def _expect(expect: ExpectModel) -> Expect:
    loss, promotions = expect.unprotected_loss, expect.promotions
    return Expect(
        lost=expect.lost,
        unprotected_loss=None if loss is None else (loss.low, loss.high),
        promotions=None
        if promotions is None
        else tuple(ExpectedPromotion(p.of, p.cause, p.after, p.within) for p in promotions),
        verdict=expect.verdict,
    )
