"""Every scenario reaches the verdict that its file foretells; a node built to break a promise is
found within a few seeds, by the claim that is about it; one that keeps its promises fails under
none of the same seeds.

A scenario that is made for one promise finds the node that breaks it under every seed. All of them
are simulated in this process, and judged in one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from lab.hosts.simulator.server import Process
from lab.plan import default_seed
from lab.shrink_trial import Trial
from lab.validate import check
from tests import broken_nodes as broken
from tests.lab.simulator.greylisting import greylist, to_three_outside
from tests.lab.simulator.plans import SCENARIOS, scenario
from tests.scenarios.batch import Batch, Result, violated

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RANDOM = "one-server-at-a-time"
SEEDS = range(12)
FEW = range(4)
Asked = Callable[[Path], list[Trial]]


def of(name: str, seeds: Sequence[int] = FEW) -> Asked:
    return lambda folder: [Trial(scenario(name), seed) for seed in seeds]


def to_three(seeds: Sequence[int]) -> Asked:
    return lambda folder: [Trial(to_three_outside(RANDOM), seed) for seed in seeds]


# Two servers promote after 23 min and try to make new shadows in Paris, which is silent.
KILLED_WHILE_TRYING = """
  - {at: 21m, for: 9m, cut: {from: site lyon, to: [par-mbx2, par-mbx3], kind: stall}}
  - {at: 25m, for: 1m, kill: [lyo-mbx1, lyo-mbx3], returns_with: same-queue-database}

settle"""


def killed_while_trying(folder: Path) -> list[Trial]:
    """A scenario with two more faults."""
    name = "primary-returns-after-promotion"
    before, settle, after = scenario(name).text.partition("settle")
    assert settle
    path = folder / f"{name}.yaml"
    path.write_text(f"{before}{KILLED_WHILE_TRYING}{after}")
    (checked,) = check([path]).scenarios
    return [Trial(checked, seed) for seed in FEW]


@contextmanager
def greylisted(node: broken.Broken = nullcontext) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch, node():
        greylist(monkeypatch)
        yield


def forgets_who_was_put_off() -> broken.Context:
    return greylisted(broken.forgets_who_was_put_off)


SOUND: dict[str, tuple[broken.Broken, Asked]] = {
    "one server at a time": (nullcontext, of(RANDOM, SEEDS)),
    "around the span": (nullcontext, of("around-the-span", SEEDS)),
    "a server outside puts off some recipients": (greylisted, to_three(SEEDS)),
    "killed before the new shadow stands": (nullcontext, killed_while_trying),
}


@dataclass(frozen=True, slots=True)
class Defect:
    """`violates` are all violated under every one of the seeds; with `sometimes`, one of them
    under one.
    """

    node: broken.Broken
    asked: Asked
    violates: frozenset[str]
    sometimes: bool = False


def sometimes(node: broken.Broken, asked: Asked, *violates: str) -> Defect:
    return Defect(node, asked, frozenset(violates), sometimes=True)


def always(node: broken.Broken, asked: str | Asked, *violates: str) -> Defect:
    trials = of(asked) if isinstance(asked, str) else asked
    return Defect(node, trials, frozenset(violates))


CROSSING, EXPIRING = "across-boundaries", "outbound-mail-expires"
DEFECTS = (
    always(broken.throws_away_one_in_ten, "calm", "no_loss"),
    always(broken.tells_nobody, EXPIRING, "no_loss", "dsn_sent"),
    always(broken.tells_senders_twice, EXPIRING, "dsn_sent"),
    always(broken.waits_for_no_dsn, EXPIRING, "discard_after_delivery"),
    always(forgets_who_was_put_off, to_three([1]), "no_loss"),
    sometimes(
        broken.acknowledges_before_the_shadow_stands, of(RANDOM, SEEDS), "redundant_before_ack"
    ),
    sometimes(
        broken.forgets_discard_notifications_at_a_restart,
        of(RANDOM, range(12, 24)),  # two of these draw it
        "discard_after_delivery",
    ),
    sometimes(
        broken.ignores_a_new_database, of(RANDOM, SEEDS), "no_loss", "promotion_on_time"
    ),
    sometimes(broken.waits_half_as_long, of("around-the-span", SEEDS), "no_early_promotion"),
    always(broken.promotes_without_asking_first, "paused-shadow-server", "no_early_promotion"),
    always(
        broken.keeps_the_last_contact_in_memory_only, "paused-shadow-server", "no_early_promotion"
    ),
    always(
        broken.counts_a_session_of_the_primary_as_contact, "one-way-heartbeat", "promotion_on_time"
    ),
    always(
        broken.notifies_after_the_first_fork,
        "half-done-fork", "no_loss", "discard_after_delivery",
    ),
    always(
        broken.drops_notifications_when_they_are_answered,
        "discard-answer-lost", "discard_after_delivery",
    ),
    always(
        broken.delivers_what_it_promoted_before_a_kill_without_a_new_shadow,
        killed_while_trying, "shadow_placement",
    ),
    always(
        broken.resubmits_for_the_wrong_database,
        "lossy-failover", "resubmission_complete", "resubmission_bounded",
    ),
    always(
        broken.leaves_out_the_last_minute_of_the_interval,
        "active-manager-cut-off", "resubmission_complete",
    ),
    always(
        broken.sends_dsns_for_resubmitted_mail, "resubmitted-mail-expires", "dsn_suppressed"
    ),
    always(
        broken.puts_mail_straight_into_a_mailbox_of_another_boundary,
        CROSSING, "redundant_before_ack",
    ),
    always(broken.takes_two_hops_inside_a_boundary, CROSSING, "redundant_before_ack"),
    always(broken.resubmits_what_left_the_boundary, CROSSING, "resubmission_bounded"),
    always(
        broken.resubmits_after_a_lossless_switchover, "lossless-switchover", "resubmission_bounded"
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Result]]:
    """A node that crashes is none that breaks a promise."""

    def crash(self: Process, error: Exception) -> None:
        raise error

    batch, drafts = Batch(tmp_path_factory.mktemp("batch")), tmp_path_factory.mktemp("drafts")
    library = {name: (nullcontext, of(name, [default_seed(name)])) for name in SCENARIOS}
    sets = library | SOUND | {name_of(each): (each.node, each.asked) for each in DEFECTS}
    with patch.object(Process, "_crash", crash):
        for name, (node, asked) in sets.items():
            with node():
                batch.simulate(name, asked(drafts))
    return batch.judge()


def name_of(defect: Defect) -> str:
    return defect.node.__name__


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_reaches_the_verdict_that_it_foretells(
    name: str, results: dict[str, list[Result]]
) -> None:
    (result,) = results[name]
    assert (result["verdict"], result["reasons"]) == (result["foretold"], [])
    asked = {claim["name"]: claim["asked"] for claim in result["claims"]}
    assert asked["no_loss"] >= 100


@pytest.mark.parametrize("name", SOUND)
def test_a_node_that_keeps_its_promises_fails_under_no_seed(
    name: str, results: dict[str, list[Result]]
) -> None:
    assert frozenset().union(*map(violated, results[name])) == frozenset()


@pytest.mark.parametrize("defect", DEFECTS, ids=name_of)
def test_a_node_that_breaks_one_is_found(defect: Defect, results: dict[str, list[Result]]) -> None:
    found = list(map(violated, results[name_of(defect)]))
    if defect.sometimes:
        assert defect.violates & frozenset.union(*found)
    else:
        assert defect.violates <= frozenset.intersection(*found)
