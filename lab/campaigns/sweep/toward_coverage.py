"""Seeds whose plans promise what was met least: a sweep towards coverage, not by chance.

A plan costs a hundredth of a run. So of each round of candidates, seeds that follow each other, as
many as a batch has are simulated: those whose plans promise combinations of a phase, a fault and a
drawn setting that the plans chosen before promise least. What a plan promises is a guess from the
times of its messages and faults; what was met is counted from the record, by the evaluation. The
same call chooses the same seeds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heapreplace
from itertools import product
from typing import TypeAlias

from lab.campaigns.sweep.asked_coverage import value_parts
from lab.plan.faults import CorruptMailboxes, Fault
from lab.plan.link_faults import Cut, Directed, LinkFault
from lab.plan.links import WORKLOAD
from lab.plan.parts import Message
from lab.plan.plan import Plan
from lab.planning.resolve import resolve
from lab.validation.validate import CheckedScenario

Combination: TypeAlias = tuple[str, str, str]
"""Phase, kind of fault, and part of a setting; no setting where none is drawn."""

CANDIDATES = 10  # for each seed that is chosen
MOMENT_MS = 2_000  # how long a message is submitted and shadowed where nothing is in its way
NOTICED_MS = 45_000  # until Active Manager takes a server for dead
AWAY = ("kill", "corrupt", "pause", "stop", "restart")


@dataclass(slots=True)
class Choice:
    """Chooses round by round: it remembers what the plans chosen so far promise."""

    scenario: CheckedScenario
    promised: Counter[Combination] = field(default_factory=Counter)

    def choose(self, candidates: Sequence[int], count: int) -> list[int]:
        """`count` of the candidates, in their order."""
        promises = [(self._promise(seed), seed) for seed in candidates]
        # what is promised again is worth less, so a seed's worth only falls: the best of the heap
        # is the best of all once its worth is that of now
        heap = [(-self._worth(promise), at) for at, (promise, _) in enumerate(promises)]
        heapify(heap)
        chosen: list[int] = []
        while heap and len(chosen) < count:
            promise, seed = promises[heap[0][1]]
            worth = -self._worth(promise)
            if worth > heap[0][0]:
                heapreplace(heap, (worth, heap[0][1]))
                continue
            heapreplace(heap, (1.0, heap[0][1]))
            chosen.append(seed)
            self.promised.update(promise)
        return sorted(chosen)

    def _promise(self, seed: int) -> frozenset[Combination]:
        plan = resolve(self.scenario.scenario, self.scenario.topology, seed)
        parts = value_parts(self.scenario.scenario, seed) or [""]
        return frozenset((*pair, part) for pair, part in product(promised(plan), parts))

    def _worth(self, promise: frozenset[Combination]) -> float:
        return sum(4.0 ** -min(self.promised[each], 20) for each in promise)


def promised(plan: Plan) -> set[tuple[str, str]]:
    """Phase and kind of fault, as coverage calls them."""
    heartbeat_ms = int(plan.settings.TransportConfig["ShadowHeartbeatFrequency"])
    homes = {each.name: each.copies[0].server for each in plan.topology.databases}
    database = {each.address: each.database for each in plan.topology.mailboxes}
    found: set[tuple[str, str]] = set()
    for happening in _happenings(plan):
        for message in plan.messages:
            goals = {homes[database[each]] for each in message.recipients if each in database}
            phases = _phases(happening, message, goals, heartbeat_ms)
            found.update((phase, happening.kind) for phase in phases)
    return found


@dataclass(frozen=True, slots=True)
class _Happening:
    """A fault, or the failover that follows it, with the servers that it concerns."""

    kind: str
    start_ms: int
    end_ms: int
    servers: frozenset[str]


def _happenings(plan: Plan) -> Iterator[_Happening]:
    for fault in plan.faults:
        servers = frozenset(_concerned(fault))
        yield _Happening(_kind(fault), fault.start_ms, fault.end_ms, servers)
        if fault.end_ms - fault.start_ms > NOTICED_MS:
            yield from _failovers(plan, fault)


def _kind(fault: Fault) -> str:
    if isinstance(fault, Cut):
        return f"cut-{fault.cut_kind}"
    return f"{fault.kind}-{fault.direction}" if isinstance(fault, Directed) else fault.kind


def _failovers(plan: Plan, fault: Fault) -> Iterator[_Happening]:
    """Of databases whose first copy Active Manager cannot reach; that server learns of it last."""
    silent = _not_managed(fault)
    for database in plan.topology.databases:
        copies = [each.server for each in database.copies]
        if len(copies) > 1 and copies[0] in silent:
            at_ms = fault.start_ms + NOTICED_MS
            yield _Happening("failover", at_ms, fault.end_ms, frozenset(copies))


def _not_managed(fault: Fault) -> set[str]:
    if isinstance(fault, Cut):
        return {link.target for link in fault.links if link.service == "management"}
    return _concerned(fault) if fault.kind in AWAY else set()


def _concerned(fault: Fault) -> set[str]:
    if isinstance(fault, LinkFault):
        return {end for link in fault.links for end in (link.source, link.target)} - {WORKLOAD}
    return set() if isinstance(fault, CorruptMailboxes) else {fault.server}


def _phases(
    happening: _Happening, message: Message, goals: set[str], heartbeat_ms: int
) -> Iterator[str]:
    """Those of the message's life that the fault should meet."""
    at_ms, start_ms, end_ms = message.at_ms, happening.start_ms, happening.end_ms
    takes_it = message.via[0] in happening.servers
    begins_with_it = start_ms - MOMENT_MS <= at_ms <= start_ms
    during = start_ms - MOMENT_MS <= at_ms <= end_ms
    if takes_it and during:
        yield "submitting"
    works = happening.kind not in AWAY
    if takes_it and (begins_with_it or (during and (works or happening.kind == "pause"))):
        yield "shadowing"
    if (begins_with_it or (works and during)) and (takes_it or goals & happening.servers):
        yield "queued"
    if start_ms - heartbeat_ms <= at_ms <= end_ms:
        yield "awaiting-discard"
    if at_ms < end_ms:
        yield "in-safety-net"
