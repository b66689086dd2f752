"""The runs that the tests of scenarios ask about, by the name of their set: every scenario, nodes
that keep their promises, nodes with a defect of the catalogue.

A scenario that is made for one promise finds the node that breaks it under every seed: one here,
five with `make fuzz`, and five of the catalogue's every night (`make prove`). SHADOWLAB_FUZZ / 100
is the number of seeds of each random scenario beside these (1 by default; `make fuzz`: 100).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from defects.catalogue import BY_NAME
from defects.defect import Context
from defects.door import Door, behind
from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.search import Search
from lab.campaigns.run import Run
from lab.campaigns.shrink.trial import Trial
from lab.hosts.simulator.process import Process
from lab.planning.resolve import default_seed
from lab.validation.validate import check
from nodes.core.interface.inputs import Input, TransmissionAnswered
from tests.lab.hosts.simulator.greylisting import greylist, to_three_outside
from tests.lab.hosts.simulator.plans import SCENARIOS, scenario
from tests.lab.hosts.simulator.plans import plan as scenario_plan
from tests.scenarios import spoiled
from tests.scenarios.batches import Batches, run_of
from tests.scenarios.recorded import recorded

EVERY_SINGLE_FAULT = "every single fault"
EVERY_LOST_DISK = "every lost disk of a hasty node"
ONE_AT_A_TIME, SMALL = "one-server-at-a-time", "one-message-in"
# with one that has several boundaries: hops inside of them (SR-12) are asked about in its batch
RANDOM = (
    "across-boundaries", "anything-goes", "around-the-span", "cuts-only", "failovers",
    ONE_AT_A_TIME,
)  # fmt: skip
SEEDS_OF_FUZZ = max(1, int(os.environ.get("SHADOWLAB_FUZZ", "100")) // 100)
SEEDS = range(12)
FEW = range(min(5, SEEDS_OF_FUZZ))
Asked = Callable[[Path], list[Trial]]


def of(name: str, seeds: Sequence[int] = FEW) -> Asked:
    return lambda folder: [Trial(scenario(name), seed) for seed in seeds]


def to_three(seeds: Sequence[int]) -> Asked:
    return lambda folder: [Trial(to_three_outside(ONE_AT_A_TIME), seed) for seed in seeds]


# Two servers promote after 23 min and try to make new shadows in Paris, which is silent.
KILLED_WHILE_TRYING = """
  - {at: 21m, for: 9m, cut: {from: site lyon, to: [par-mbx2, par-mbx3], kind: stall}}
  - {at: 25m, for: 1m, kill: [lyo-mbx1, lyo-mbx3], returns_with: same-queue-database}

settle"""


def killed_while_trying(folder: Path) -> list[Trial]:
    """A scenario with two more faults."""
    name = "primary-returns-after-promotion"
    before, found, after = scenario(name).text.partition("settle")
    assert found
    path = folder / f"{name}.yaml"
    path.write_text(f"{before}{KILLED_WHILE_TRYING}{after}")
    (checked,) = check([path]).scenarios
    return [Trial(checked, seed) for seed in FEW]


class ForgetsWhoWasPutOff(Door):
    """As if every recipient had been accepted."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, TransmissionAnswered):
            return (replace(happened, refused=()),)
        return (happened,)


@contextmanager
def greylisted(node: Callable[[], Context] = nullcontext) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch, node():
        greylist(monkeypatch)
        yield


GREYLISTED = "a server outside puts off some recipients"
SOUND: dict[str, tuple[Callable[[], Context], Asked]] = {
    "one server at a time": (nullcontext, of(ONE_AT_A_TIME, SEEDS)),
    "around the span": (nullcontext, of("around-the-span", SEEDS)),
    "settings drawn": (nullcontext, of("drawn-settings", SEEDS)),
    GREYLISTED: (greylisted, to_three(SEEDS)),
    "killed before the new shadow stands": (nullcontext, killed_while_trying),
}


# no server outside of a lab's puts anybody off: who says so is held to have made it up
MADE_UP = {GREYLISTED: frozenset({"deferred_for_cause", "delivered_in_time"})}


@dataclass(frozen=True, slots=True)
class Broken:
    """Nodes that break a promise; `violates` are all violated under every one of the seeds."""

    name: str
    node: Callable[[], Context]
    asked: Asked
    violates: frozenset[str]


def caught(name: str, asked: Asked | None = None, *violates: str) -> Broken:
    """A defect of the catalogue, by default in its own scenario and by its own claims."""
    defect = BY_NAME[name]
    claims = frozenset(violates or defect.claims)
    return Broken(name, defect.broken, asked or of(defect.scenario), claims)


PUT_OFF = Broken(
    "forgets who was put off",
    partial(greylisted, partial(behind, ForgetsWhoWasPutOff)),
    to_three([1]),
    frozenset(["no_loss"]),
)
BROKEN = (
    PUT_OFF,
    caught("throws-away-one-in-ten"),
    caught("tells-nobody-of-what-expired"),
    caught("tells-senders-twice"),
    caught("waits-for-no-dsn"),
    caught("stores-another-content-of-one-in-fifty"),
    caught("promotes-headers"),
    caught("exchanges-texts"),
    caught("delivers-two-minutes-late"),
    caught("delivers-one-in-fifty-ten-minutes-late"),
    caught("delivers-late-after-a-restart"),
    caught("puts-off-the-second-recipient"),
    caught("tries-again-after-twenty-minutes"),
    caught("mounts-beside-the-first"),
    caught("goes-on-after-a-dismount"),
    caught("hears-of-no-other-copy-by-its-logs"),
    caught("acknowledges-before-the-shadow-stands", of(ONE_AT_A_TIME)),
    # seeds that draw what it takes to notice the next three
    caught("forgets-notifications-at-a-restart", of(ONE_AT_A_TIME, [3, 9])),
    caught("sees-no-other-database", of(ONE_AT_A_TIME, [1, 37, 39]), "promotion_on_time"),
    caught("waits-half-the-span", of("around-the-span", [0, 1, 4])),
    caught("asks-nobody-after-a-pause"),
    caught("keeps-the-last-contact-in-memory"),
    caught("counts-a-session-of-the-primary"),
    caught("waits-two-heartbeats-longer"),
    caught("sees-another-database-two-answers-late"),
    caught("asks-in-heartbeats-only"),
    caught("notifies-everybody-of-everything"),
    caught("no-event-for-a-failed-heartbeat"),
    caught("notifies-after-the-first-fork"),
    caught("notifies-once"),
    caught("promoted-mail-gets-no-shadow-after-a-kill", killed_while_trying),
    caught("gives-back-another-database"),
    caught("leaves-out-the-last-minute"),
    caught("sends-dsns-for-resubmitted-mail"),
    caught("straight-into-a-mailbox-of-another-boundary"),
    caught("two-hops-inside-a-boundary"),
    caught("gives-back-what-left-the-boundary"),
    caught("asks-after-a-lossless-switchover"),
)
# what two opinions are compared about, beside all that must be found: a defect in a scenario
ALSO = (
    ("acknowledges-before-the-shadow-stands", "site-cut"),
    ("acknowledges-before-the-shadow-stands", "across-boundaries"),
    ("no-shadow-at-all", "primary-loses-its-queue-database"),
    ("no-shadow-at-all", "across-boundaries"),
    ("sees-no-other-database", "primary-loses-its-queue-database"),
    ("sees-no-other-database", ONE_AT_A_TIME),
    ("never-takes-over", "primary-returns-after-promotion"),
    ("never-takes-over", "around-the-span"),
    ("waits-half-the-span-again", "primary-returns-after-promotion"),
    ("waits-half-the-span-again", "around-the-span"),
    ("waits-two-heartbeats-longer", "half-done-fork"),
    ("waits-two-heartbeats-longer", "one-way-heartbeat"),
    ("delivers-half-of-what-it-promoted", "primary-loses-its-queue-database"),
    ("delivers-half-of-what-it-promoted", "around-the-span"),
    ("notifies-after-the-first-fork", ONE_AT_A_TIME),
    ("detects-no-duplicate", "primary-returns-after-promotion"),
    ("detects-no-duplicate", "lossy-failover"),
    ("detects-no-duplicate", "acknowledgement-lost"),
    ("forgets-the-second-recipient", "calm"),
    ("forgets-the-second-recipient", "lossy-failover"),
)


def single_faults(*kinds: str) -> Iterator[Run]:
    """Every single one of `one-message-in`; where kinds are named, every one of these."""
    search = Search(scenario_plan(SMALL, default_seed(SMALL)), Pairs.none)
    chosen = (each for each in search.singles if not kinds or each.kind in kinds)
    return (search.run([strike]) for strike in chosen)


def seeds_of_random() -> range:
    return range(1, 1 + SEEDS_OF_FUZZ)


def random_set(seed: int) -> str:
    """The set of each random scenario under that seed, in the order of `RANDOM`."""
    return f"random, seed {seed}"


def simulate_all(batches: Batches, drafts: Path) -> None:
    """A node that crashes is none that breaks a promise. `drafts` is an empty folder."""

    def crash(self: Process, error: Exception) -> None:
        raise error

    library = {name: (nullcontext, of(name, [default_seed(name)])) for name in SCENARIOS}
    sets = library | SOUND | {each.name: (each.node, each.asked) for each in BROKEN}
    sets |= {f"{name} in {asked}": (BY_NAME[name].broken, of(asked, [1])) for name, asked in ALSO}
    with patch.object(Process, "_crash", crash):
        for name, (node, asked) in sets.items():
            with node():
                batches.simulate(name, map(run_of, asked(drafts)))
        batches.simulate(EVERY_SINGLE_FAULT, single_faults())
        with BY_NAME["acknowledges-before-the-shadow-stands"].broken():
            batches.simulate(EVERY_LOST_DISK, single_faults("disk-lost"))
        for seed in seeds_of_random():
            batches.simulate(
                random_set(seed), (run_of(Trial(scenario(name), seed)) for name in RANDOM)
            )
        for run in spoiled.RUNS:
            files = run.spoil(recorded(run.scenario, run.seed))
            batches.add(str(run), [(run.seed, files)])
