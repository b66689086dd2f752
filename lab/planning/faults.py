"""From the faults of a file to those of a plan: every link named, every time a number.

Plain faults only: what a random schedule stands for is written out by
`lab.planning.random_schedule` before. Pure; nothing here asks whether faults can hold together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lab.plan.faults import (
    FOR_GOOD,
    FOR_GOOD_MS,
    CorruptMailboxes,
    DiskUse,
    Fault,
    Kill,
    MachineFault,
    ServerFault,
    SkewClock,
    Stop,
    is_for_good,
    kinds_of,
)
from lab.plan.link_faults import LinkFault
from lab.plan.links import ends, links_between
from lab.plan.topology import Link, LinkName, PlanTopology
from lab.plan.when import When
from lab.scenario.faults import FaultModel
from lab.scenario.link_faults import LinksModel

ON_LINKS: Mapping[str, Callable[..., Fault]] = kinds_of(LinkFault)
ON_SERVERS: Mapping[str, Callable[..., Fault]] = kinds_of(ServerFault | MachineFault)


def resolve_faults(
    faults: Sequence[FaultModel],
    topology: PlanTopology,
    links: tuple[Link, ...],
    workload_end_ms: int,
) -> tuple[Fault, ...]:
    """The faults in the order of their starts, numbered f1, f2 … in the order of the file.

    Entries that stand for several are spread before. A random schedule has its number and no
    fault. A breakpoint is waited for until `workload_end_ms`.
    """
    resolved = [
        resolve_fault(f"f{number}", fault, topology, links, workload_end_ms)
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
        found.update(links_between(openers, goals, links, named.service))
    everything = (LinkName(link.source, link.target, link.service) for link in links)
    return tuple(link for link in everything if link in found)


def resolve_fault(
    fault_id: str,
    fault: FaultModel,
    topology: PlanTopology,
    links: tuple[Link, ...],
    workload_end_ms: int,
) -> Fault:
    """One plain fault."""
    plain = _of_links(fault_id, fault, topology, links) or _of_server(fault_id, fault)
    if fault.when is None:
        return plain
    until_ms, for_ms = max(workload_end_ms, fault.start_ms), fault.for_ms or 0
    when = When(fault.when.server, fault.when.at, fault.when.nth, until_ms, for_ms)
    end_ms = plain.end_ms if is_for_good(plain) else until_ms + for_ms
    return replace(plain, end_ms=end_ms, when=when)


def _of_links(
    fault_id: str, fault: FaultModel, topology: PlanTopology, links: tuple[Link, ...]
) -> Fault | None:
    if fault.links is None:
        return None
    return ON_LINKS[fault.kind](
        id=fault_id,
        kind=fault.kind,
        start_ms=fault.start_ms,
        end_ms=fault.end_ms,
        links=resolve_links(fault.links, topology, links),
        **fault.links.own(),
    )


def _of_server(fault_id: str, fault: FaultModel) -> Fault:
    times = (fault.start_ms, fault.end_ms)
    if fault.corrupt_mailboxes is not None:
        return CorruptMailboxes(fault_id, "corrupt_mailboxes", *times, fault.corrupt_mailboxes)
    if fault.kill is not None or fault.stop is not None:
        return _of_a_server_that_returns(fault_id, fault)
    if fault.by is not None:
        return SkewClock(fault_id, "skew_clock", *times, fault.server, fault.by)
    if fault.percent is not None:
        return DiskUse(fault_id, "disk_use", *times, fault.server, fault.percent)
    make = ON_SERVERS[fault.kind]
    return make(fault_id, fault.kind, *times, fault.server)


def _of_a_server_that_returns(fault_id: str, fault: FaultModel) -> Fault:
    """In some way, or never."""
    end_ms = FOR_GOOD_MS if fault.returns_with == FOR_GOOD else fault.end_ms
    when, returns_with = (fault.start_ms, end_ms), fault.returns_with
    if fault.kill is not None:
        return Kill(fault_id, "kill", *when, fault.server, returns_with=returns_with)
    return Stop(fault_id, "stop", *when, fault.server, returns_with=returns_with)


def last_heal_ms(faults: Sequence[Fault]) -> int | None:
    """When the last fault is over; one without an end, when it has begun at the latest."""
    return max(map(_over_ms, faults), default=None)


def _over_ms(fault: Fault) -> int:
    if not is_for_good(fault):
        return fault.end_ms
    return fault.start_ms if fault.when is None else fault.when.until_ms


def ended_with(faults: Sequence[Fault], duration_ms: int) -> tuple[Fault, ...]:
    """What has no end lasts until the run is over."""
    return tuple(replace(each, end_ms=min(each.end_ms, duration_ms)) for each in faults)
