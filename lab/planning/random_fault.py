"""One fault of a random schedule: what kind, how long, on what, and how a person would write it.

When it happens, and to which server, is decided in `lab.planning.random_schedule`. Every draw has a
name of its own, so that no draw depends on another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from lab.plan.faults import DIRECTED_KINDS, MACHINE_KINDS, NEW_SERVER, SERVER_KINDS
from lab.plan.links import WORKLOAD
from lab.plan.quantities import format_duration, format_skew
from lab.plan.topology import Link, PlanTopology
from lab.planning.recovery import Recovery
from lab.planning.seeds import seed_for
from lab.scenario.link_faults import LINK_MODELS
from lab.scenario.random_faults import WAYS, RandomModel
from nodes.core.config.units import HOUR_MS, MINUTE_MS

T = TypeVar("T")
Written: TypeAlias = Mapping[str, Any]
"""A fault as a person would write it."""

SECOND_MS = 1000
DATABASES = ("same-queue-database", "new-queue-database")
PERCENTS = (95, 97, 99)
SKEWS_MS = (-2 * HOUR_MS, -5 * MINUTE_MS, 5 * MINUTE_MS, 2 * HOUR_MS)


@dataclass(frozen=True, slots=True)
class ScheduleContext:
    """What a schedule is drawn over; `workload_end_ms` is when the last stream ends."""

    topology: PlanTopology
    links: tuple[Link, ...]
    recovery: Recovery
    workload_end_ms: int

    @property
    def servers(self) -> list[str]:
        """Who may suffer: the servers whose mail is at stake."""
        return [each.name for each in self.topology.servers if each.role == "mailbox"]

    def sufferers(self, drafts: Sequence["Draft"]) -> list[str]:
        """Who may suffer all of these: front ends and Active Manager too, where none is of mailbox
        servers, and front ends where none is of a database.
        """
        if any(
            draft.kind in ("corrupt", *MACHINE_KINDS) or draft.returns_with == NEW_SERVER
            for draft in drafts
        ):
            return self.servers
        of_databases = any(draft.loses_database for draft in drafts)
        roles = ("active_manager",) if of_databases else ("active_manager", "frontend")
        return self.servers + [each.name for each in self.topology.servers if each.role in roles]

    def site_of(self, server: str) -> str:
        """Where it stands."""
        return next(each.site for each in self.topology.servers if each.name == server)

    def other_sites(self, server: str) -> list[str]:
        """As ends of a cut: the sites of the organisation that it does not stand in."""
        own = self.site_of(server)
        sites = dict.fromkeys(
            each.site for each in self.topology.servers if each.role != "external"
        )
        return [f"site {site}" for site in sites if site != own]

    def peers(self, server: str) -> list[str]:
        """Who shares a link with it."""
        ends = [
            link.target if link.source == server else link.source
            for link in self.links
            if server in (link.source, link.target)
        ]
        return list(dict.fromkeys(ends))


@dataclass(frozen=True, slots=True)
class Draft:
    """A fault before it has a server and a time; a restart has no length."""

    number: int
    kind: str
    returns_with: str
    length_ms: int
    least_ms: int

    @property
    def loses_database(self) -> bool:
        return self.kind == "corrupt" or self.returns_with in ("new-queue-database", NEW_SERVER)


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws by name, for one entry of `faults:`."""

    seed: int
    entry: int

    def below(self, limit: int, *names: str | int) -> int:
        return seed_for(self.seed, "random", self.entry, *names) % limit

    def one_of(self, choices: Sequence[T], *names: str | int) -> T:
        return choices[self.below(len(choices), *names)]

    def length_ms(self, low_ms: int, high_ms: int, *names: str | int) -> int:
        """In whole seconds above `low_ms`."""
        return low_ms + SECOND_MS * self.below((high_ms - low_ms) // SECOND_MS + 1, *names)


def make_draft(random: RandomModel, draws: Draws, number: int, longest_ms: int) -> Draft:
    """The fault of that number in its schedule."""
    word = draws.one_of(random.faults, number, "fault")
    # a cut and a split of the same number are cut alike
    ways, name = WAYS.get(word, ()), "direction" if word in DIRECTED_KINDS else "cut"
    kind = f"{word}-{draws.one_of(ways, number, name)}" if ways else word
    database = draws.one_of(DATABASES, number, "database") if kind == "kill" else ""
    if word == NEW_SERVER:
        kind, database = "kill", NEW_SERVER
    if kind == "restart":
        return Draft(number, kind, database, 0, 0)
    lengths = random.for_ms
    length_ms = draws.length_ms(lengths.low, min(lengths.high, longest_ms), number, "for")
    return Draft(number, kind, database, length_ms, lengths.low)


def write_fault(
    draft: Draft, draws: Draws, context: ScheduleContext, server: str, start_ms: int
) -> Written:
    """The fault on that server, from that moment on."""
    when = {"at": format_duration(start_ms)}
    if draft.kind != "restart":
        when["for"] = format_duration(draft.length_ms)
    if draft.kind == "kill":
        return {**when, "kill": server, "returns_with": draft.returns_with}
    if draft.kind == "skew_clock":
        by_ms = draws.one_of(SKEWS_MS, draft.number, "by")
        return {**when, "skew_clock": server, "by": format_skew(by_ms)}
    if draft.kind == "disk_use":
        return {**when, "disk_use": server, "percent": draws.one_of(PERCENTS, draft.number, "use")}
    if draft.kind in (*SERVER_KINDS, *MACHINE_KINDS):
        return {**when, draft.kind: server}
    if draft.kind.startswith("split-"):
        between = [f"site {context.site_of(server)}", context.other_sites(server)]
        return {**when, "cut": {"between": between, "kind": draft.kind.removeprefix("split-")}}
    return {**when, **_of_links(draft, draws, [server, _others(draft, draws, context, server)])}


def _of_links(draft: Draft, draws: Draws, between: list[Any]) -> Written:
    kind, _, way = draft.kind.partition("-")
    drawn = LINK_MODELS[kind].drawn(
        lambda these, name: draws.one_of(these, draft.number, name), way
    )
    return {kind: {"between": between, **drawn}}


def _others(draft: Draft, draws: Draws, context: ScheduleContext, server: str) -> list[str]:
    """Some of those that share a link with the server, a server among them, as in the mesh."""
    peers = context.peers(server)
    servers = [peer for peer in peers if peer != WORKLOAD]
    chosen = {draws.one_of(servers, draft.number, "other", server)}
    how_many = 1 + draws.below(len(peers), draft.number, "others", server)
    left = [peer for peer in peers if peer not in chosen]
    while len(chosen) < how_many:
        at = draws.below(len(left), draft.number, "other", server, len(chosen))
        chosen.add(left.pop(at))
    return [peer for peer in peers if peer in chosen]
