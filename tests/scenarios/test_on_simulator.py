"""Every scenario reaches the verdict that its file foretells; a node built to break a promise is
found under every seed chosen for it, by the claim that is about it; one that keeps its promises
fails under no seed.

A scenario that is made for one promise finds the node that breaks it under every seed: two here,
and five of the catalogue's every night (`make prove`). All of them are simulated in this process,
and judged in one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.search import Search
from lab.campaigns.shrink.trial import Trial
from lab.campaigns.sweep.task import Run
from lab.hosts.simulator.process import Process
from lab.planning.resolve import default_seed
from lab.validation.validate import check
from tests import broken_nodes as broken
from tests.lab.hosts.simulator.greylisting import greylist, to_three_outside
from tests.lab.hosts.simulator.plans import SCENARIOS, scenario
from tests.lab.hosts.simulator.plans import plan as scenario_plan
from tests.scenarios.batch import Batch, Result, run_of, violated

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

RANDOM, SMALL = "one-server-at-a-time", "one-message-in"
SEEDS = range(12)
FEW = range(2)
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


def changed(folder: Path, name: str, settle: str) -> list[Trial]:
    """A scenario with that instead of the first `settle` in it."""
    before, found, after = scenario(name).text.partition("settle")
    assert found
    path = folder / f"{name}.yaml"
    path.write_text(f"{before}{settle}{after}")
    (checked,) = check([path]).scenarios
    return [Trial(checked, seed) for seed in FEW]


def killed_while_trying(folder: Path) -> list[Trial]:
    """A scenario with two more faults."""
    return changed(folder, "primary-returns-after-promotion", KILLED_WHILE_TRYING)


def going_on(name: str) -> Asked:
    """A scenario that settles for hours, in which what is an hour late arrives."""
    return lambda folder: changed(folder, name, "settle: 3h\n# ")


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
    "settings drawn": (nullcontext, of("drawn-settings", SEEDS)),
    "a server outside puts off some recipients": (greylisted, to_three(SEEDS)),
    "killed before the new shadow stands": (nullcontext, killed_while_trying),
}


@dataclass(frozen=True, slots=True)
class Defect:
    """`violates` are all violated under every one of the seeds."""

    node: broken.Broken
    asked: Asked
    violates: frozenset[str]


def always(node: broken.Broken, asked: str | Asked, *violates: str) -> Defect:
    trials = of(asked) if isinstance(asked, str) else asked
    return Defect(node, trials, frozenset(violates))


CROSSING, EXPIRING = "across-boundaries", "outbound-mail-expires"
LATE, BESIDE = "delivered_in_time", "one_active_copy"
DEFECTS = (
    always(broken.throws_away_one_in_ten, "calm", "no_loss"),
    always(broken.tells_nobody, EXPIRING, "no_loss", "dsn_sent"),
    always(broken.tells_senders_twice, EXPIRING, "dsn_sent"),
    always(broken.waits_for_no_dsn, EXPIRING, "discard_after_delivery"),
    always(broken.flips_a_bit_of_every_fiftieth_body, "calm", "content_intact"),
    always(
        broken.promotes_without_the_body, "primary-loses-its-queue-database", "content_intact"
    ),
    always(
        broken.exchanges_the_texts_of_what_is_stored_together, "lossy-failover", "content_intact"
    ),
    always(forgets_who_was_put_off, to_three([1]), "no_loss"),
    always(broken.delivers_everything_five_minutes_late, "calm", LATE),
    always(broken.delivers_one_in_fifty_an_hour_late, going_on("calm"), LATE),
    always(broken.delivers_to_the_second_recipient_late, "calm", LATE),
    always(broken.delivers_late_after_a_restart, going_on("primary-returns-in-time"), LATE),
    always(broken.waits_an_hour_for_every_retry, going_on("site-cut"), LATE),
    always(broken.mounts_the_second_copy_beside_the_first, "lossless-switchover", BESIDE),
    always(broken.takes_mail_into_a_copy_that_was_dismounted, "lossless-switchover", BESIDE),
    always(broken.hears_of_no_other_copy_by_its_logs, "active-manager-cut-off", BESIDE),
    always(broken.acknowledges_before_the_shadow_stands, of(RANDOM), "redundant_before_ack"),
    # seeds that draw what it takes to notice the next three
    always(
        broken.forgets_discard_notifications_at_a_restart,
        of(RANDOM, [14, 21]), "discard_after_delivery",
    ),
    always(broken.ignores_a_new_database, of(RANDOM, [2, 5, 11]), "promotion_on_time"),
    always(broken.waits_half_as_long, of("around-the-span", [0, 1, 4]), "no_early_promotion"),
    always(broken.promotes_without_asking_first, "paused-shadow-server", "no_early_promotion"),
    always(
        broken.keeps_the_last_contact_in_memory_only, "paused-shadow-server", "no_early_promotion"
    ),
    always(
        broken.counts_a_session_of_the_primary_as_contact, "one-way-heartbeat", "promotion_on_time"
    ),
    always(
        broken.waits_two_heartbeats_longer, "primary-returns-after-promotion", "promotion_on_time"
    ),
    always(
        broken.heeds_the_third_answer_of_a_new_database,
        "primary-loses-its-queue-database", "promotion_on_time",
    ),
    always(broken.asks_in_heartbeats_only, "calm", "discard_after_delivery"),
    always(broken.tells_everybody_everything, "calm", "discard_after_delivery"),
    always(broken.logs_no_failed_heartbeat, "clocks-wrong", "discard_after_delivery"),
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


def single_faults(*kinds: str) -> Iterator[Run]:
    """Every single one of `one-message-in`; where kinds are named, every one of these."""
    search = Search(scenario_plan(SMALL, default_seed(SMALL)), Pairs.none)
    chosen = (each for each in search.singles if not kinds or each.kind in kinds)
    return (search.run([strike]) for strike in chosen)


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
                batch.simulate(name, map(run_of, asked(drafts)))
        batch.simulate("every single fault", single_faults())
        with broken.acknowledges_before_the_shadow_stands():
            batch.simulate("every lost disk of a hasty node", single_faults("disk-lost"))
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
    messages = scenario_plan(name, default_seed(name)).messages
    assert asked["no_loss"] >= min(100, sum(len(each.recipients) for each in messages))


@pytest.mark.parametrize("name", SOUND)
def test_a_node_that_keeps_its_promises_fails_under_no_seed(
    name: str, results: dict[str, list[Result]]
) -> None:
    assert frozenset().union(*map(violated, results[name])) == frozenset()


@pytest.mark.parametrize("defect", DEFECTS, ids=name_of)
def test_a_node_that_breaks_one_is_found(defect: Defect, results: dict[str, list[Result]]) -> None:
    found = list(map(violated, results[name_of(defect)]))
    assert defect.violates <= frozenset.intersection(*found)


def test_no_single_fault_takes_anything_from_a_node_that_keeps_its_promises(
    results: dict[str, list[Result]],
) -> None:
    found = results["every single fault"]
    assert {each["verdict"] for each in found} == {"pass"}
    assert len(found) > 100


def test_a_promise_that_hangs_on_one_moment_is_found_broken_by_a_fault_at_that_moment(
    results: dict[str, list[Result]],
) -> None:
    """Nothing is lost unless the server's disk goes between its 250 and the shadow."""
    lost = [
        each for each in results["every lost disk of a hasty node"] if "no_loss" in violated(each)
    ]
    assert 0 < len(lost) < 20
    assert {each["foretold"] for each in lost} == {"pass"}
