"""The moments of a plan, in the order of time, as a person reads them."""

from dataclasses import dataclass

from lab.plan.parts import (
    Corrupt,
    Cut,
    Fault,
    FillDisk,
    Kill,
    LinkFault,
    LinkName,
    Operation,
    Pause,
    PowerLoss,
    Restart,
    SkewClock,
    Slow,
    Stop,
    Throttle,
    When,
)
from lab.plan.place_words import in_words
from lab.plan.plan import Plan
from lab.scenario.quantities import format_byte_rate, format_latency, format_skew
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
    found += [Moment(each.at_ms, in_words_of(each)) for each in plan.operations]
    return sorted(found, key=lambda moment: moment.at_ms)


def in_words_of(operation: Operation) -> str:
    """`o1: failover of DB1 to lyo-mbx1`."""
    to = f" to {operation.to}" if operation.to else ""
    return f"{operation.id}: {operation.kind} of {operation.database}{to}"


def wall_seconds(plan: Plan) -> float:
    """How many seconds of wall clock the timeline takes."""
    return plan.duration_ms / 1000 / plan.clock.speed


def _fault_moments(fault: Fault) -> list[Moment]:
    begins, heals = _words(fault)
    links = fault.links if isinstance(fault, LinkFault) else ()
    if fault.when is not None:
        return _place_moments(fault, fault.when, begins, heals)
    start = Moment(fault.start_ms, f"{fault.id}: {begins}", links)
    return [start, Moment(fault.end_ms, f"{fault.id}: {heals}")] if heals else [start]


def _place_moments(fault: Fault, when: When, begins: str, heals: str) -> list[Moment]:
    links = fault.links if isinstance(fault, LinkFault) else ()
    lasts = f" for {format_timespan(when.for_ms)}" if when.for_ms else ""
    start = f"{fault.id}: from now on, when {in_words(when)}: {begins}{lasts}"
    end = f"{fault.id}: {heals} by now, if it began" if heals else f"{fault.id}: no later than now"
    return [Moment(fault.start_ms, start, links), Moment(fault.end_ms, end)]


def _words(fault: Fault) -> tuple[str, str]:
    """What happens at its start and at its end; nothing more happens after an instant."""
    match fault:
        case Cut():
            return f"cut ({fault.cut_kind})", "healed"
        case Slow():
            return f"slow ({slowness(fault)})", "healed"
        case Throttle():
            return f"throttle ({format_byte_rate(fault.bytes_per_second)})", "healed"
        case Pause():
            return f"pause {fault.server}", f"resume {fault.server}"
        case Restart():
            return f"restart {fault.server}", ""
        case Stop():
            return f"stop {fault.server}", f"start {fault.server}"
        case PowerLoss():
            return f"cut the power of {fault.server}", f"start {fault.server} with what is durable"
        case Corrupt():
            return f"kill {fault.server}", f"start {fault.server} with a damaged queue database"
        case FillDisk():
            return f"the disk of {fault.server} is full", f"{fault.server} has room again"
        case SkewClock():
            skewed = f"the clock of {fault.server} is wrong by {format_skew(fault.by_ms)}"
            return skewed, f"the clock of {fault.server} is right"
        case Kill():
            database = fault.returns_with.replace("-", " ")
            return f"kill {fault.server}", f"start {fault.server} with its {database}"


def slowness(fault: Slow) -> str:
    """`latency 500ms, jitter 100ms`."""
    jitter = f", jitter {format_latency(fault.jitter_ms)}" if fault.jitter_ms else ""
    return f"latency {format_latency(fault.latency_ms)}{jitter}"
