"""A scenario on its way to being smaller: what may be left out of it, and the ways to do so.

A draft keeps the parts of the original by their number there, so that reductions can be taken in
any order and together. A reduction gives another draft, or None where there is nothing to reduce.
Whether a draft still is a scenario is asked by `lab.validation.validate`, whether it still fails by
a trial.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

from lab.scenario.quantities import parse_rate
from nodes.core.config.units import format_timespan, parse_timespan

Json: TypeAlias = dict[str, Any]
SHORTEST_MS = 60_000
PAIRS_AMONG = 40  # faults; of more, halves are left out instead of all pairs being tried
SHORTEST_SETTLE_MS = 600_000


@dataclass(frozen=True, slots=True)
class Draft:
    """Parts by their number in the original; `servers` are those of `topology`, by name."""

    rest: Json
    topology: Json
    faults: Mapping[int, Json]
    operations: Mapping[int, Json]
    streams: Mapping[int, Json]

    @staticmethod
    def of(scenario: Json, topology: Json) -> "Draft":
        parts = ("faults", "operations", "workload", "topology", "proves", "tags", "expect")
        rest = {key: value for key, value in scenario.items() if key not in parts}
        return Draft(
            rest,
            topology,
            dict(enumerate(scenario.get("faults") or [])),
            dict(enumerate(scenario.get("operations") or [])),
            dict(enumerate(scenario["workload"])),
        )

    def document(self, name: str) -> Json:
        """The scenario file's content, under another name."""
        rest = {key: value for key, value in self.rest.items() if key != "settle"}
        return {
            **rest,
            "scenario": name,
            "topology": self.topology,
            "workload": list(self.streams.values()),
            "faults": list(self.faults.values()),
            **({"operations": list(self.operations.values())} if self.operations else {}),
            **({"settle": self.rest["settle"]} if "settle" in self.rest else {}),
        }

    @property
    def size(self) -> tuple[int, int, int, int, int]:
        """What is to be small, the most important first: faults, operations and strangers, servers,
        messages, time.
        """
        messages = sum(_messages(stream) for stream in self.streams.values())
        lasting = sum(_ms(fault, "for") for fault in self.faults.values())
        sending = sum(_ms(stream, "for") for stream in self.streams.values())
        acts = len(self.faults) + len(self.operations) + len(self.rest.get("strangers") or [])
        managers = [dag for dag in self.topology.get("dags", {}).values() if dag]
        return acts, len(self.topology["servers"]) + len(managers), messages, lasting, sending


@dataclass(frozen=True, slots=True)
class Reduction:
    """One way to make a draft smaller; `what` says it for a person."""

    what: str
    apply: Callable[[Draft], Draft | None]


def fewer_faults(draft: Draft) -> Iterator[Reduction]:
    """Only one, only two, then without a half, a quarter, one of them (Zeller's ddmin)."""
    numbers = list(draft.faults)
    if len(numbers) > 2:
        for few in (1, 2) if len(numbers) <= PAIRS_AMONG else (1,):
            for kept in combinations(numbers, few):
                yield Reduction(_named("only", kept), partial(_keep, kept))
    size = len(numbers) // 2
    while size >= 1:
        for start in range(0, len(numbers), size):
            gone = numbers[start : start + size]
            left = tuple(number for number in numbers if number not in gone)
            yield Reduction(_named("without", gone), partial(_keep, left))
        size //= 2
    if len(numbers) == 1:
        yield Reduction("without any fault", partial(_keep, ()))


def fewer_operations(draft: Draft) -> Iterator[Reduction]:
    """Without one of them, or without strangers."""
    for number in draft.operations:
        yield Reduction(f"without operation {number + 1}", partial(_without_operation, number))
    if draft.rest.get("strangers"):
        yield Reduction("without strangers", _without_strangers)


def fewer_servers(draft: Draft) -> Iterator[Reduction]:
    """Without one of the servers, or one of the streams of mail."""
    yield Reduction("without Active Manager", _with_single_copies)
    for number in draft.streams:
        yield Reduction(f"without stream {number + 1}", partial(_without_stream, number))
    for name in draft.topology["servers"]:
        yield Reduction(f"without {name}", partial(_without_server, name))


def less_mail(draft: Draft) -> Iterator[Reduction]:
    """Half of a stream."""
    for number in draft.streams:
        stream = f"stream {number + 1}"
        yield Reduction(f"half the rate of {stream}", partial(_halve_rate, number))
        yield Reduction(f"the first half of {stream}", partial(_first_half, number))
        yield Reduction(f"the second half of {stream}", partial(_second_half, number))


def less_time(draft: Draft) -> Iterator[Reduction]:
    """Half of a fault's time, or of the settling."""
    for number in draft.faults:
        yield Reduction(f"fault {number + 1} half as long", partial(_halve_fault, number))
    yield Reduction("half the settling", _halve_settle)


Stage: TypeAlias = Callable[[Draft], Iterator[Reduction]]
STAGES: tuple[Stage, ...] = (fewer_faults, fewer_operations, less_mail, fewer_servers, less_time)


def _named(word: str, numbers: Sequence[int]) -> str:
    return f"{word} fault {', '.join(str(number + 1) for number in numbers)}"


def _keep(kept: tuple[int, ...], draft: Draft) -> Draft | None:
    faults = {number: fault for number, fault in draft.faults.items() if number in kept}
    return replace(draft, faults=faults) if len(faults) < len(draft.faults) else None


def _without_operation(number: int, draft: Draft) -> Draft | None:
    left = {n: each for n, each in draft.operations.items() if n != number}
    return replace(draft, operations=left) if len(left) < len(draft.operations) else None


def _without_strangers(draft: Draft) -> Draft | None:
    left = {key: value for key, value in draft.rest.items() if key != "strangers"}
    return replace(draft, rest=left) if len(left) < len(draft.rest) else None


def _with_single_copies(draft: Draft) -> Draft | None:
    """Each database on its first server alone, so that nobody has to decide."""
    topology = deepcopy(draft.topology)
    managed = [dag for dag in topology.get("dags", {}).values() if dag.pop("active_manager", None)]
    for described in topology.get("databases", {}).values():
        described["copies"] = described["copies"][:1]
    return replace(draft, topology=topology) if managed else None


def _without_stream(number: int, draft: Draft) -> Draft | None:
    left = {n: stream for n, stream in draft.streams.items() if n != number}
    return replace(draft, streams=left) if 0 < len(left) < len(draft.streams) else None


def _changed(draft: Draft, part: str, number: int, values: Json) -> Draft | None:
    parts = dict(getattr(draft, part))
    if number not in parts:
        return None
    parts[number] = {**parts[number], **values}
    return replace(draft, **{part: parts})


def _halve_rate(number: int, draft: Draft) -> Draft | None:
    rate = parse_rate(draft.streams[number]["rate"]) if number in draft.streams else None
    if rate is None or rate.count < 2:
        return None
    unit = {1_000: "s", 60_000: "m", 3_600_000: "h"}[rate.per_ms]
    return _changed(draft, "streams", number, {"rate": f"{rate.count // 2}/{unit}"})


def _first_half(number: int, draft: Draft) -> Draft | None:
    return _halve_stream(draft, number, first=True)


def _second_half(number: int, draft: Draft) -> Draft | None:
    return _halve_stream(draft, number, first=False)


def _halve_stream(draft: Draft, number: int, *, first: bool) -> Draft | None:
    if number not in draft.streams:
        return None
    stream = draft.streams[number]
    half_ms = _ms(stream, "for") // 2
    if half_ms < SHORTEST_MS:
        return None
    at_ms = _ms(stream, "at") + (0 if first else half_ms)
    values = {"at": format_timespan(at_ms), "for": format_timespan(half_ms)}
    shorter = _changed(draft, "streams", number, values)
    return shorter if shorter and _messages(shorter.streams[number]) else None


def _halve_fault(number: int, draft: Draft) -> Draft | None:
    half_ms = _ms(draft.faults.get(number, {}), "for") // 2
    if half_ms < SHORTEST_MS:
        return None
    return _changed(draft, "faults", number, {"for": format_timespan(half_ms)})


def _halve_settle(draft: Draft) -> Draft | None:
    half_ms = _ms(draft.rest, "settle") // 2
    if half_ms < SHORTEST_SETTLE_MS:
        return None
    return replace(draft, rest={**draft.rest, "settle": format_timespan(half_ms)})


def _without_server(name: str, draft: Draft) -> Draft | None:
    """The server, the databases that only it held, and its place in every `via`."""
    topology = deepcopy(draft.topology)
    if topology["servers"].pop(name, None) is None:
        return None
    for database, described in list(topology.get("databases", {}).items()):
        copies = [copy for copy in described["copies"] if _holder(copy) != name]
        described["copies"] = copies
        if not copies:
            del topology["databases"][database]
            topology.get("mailboxes", {}).pop(database, None)
    streams = {n: _not_via(stream, name) for n, stream in draft.streams.items()}
    return replace(draft, topology=topology, streams=streams)


def _holder(copy: Any) -> str:
    return str(copy["server"] if isinstance(copy, dict) else copy)


def _not_via(stream: Json, name: str) -> Json:
    via = stream.get("via")
    if not isinstance(via, list):
        return stream
    left = [server for server in via if server != name]
    return {**stream, "via": left or via}


def _ms(part: Json, key: str) -> int:
    return parse_timespan(part[key]) if key in part else 0


def _messages(stream: Json) -> int:
    rate = parse_rate(stream["rate"])
    return rate.count * _ms(stream, "for") // rate.per_ms
