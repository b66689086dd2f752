"""What goes wrong: at a time, at a place, again and again; and what an administrator asks."""

from __future__ import annotations

from collections.abc import Iterator

from lab.plan.faults import LINK_KINDS, MACHINE_KINDS, SERVER_KINDS
from lab.scenario.random_faults import DRAWABLE
from nodes.shell.chaos.places import PLACES
from tests.lab.drawn_scenarios.chance import Chance, Section
from tests.lab.drawn_scenarios.organisation import Organisation

CUTS = ("refuse", "blackhole", "stall", "reset", "ack-lost")
DIRECTIONS = ("both", "requests", "replies")
LATENCIES = ("200ms", "5s", "30s")
RATES = ("256B/s", "1KiB/s", "16KiB/s")
OF_LINKS: dict[str, Section] = {
    "cut": {"kind": CUTS},
    "slow": {"latency": LATENCIES, "direction": DIRECTIONS},
    "throttle": {"rate": RATES, "direction": DIRECTIONS},
    "limit_data": {"bytes": ("8KiB", "64KiB")},
    "slice": {"pieces": ("256B", "4KiB"), "pause": ("10ms", "200ms")},
    "drip": {"latency": LATENCIES, "rate": RATES, "direction": DIRECTIONS},
    "reset_after": {"after": ("5s", "1m")},
    "slow_close": {"delay": ("5s", "2m")},
}


def draw_schedule(chance: Chance, organisation: Organisation, *, is_alone: bool) -> Section:
    """Faults that the seed of a run draws; beside others they keep to no limit."""
    limits = ("one-server-at-a-time", "one-site-at-a-time", "none")
    at_most = chance.one(*limits) if is_alone else "none"
    splits = len(organisation.sites) > 1 and at_most != "one-server-at-a-time"
    kinds = [kind for kind in DRAWABLE if splits or kind != "split"]
    drawn = {
        "during": chance.one("3m..45m", "3m..1h", "3m..2h30m"),
        "faults": sorted(chance.sample(kinds, chance.between(3, len(kinds)))),
        "at_most": at_most,
        "count": chance.one("1..3", "2..5"),
        "for": chance.one("30s..5m", "2m..25m"),
    }
    return {"random": drawn}


def draw_fault(chance: Chance, organisation: Organisation) -> Section:
    """One fault, and when."""
    kinds = (*LINK_KINDS, "cut", "cut", *SERVER_KINDS, "kill", "kill", *MACHINE_KINDS)
    kind = chance.one(*kinds)
    lasts = {} if kind == "restart" else {"for": f"{chance.one(1, 3, 8, 15, 30)}m"}
    fault = _of_links(chance, organisation, kind) if kind in OF_LINKS else {}
    fault = fault or _of_servers(chance, organisation, kind)
    if chance.happens(0.2):
        return fault | lasts | _at_a_place(chance, organisation)
    fault |= lasts | {"at": f"{chance.between(2, 60)}m"}
    if chance.happens(0.15):
        fault |= {"every": "20m", "times": 3} | ({"for": "2m"} if lasts else {})
    return fault


def draw_operations(chance: Chance, organisation: Organisation) -> Iterator[Section]:
    """What an administrator asks for, of a database now and then more than once."""
    for database, copies in organisation.databases.items():
        for _ in range(chance.one(0, 0, 1, 1, 3) if len(copies) > 1 else 0):
            kind = chance.one("failover", "switchover")
            to = {"to": chance.one(*copies)}
            if kind == "failover" and chance.happens(0.3):
                to = {}
            yield {"at": f"{chance.between(5, 60)}m", kind: database} | to
        if chance.happens(0.2):
            at, start = chance.between(20, 60), chance.between(0, 10)
            times = {"start": f"{start}m", "end": f"{chance.between(start + 1, at)}m"}
            yield {"at": f"{at}m", "resubmit": database} | times


def _of_links(chance: Chance, organisation: Organisation, kind: str) -> Section:
    one, other = chance.sample(_ends(organisation), 2)
    drawn = chance.one({"from": one, "to": other}, {"between": [one, other]})
    drawn |= {key: chance.one(*choices) for key, choices in OF_LINKS[kind].items()}
    if chance.happens(0.2):
        drawn["service"] = chance.one("smtp", "replication", "management")
    return {kind: drawn}


def _ends(organisation: Organisation) -> list[str]:
    sites = [f"site {site}" for site in organisation.sites]
    return [*organisation.servers, *organisation.managers, "workload", *sites]


def _of_servers(chance: Chance, organisation: Organisation, kind: str) -> Section:
    if kind == "skew_clock":
        by = chance.one("-10m", "-30s", "2s", "5m")
        return {kind: chance.one(*organisation.servers), "by": by}
    if kind in (*MACHINE_KINDS, "corrupt"):
        return {kind: chance.one(*organisation.servers)}
    names = [*organisation.servers, *organisation.managers]
    drawn: Section = {kind: chance.one(*names)}
    if chance.happens(0.15):
        drawn = {kind: chance.sample(names, 2)}
    if kind == "kill" and chance.happens(0.4):
        drawn["returns_with"] = "new-queue-database"
    return drawn


def _at_a_place(chance: Chance, organisation: Organisation) -> Section:
    when = {
        "server": chance.one(*organisation.servers),
        "at": chance.one(*PLACES),
        "nth": chance.one(1, 1, 2, 5, 20),
        "after": f"{chance.between(1, 40)}m",
    }
    return {"when": when}
