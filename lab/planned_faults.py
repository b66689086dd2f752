"""From the faults of a file to those of a plan: every link named, every time a number.

Plain faults only: what a random schedule stands for is written out by `lab.random_faults` before.
Pure; nothing here asks whether faults can hold together.
"""

from collections.abc import Sequence

from lab.links import ends, links_between
from lab.plan_parts import (
    Cut,
    Fault,
    Kill,
    Link,
    LinkName,
    Pause,
    PlanTopology,
    Restart,
    Slow,
    Stop,
    Throttle,
)
from lab.scenario_faults import FaultModel, LinksModel


def resolve_faults(
    faults: Sequence[FaultModel], topology: PlanTopology, links: tuple[Link, ...]
) -> tuple[Fault, ...]:
    """The faults in the order of their starts, numbered f1, f2 … in the order of the file.

    A random schedule has its number and no fault.
    """
    resolved = [
        resolve_fault(f"f{number}", fault, topology, links)
        for number, fault in enumerate(faults, start=1)
        if fault.random is None
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


def resolve_fault(
    fault_id: str, fault: FaultModel, topology: PlanTopology, links: tuple[Link, ...]
) -> Fault:
    """One plain fault."""
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
