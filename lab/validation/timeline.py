"""The faults of a scenario over time: whether they can hold together, and whether they have time.

A fault that begins after the run would have ended without it has nothing left to act on. All of it
is derived from a file's entries and the mesh; nothing here waits or acts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from lab.plan.faults import LOSES_SERVER, Fault, Kill, ServerFault, Stop, is_for_good
from lab.plan.links import ends, mesh
from lab.plan.topology import PlanTopology
from lab.planning.collisions import collision
from lab.planning.faults import resolve_faults, resolve_links
from lab.planning.repeated_faults import occasions, servers_of, spread
from lab.planning.resolve import workload_end_ms
from lab.planning.strangers import strangers_end_ms
from lab.scenario.faults import REPEATING_KEYS
from lab.scenario.scenario import ScenarioModel
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from nodes.core.config.units import format_timespan

ScenarioRead: TypeAlias = Read[ScenarioModel]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A fault of the plan, and the entry of the file that stands for it."""

    index: int
    fault: Fault


def check_timeline(read: ScenarioRead, topology: PlanTopology | None) -> Iterator[Mistake]:
    """Faults past the end, faults without a link, and pairs that cannot both hold."""
    if read.model is None:
        return
    yield from _past_the_end(read, read.model)
    if topology is None:
        return
    yield from _without_a_link(read, read.model, topology)
    yield from _without_a_server(read, read.model, topology)
    placed = _placed(read.model, topology)
    yield from _collisions(read, placed)
    yield from _last_copies(read, placed, topology)
    yield from _nobody_to_ask(read, read.model, placed, topology)


def _placed(scenario: ScenarioModel, topology: PlanTopology) -> list[_Placed]:
    """All faults that entries stand for, what is random left out, in the order of their starts."""
    entries = [
        (index, each)
        for index, fault in enumerate(scenario.faults)
        for each in spread(fault, topology)
    ]
    end_ms = workload_end_ms(scenario.workload)
    faults = resolve_faults([each for _, each in entries], topology, mesh(topology), end_ms)
    return [_Placed(entries[int(fault.id.removeprefix("f")) - 1][0], fault) for fault in faults]


def _without_a_link(
    read: ScenarioRead, scenario: ScenarioModel, topology: PlanTopology
) -> Iterator[Mistake]:
    """Faults of links between ends that all stand for something, and share no link."""
    links = mesh(topology)
    for index, fault in enumerate(scenario.faults):
        if fault.links is None or resolve_links(fault.links, topology, links):
            continue
        words = [word for pair in fault.links.directions() for side in pair for word in side]
        if all(ends(word, topology.servers, topology.sites) for word in words):
            hint = "servers open sessions to servers, the workload to mailbox servers"
            yield read.mistake(("faults", index, fault.kind), "", "names no link", hint)


def _without_a_server(
    read: ScenarioRead, scenario: ScenarioModel, topology: PlanTopology
) -> Iterator[Mistake]:
    """Sites in which no server stands."""
    sites = {f"site {site.name}" for site in topology.sites}
    for index, fault in enumerate(scenario.faults):
        for at, word in enumerate(fault.servers):
            if word in sites and not servers_of(
                fault.model_copy(update={fault.kind: [word]}), topology
            ):
                place = ("faults", index, fault.kind, at)
                which = "mailbox servers" if fault.is_of_mailbox_servers else "servers"
                yield read.mistake(place, word, "names no server", f"name a site with {which}")


def _past_the_end(read: ScenarioRead, scenario: ScenarioModel) -> Iterator[Mistake]:
    if any(read.touched(key) for key in ("workload", "strangers", "settle")):
        return
    workload_ms = workload_end_ms(scenario.workload)
    end_ms = max(workload_ms, strangers_end_ms(scenario.strangers))
    late: set[int] = set()
    times = [(at, each) for at, fault in enumerate(scenario.faults) for each in occasions(fault)]
    for index, fault in sorted(times, key=lambda pair: pair[1].start_ms):
        if _has_no_time(read, index):
            return
        if index in late:
            continue
        # a random schedule may begin its last fault as late as its end
        latest_ms = fault.end_ms if fault.random else fault.start_ms
        if fault.when is not None:
            yield from _after_the_mail(read, index, fault.start_ms, workload_ms)
            end_ms = max(end_ms, workload_ms + (fault.for_ms or 0))
        elif latest_ms >= end_ms + scenario.settle:
            run_end = format_timespan(end_ms + scenario.settle)
            rule = f"lies past the end of the run at {run_end}"
            hint = "start the fault earlier, or send mail for longer"
            place = ("random", "during") if fault.random else ("at",)
            yield read.mistake(("faults", index, *place), format_timespan(latest_ms), rule, hint)
            late.add(index)
        elif fault.random is None:
            end_ms = max(end_ms, fault.end_ms)
    yield from _operations_past_the_end(read, scenario, end_ms)


def _operations_past_the_end(
    read: ScenarioRead, scenario: ScenarioModel, end_ms: int
) -> Iterator[Mistake]:
    """Each may come a settling after what was before it."""
    for index, operation in sorted(enumerate(scenario.operations), key=lambda pair: pair[1].at):
        if read.touched("operations", index, "at"):
            return
        if operation.at >= end_ms + scenario.settle:
            run_end = format_timespan(end_ms + scenario.settle)
            rule = f"lies past the end of the run at {run_end}"
            hint = "ask earlier, or send mail for longer"
            place = ("operations", index, "at")
            yield read.mistake(place, format_timespan(operation.at), rule, hint)
        end_ms = max(end_ms, operation.at)


def _nobody_to_ask(
    read: ScenarioRead, scenario: ScenarioModel, placed: list[_Placed], topology: PlanTopology
) -> Iterator[Mistake]:
    """Operations while faults surely have all who are asked away: nobody would answer."""
    faults = [each.fault for each in placed if not _has_no_time(read, each.index)]
    away = [each for each in faults if isinstance(each, ServerFault) and not each.when]
    for index, operation in enumerate(scenario.operations):
        if any(read.touched("operations", index, key) for key in ("at", *operation.names)):
            continue
        asked = operation.planned("").asked(topology)
        holding = [f for f in away if f.server in asked and f.start_ms <= operation.at <= f.end_ms]
        if holding and {fault.server for fault in holding} == set(asked):
            first = min(holding, key=lambda fault: fault.end_ms)
            rule = f"asks {first.server}, which is {first.done} then, and nobody would answer"
            hint = "ask before that"
            if not is_for_good(first):
                hint += f", or some minutes after {format_timespan(first.end_ms)}"
            place = ("operations", index, "at")
            yield read.mistake(place, format_timespan(operation.at), rule, hint)


def _after_the_mail(
    read: ScenarioRead, index: int, start_ms: int, workload_ms: int
) -> Iterator[Mistake]:
    """A place is waited for while mail is sent."""
    if start_ms >= workload_ms:
        rule = f"lies past the end of the workload at {format_timespan(workload_ms)}"
        hint = "a place is waited for while mail is sent: write an earlier moment"
        place = ("faults", index, "when", "after")
        yield read.mistake(place, format_timespan(start_ms), rule, hint)


def _has_no_time(read: ScenarioRead, index: int) -> bool:
    keys = ("at", "when", "for", "random", *REPEATING_KEYS)
    return any(read.touched("faults", index, key) for key in keys)


def _collisions(read: ScenarioRead, placed: list[_Placed]) -> Iterator[Mistake]:
    """Each entry against what starts before it, the earliest collision of each."""
    timed = [each for each in placed if not _has_no_time(read, each.index)]
    said = set()
    for position, later in enumerate(timed):
        for earlier in timed[:position] if later.index not in said else ():
            reason = collision(earlier.fault, later.fault)
            if reason:
                said.add(later.index)
                yield _collide(read, earlier, later, reason)
                break


def _last_copies(
    read: ScenarioRead, placed: list[_Placed], topology: PlanTopology
) -> Iterator[Mistake]:
    """Servers that take the last copy of a mailbox database with them: its mailboxes would be gone,
    which no transport can help.
    """
    lost = [(at, fault) for at in placed if (fault := _loses_server(at.fault)) is not None]
    lost = [(at, fault) for at, fault in lost if not _has_no_time(read, at.index)]
    said = set()
    for position, (at, fault) in enumerate(lost):
        still = (f.server for _, f in lost[:position] if fault.start_ms <= f.end_ms)
        gone = {fault.server, *still}
        for database in topology.databases:
            if at.index not in said and {copy.server for copy in database.copies} <= gone:
                said.add(at.index)
                rule = f"leaves no copy of {database.name}, whose mailboxes would be gone"
                hint = "give it a copy on another server, or write returns_with: new-queue-database"
                yield read.mistake(("faults", at.index, fault.kind), fault.server, rule, hint)


def _loses_server(fault: Fault) -> Kill | Stop | None:
    return fault if isinstance(fault, Kill | Stop) and fault.returns_with in LOSES_SERVER else None


def _collide(read: ScenarioRead, earlier: _Placed, later: _Placed, reason: str) -> Mistake:
    value = f"with faults[{read.trail('faults', earlier.index)[-1]}]"
    end = format_timespan(earlier.fault.end_ms)
    hint = f"start it at {end} or later"
    if is_for_good(earlier.fault):
        hint = "name another server: this one never returns"
    elif later.fault.when is not None:
        hint = f"let it wait from {end} on, with after:"
    rule = f"cannot both hold: {reason}"
    return read.mistake(("faults", later.index), value, rule, hint)
