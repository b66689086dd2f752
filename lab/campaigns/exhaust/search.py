"""What an exhaustive search of one scenario goes through: single faults, and pairs of them.

The second fault of a pair begins at an event of the run with the first one. A pair is relevant
where that event is one that the run without any fault does not have: what the first fault leaves as
it was, the second one meets as a single fault.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial

from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.strikes import KINDS, Strike, overlap, strikes_at, struck
from lab.campaigns.run import Keeping, Run
from lab.hosts.simulator.events import Event, Events
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class Slice:
    """Faults `low` to `high - 1` of those that may come after the `first` one, by its number; of
    the single ones, where `first` is None.
    """

    first: int | None
    low: int
    high: int


@dataclass(frozen=True)
class Search:
    """All of it hangs on the plan, so whoever has that counts alike."""

    plan: Plan
    pairs: Pairs

    @cached_property
    def usual(self) -> list[Event]:
        """What happens without any of the faults."""
        return self.events(())

    @cached_property
    def singles(self) -> list[Strike]:
        return strikes_at(self.plan, self.usual)

    def seconds(self, first: Strike) -> list[Strike]:
        """What may strike after `first`."""
        events = self.events((first,))
        later = [
            each
            for each in strikes_at(self.plan, events)
            if each.number > first.number and not overlap(first, each)
        ]
        if self.pairs is Pairs.all:
            return later
        new = set(_new(self.usual[first.number :], events[first.number :], first.number))
        return [each for each in later if each.number in new]

    def named(self, name: str) -> list[Strike]:
        """The faults of a run, by its name: `kill@17+reply-lost@40`. Raises ScenarioError."""
        found: list[Strike] = []
        for part in name.split("+"):
            known = strikes_at(self.plan, self.events(found))
            strike = next((each for each in known if each.name == part), None)
            if strike is None or (found and strike.number <= found[-1].number):
                raise ScenarioError(f"there is no fault {part!r}", _nearest(part, known))
            found.append(strike)
        return found

    def events(self, strikes: Sequence[Strike]) -> list[Event]:
        plan, begin = struck(self.plan, strikes) if strikes else (self.plan, {})
        events = Events(begin)
        simulate(plan, keeps_inputs=False, events=events)
        return events.seen

    def run(self, strikes: Sequence[Strike], keeping: Keeping | None = None) -> Run:
        plan, begin = struck(self.plan, strikes)
        name = name_of(strikes)
        return Run(name, name, plan, partial(_record, plan, begin), keeping)


@dataclass(frozen=True, slots=True)
class StrikeTask:
    """Some slices of a search."""

    search: Search
    slices: tuple[Slice, ...]
    keeping: Keeping | None = None

    def runs(self) -> Iterator[Run]:
        singles = self.search.singles
        for each in self.slices:
            before = () if each.first is None else (singles[each.first],)
            after = self.search.seconds(before[0]) if before else singles
            for strike in after[each.low : each.high]:
                yield self.search.run((*before, strike), self.keeping)


def name_of(strikes: Sequence[Strike]) -> str:
    """`kill@17+reply-lost@40`."""
    return "+".join(strike.name for strike in strikes)


def _nearest(name: str, known: Sequence[Strike]) -> str:
    """The fault's own kinds at the events nearest to its number."""
    kind, _, number = name.partition("@")
    alike = get_close_matches(kind, KINDS, n=1, cutoff=0.6) or KINDS[:1]
    wanted = int(number) if number.isdecimal() else 0
    near = sorted(
        (each for each in known if each.kind in alike), key=lambda each: abs(each.number - wanted)
    )
    names = " or ".join(each.name for each in near[:3])
    return f"what is done, and the number of an event at which it can be: {names}"


def _record(plan: Plan, begin: dict[int, str], *, keeps_inputs: bool) -> RecordInMemory:
    return simulate(plan, keeps_inputs=keeps_inputs, events=Events(begin))


def _new(usual: Sequence[Event], events: Sequence[Event], number: int) -> Iterator[int]:
    """Numbers of `events`, the first of which has `number`, that go beyond those of `usual`."""
    left = Counter(map(_kind, usual))
    for at, event in enumerate(events, start=number):
        left[_kind(event)] -= 1
        if left[_kind(event)] < 0:
            yield at


def _kind(event: Event) -> tuple[object, ...]:
    return event.side, event.where, event.what
