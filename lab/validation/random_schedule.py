"""Whether a random schedule can be drawn: time for it, links for it, and no other fault in its way.

Asked of the file alone, so that the answer is the same for every seed.
"""

from collections.abc import Iterator, Sequence

from lab.plan.faults import LINK_KINDS, NEW_SERVER
from lab.plan.links import WORKLOAD
from lab.plan.topology import PlanTopology
from lab.planning.random_settings import at_their_most
from lab.planning.recovery import Recovery
from lab.planning.resolve import schedule_context
from lab.scenario.faults import FaultModel
from lab.scenario.quantities import as_range_text
from lab.scenario.random_faults import RandomModel, may_lose_database
from lab.scenario.scenario import ScenarioModel
from lab.validation.mistakes import Mistake
from lab.validation.model_reader import Read
from nodes.core.config.units import format_timespan


def check_random(read: Read[ScenarioModel], topology: PlanTopology) -> Iterator[Mistake]:
    """Mistakes of each `random:` that was read whole."""
    if read.model is None:
        return
    context = schedule_context(at_their_most(read.model), topology)
    linked = any(set(context.peers(server)) - {WORKLOAD} for server in context.servers)
    for index, fault in enumerate(read.model.faults):
        if fault.random is None or read.touched("faults", index):
            continue
        yield from _room(read, index, fault.random, context.recovery)
        yield from _company(read, index, read.model.faults)
        if not any(context.other_sites(server) for server in context.servers):
            yield from _no_sites(read, index, fault.random)
        yield from _last_copies(read, index, fault.random, topology)
        if not linked:
            yield from _no_links(read, index, fault.random)


def needed_ms(random: RandomModel, recovery: Recovery) -> int:
    """The time that `count.low` faults need at their shortest, with the time around each."""
    if random.at_most == "none":
        return random.for_ms.low if random.count.low else 0
    shortest_ms = 0 if set(random.faults) == {"restart"} else random.for_ms.low
    calm_ms = recovery.whole_ms if may_lose_database(random) else 0
    return random.count.low * (shortest_ms + recovery.return_ms + calm_ms)


def _room(
    read: Read[ScenarioModel], index: int, random: RandomModel, recovery: Recovery
) -> Iterator[Mistake]:
    there_ms, needed = random.during.high - random.during.low, needed_ms(random, recovery)
    if needed <= there_ms:
        return
    count = random.count.low
    faults = f"{count} fault" if count == 1 else f"{count} faults"
    recovers = f", {recovery.in_words()} to recover" if may_lose_database(random) else ""
    rule = (
        f"does not fit: {faults} of {format_timespan(random.for_ms.low)} each{recovers} and "
        f"{format_timespan(recovery.return_ms)} to return need {format_timespan(needed)}, "
        f"during lasts {format_timespan(there_ms)}"
    )
    hint = "ask for fewer, or make during longer"
    value = f"{count}" if count == random.count.high else f"{count}..{random.count.high}"
    yield read.mistake(("faults", index, "random", "count"), value, rule, hint)


def _company(
    read: Read[ScenarioModel], index: int, faults: Sequence[FaultModel]
) -> Iterator[Mistake]:
    """Other entries in the time of a schedule that has a limit: it would not hold."""
    random = faults[index].random
    assert random is not None, "asked of a random schedule"
    for other, fault in enumerate(faults):
        limited = random.at_most != "none"
        beside_limited = fault.random is not None and fault.random.at_most != "none"
        if other == index or not limited or (beside_limited and other > index):
            continue
        if read.touched("faults", other):
            continue
        may_be_later = fault.when is not None
        ends_before = fault.end_ms < random.during.low and not may_be_later
        if fault.start_ms <= random.during.high and not ends_before:
            where = f"with faults[{read.trail('faults', other)[-1]}]"
            rule = f"shares its time, {as_range_text(random.during)}, and is {random.at_most}"
            hint = "let one end before the other starts, or write at_most: none"
            yield read.mistake(("faults", index, "random"), where, rule, hint)
            return


def _last_copies(
    read: Read[ScenarioModel], index: int, random: RandomModel, topology: PlanTopology
) -> Iterator[Mistake]:
    """A new server has no mailboxes but those that another copy has."""
    single = next((each.name for each in topology.databases if len(each.copies) < 2), None)
    if NEW_SERVER in random.faults and single is not None:
        place = ("faults", index, "random", "faults", random.faults.index(NEW_SERVER))
        rule = f"leaves no copy of {single}, whose mailboxes would be gone"
        yield read.mistake(place, NEW_SERVER, rule, "give every database a second copy")


def _no_sites(read: Read[ScenarioModel], index: int, random: RandomModel) -> Iterator[Mistake]:
    for at, kind in enumerate(random.faults):
        if kind == "split":
            rule = "has no second site to be cut off from"
            hint = "leave it out, or add a site with a server to the topology"
            yield read.mistake(("faults", index, "random", "faults", at), kind, rule, hint)


def _no_links(read: Read[ScenarioModel], index: int, random: RandomModel) -> Iterator[Mistake]:
    for at, kind in enumerate(random.faults):
        if kind.partition("-")[0] in LINK_KINDS:
            rule = "has no link between two servers to act on"
            hint = "leave it out, or add a server to the topology"
            yield read.mistake(("faults", index, "random", "faults", at), kind, rule, hint)
            return
