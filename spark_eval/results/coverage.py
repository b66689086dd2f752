"""Which faults met which part of a message's life: what a sweep has tried, whatever came of it.

A message meets a fault when the fault's possible extent overlaps the phase and the fault concerns a
server that had the message, as its primary or as the holder of its shadow; while it is submitted,
those that were asked to take it too. A fault of links concerns both of their ends, and a failover
of a mailbox database, which counts like a fault, the servers of both copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from spark_eval.expected.mail.deliveries import deliveries
from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.safety_net.safety_net_requests import askings
from spark_eval.expected.shadow.shadow_copies import copies_of
from spark_eval.histories.faults import Fault
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval
from spark_eval.read.rows import collected

PHASES: Final = ("submitting", "shadowing", "queued", "awaiting-discard", "in-safety-net")


class _Happened(NamedTuple):
    """A fault, or a failover, and the servers that it concerns."""

    kind: str
    at: Interval
    concerned: frozenset[str]


class _Phase(NamedTuple):
    name: str
    lo: int | None
    hi: int | None
    servers: frozenset[str]


@dataclass(slots=True)
class Coverage:
    """By phase and kind of fault, how many messages met it."""

    met: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Coverage) -> None:
        self.met.update(other.met)

    def count(self, message: Message, run: Run) -> None:
        """A message and the DSNs about it."""
        for each in message.with_dsns:
            self._count(each, run)

    def _count(self, message: Message, run: Run) -> None:
        if message.attempts and _happened(run):
            self.met.update(set(_met(message, run)))

    def numbers(self) -> dict[str, dict[str, int]]:
        """Phase to kind of fault to messages, in order."""
        found: dict[str, dict[str, int]] = {}
        for (phase, kind), messages in sorted(self.met.items()):
            found.setdefault(phase, {})[kind] = messages
        return found


def _met(message: Message, run: Run) -> Iterator[tuple[str, str]]:
    happened = _happened_to(run)
    for phase in _phases(message, run):
        if phase.lo is not None and phase.hi is not None:
            for server in phase.servers:
                for each in happened.get(server, ()):
                    if each.at.touches(phase.lo, phase.hi):
                        yield phase.name, each.kind


@lru_cache(maxsize=1)
def _happened_to(run: Run) -> dict[str, list[_Happened]]:
    return collected((server, each) for each in _happened(run) for server in each.concerned)


@lru_cache(maxsize=1)
def _happened(run: Run) -> tuple[_Happened, ...]:
    faults = (_fault(each, each.outage.possible) for each in run.faults if each.outage is not None)
    return (*faults, *_failovers(run))


def _fault(fault: Fault, at: Interval) -> _Happened:
    """Its kind names its way, as `cut-stall` and `slow-replies`."""
    keys = fault.planned.keys
    ways = (fault.planned.kind, keys.get("cut_kind"), keys.get("direction"))
    ends = {(end or "").lower() for link in fault.links for end in (link.from_, link.to)}
    concerned = ends if fault.server is None else {fault.server}
    return _Happened("-".join(each for each in ways if each), at, frozenset(concerned))


def _failovers(run: Run) -> Iterator[_Happened]:
    """Changes of an active copy, from its mount until every server knew of it."""
    for active in run.active_copies.values():
        for change in active.changes:
            asked = [each for each in askings(run) if each.change is change]
            mounted_ms = change.mounted.at_ms
            if not asked or mounted_ms is None:
                continue
            learnt = [x.learnt.at_ms for x in asked if x.learnt and x.learnt.at_ms is not None]
            at = Interval(mounted_ms, max([mounted_ms, *learnt]))
            yield _Happened("failover", at, frozenset((change.before.server, change.after.server)))


def _phases(message: Message, run: Run) -> tuple[_Phase, ...]:
    """Those that it may have come to; open ones last to the end."""
    tried, had, end_ms = message.attempts, _had(message, run), run.end_ms
    servers = had.servers
    submitting = servers | {each.server for each in tried}
    ok, first_ms = message.ok, _least(each.started_ms for each in tried)
    acked_ms, ended_ms = ok.ended_ms if ok else None, _most(each.ended_ms for each in tried)
    done_ms = _seen_ms(message, run) if had.done_ms is None else had.done_ms
    let_go_ms, waits_ms = had.discarded_ms, None if had.shadowed_ms is None else done_ms
    spans = (
        (first_ms, _first_of(acked_ms, ended_ms, end_ms)),
        (ok.started_ms if ok else None, had.shadowed_ms),
        (had.received_ms, _first_of(done_ms, end_ms)),
        (waits_ms, _first_of(let_go_ms, end_ms)),
        (_most((done_ms, let_go_ms)), end_ms),
    )
    concerned = (submitting, servers, servers, servers, servers)
    return tuple(
        _Phase(name, *span, who) for name, span, who in zip(PHASES, spans, concerned, strict=True)
    )


class _Had(NamedTuple):
    """Who had a message, and when it was received, shadowed, done and let go."""

    servers: frozenset[str]
    received_ms: int | None
    shadowed_ms: int | None
    done_ms: int | None
    discarded_ms: int | None


def _had(message: Message, run: Run) -> _Had:
    primaries, copies = message.primaries.values(), copies_of(message, run)
    servers = {each.key.server for each in primaries} | {each.server.name for each in copies}
    redirects = [each.redirect.at_ms for each in primaries if each.redirect]
    return _Had(
        servers=frozenset(servers),
        received_ms=_least(each.born.at_ms for each in primaries if each.born),
        shadowed_ms=_least((*redirects, *(each.held_ms for each in copies))),
        done_ms=_least(x.done_ms for x in forks_of(message, run).values() if x.complete),
        discarded_ms=_most(each.discard_ms for each in copies),
    )


def _seen_ms(message: Message, run: Run) -> int | None:
    """When the last recipient saw it, if all did."""
    firsts = [each.first_ms for each in deliveries(message, run)]
    return None if None in firsts else _most(firsts)


def _first_of(*times_ms: int | None) -> int | None:
    return next((each for each in times_ms if each is not None), None)


def _least(times_ms: Iterable[int | None]) -> int | None:
    return min((each for each in times_ms if each is not None), default=None)


def _most(times_ms: Iterable[int | None]) -> int | None:
    return max((each for each in times_ms if each is not None), default=None)
