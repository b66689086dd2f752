"""The moments of a plan, in the order of time, as a person reads them."""

from dataclasses import dataclass

from lab.plan.faults import Fault
from lab.plan.link_faults import LinkFault
from lab.plan.plan import Plan
from lab.plan.topology import LinkName
from lab.plan.when import When
from nodes.core.config.units import format_timespan


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happens at a moment of lab time, and the links that it concerns."""

    at_ms: int
    what: str
    links: tuple[LinkName, ...] = ()


def moments(plan: Plan) -> list[Moment]:
    """The story of a plan in the order of time."""
    found = [
        Moment(plan.messages[0].at_ms, "first message") if plan.messages else Moment(0, "no mail"),
        Moment(plan.workload_end_ms, "end of the workload"),
        Moment(plan.duration_ms, "end of the run"),
    ]
    if plan.strangers:
        found.append(Moment(plan.strangers[0].at_ms, "first stranger"))
    for fault in plan.faults:
        found += _fault_moments(fault)
    found += [Moment(each.at_ms, f"{each.id}: {each.words()}") for each in plan.operations]
    return sorted(found, key=lambda moment: moment.at_ms)


def wall_seconds(plan: Plan) -> float:
    """How many seconds of wall clock the timeline takes."""
    return plan.duration_ms / 1000 / plan.clock.speed


def _fault_moments(fault: Fault) -> list[Moment]:
    begins, heals = fault.words()
    links = fault.links if isinstance(fault, LinkFault) else ()
    if fault.when is not None:
        return _place_moments(fault, fault.when, begins, heals)
    start = Moment(fault.start_ms, f"{fault.id}: {begins}", links)
    return [start, Moment(fault.end_ms, f"{fault.id}: {heals}")] if heals else [start]


def _place_moments(fault: Fault, when: When, begins: str, heals: str) -> list[Moment]:
    links = fault.links if isinstance(fault, LinkFault) else ()
    lasts = f" for {format_timespan(when.for_ms)}" if when.for_ms else ""
    start = f"{fault.id}: from now on, when {when.in_words()}: {begins}{lasts}"
    end = f"{fault.id}: {heals} by now, if it began" if heals else f"{fault.id}: no later than now"
    return [Moment(fault.start_ms, start, links), Moment(fault.end_ms, end)]
