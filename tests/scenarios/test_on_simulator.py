"""Every scenario in the simulator reaches the verdict that its file foretells; a node built to
break a promise is found within a few seeds, by the claim that is about it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.simulator.server import Process
from lab.plan import default_seed
from lab.run_outcome import RunOptions
from lab.scenario_files import load_scenario
from lab.shrink_trial import Trial, Trials
from lab.simulated_run import run_simulated
from lab.validate import check
from nodes.core import receiving, routing
from nodes.core.categorizer import forks_of
from nodes.core.delivery import Delivery
from nodes.core.discards import Discards
from nodes.core.effects import DeliverTo
from nodes.core.failing_over import MARGIN_MS, FailingOver
from nodes.core.inputs import PeerAuthenticated
from nodes.core.message import DiscardNotification
from nodes.core.node import Node
from nodes.core.outbound_session import Lease
from nodes.core.redundancy import Redundancy
from nodes.core.resubmitting import Resubmitting
from nodes.core.shadow_queue import ShadowQueue
from tests.broken_nodes import acknowledges_before_the_shadow_stands
from tests.lab.simulator.greylisting import greylist, to_three_outside
from tests.lab.simulator.plans import SCENARIOS, plan, scenario
from tests.lab.simulator.test_same_bytes import Unjudged

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
SEEDS = range(12)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All of them simulated, and judged together."""
    root = tmp_path_factory.mktemp("simulated")
    folders = {name: simulated(name, root) for name in SCENARIOS}
    command = [sys.executable, "-m", "spark_eval", *map(str, folders.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    return {n: json.loads((f / "verdict.json").read_text()) for n, f in folders.items()}


def simulated(name: str, root: Path) -> Path:
    options = RunOptions(runs=root)
    seed = default_seed(name)
    return run_simulated(plan(name, seed), options, Unjudged, lambda line: None).folder


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_reaches_the_verdict_that_it_foretells(
    name: str, verdicts: dict[str, Any]
) -> None:
    verdict = verdicts[name]
    assert (verdict["verdict"], verdict["reasons"]) == (verdict["foretold"], [])
    assert verdict["host"] == "simulator"
    assert verdict["delivery"]["expected"] >= 100
    foretold, _ = load_scenario(name)
    assert foretold is not None
    if foretold.scenario.expect.unprotected_loss is None:
        assert verdict["delivery"]["lost"] == 0


def test_a_sweep_judges_every_seed_and_the_same_command_goes_on_where_it_ended(
    tmp_path: Path,
) -> None:
    first = sweep(tmp_path)
    (folder,) = (tmp_path / "runs" / "one-server-at-a-time" / "sweeps").iterdir()
    content = json.loads((folder / "verdict.json").read_text())
    assert first.returncode == 0, first.stdout + first.stderr
    assert "4 pass" in first.stdout
    (folder / "results" / "batch=00001.jsonl").unlink()
    again = sweep(tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads((folder / "verdict.json").read_text()) == content


def sweep(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab.cli", "sweep", "one-server-at-a-time"]
    command += ["--seeds", "4", "--per-batch", "2"]
    here = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=here, capture_output=True, text=True, check=False
    )


# ------------------------------------------------------------------ broken nodes


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    """Simulated in this process, so that a node can be broken in it."""
    folder = tmp_path_factory.mktemp("trials")
    with Trials(folder, "local[2]", ThreadPoolExecutor(1)) as trials:
        yield trials


@pytest.fixture(autouse=True)
def a_node_that_crashes_is_none_that_breaks_a_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(self: Process, error: Exception) -> None:
        raise error

    monkeypatch.setattr(Process, "_crash", crash)


def failures(trials: Trials, name: str, seeds: range = SEEDS) -> set[str]:
    found = trials.failures([Trial(scenario(name), seed) for seed in seeds])
    return {way for each in found for way in each}


@pytest.mark.parametrize("name", ["one-server-at-a-time", "around-the-span"])
def test_a_node_that_keeps_its_promises_fails_under_no_seed(name: str, trials: Trials) -> None:
    assert failures(trials, name) == set()


def test_a_server_outside_that_puts_off_some_recipients_makes_no_promise_broken(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    greylist(monkeypatch)
    checked = to_three_outside("one-server-at-a-time")
    found = trials.failures([Trial(checked, seed) for seed in SEEDS])
    assert frozenset().union(*found) == frozenset()


def test_forgetting_who_was_put_off_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Delivery._answered

    def as_if_nobody_were(self: Any, tracked: Any, fork: Any, result: Any) -> None:
        answered(self, tracked, fork, replace(result, deferred=()))

    greylist(monkeypatch)
    monkeypatch.setattr(Delivery, "_answered", as_if_nobody_were)
    checked = to_three_outside("one-server-at-a-time")
    assert "no_loss" in trials.failures([Trial(checked, 1)])[0]


def test_acknowledging_before_the_shadow_stands_is_found(trials: Trials) -> None:
    with acknowledges_before_the_shadow_stands():
        assert "redundant_before_ack" in failures(trials, "one-server-at-a-time")


def test_forgetting_discard_notifications_at_a_restart_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Discards, "opened", lambda self, *rows: None)
    found = failures(trials, "one-server-at-a-time", range(12, 24))  # two of these draw it
    assert "discard_after_delivery" in found


def test_ignoring_a_new_database_id_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShadowQueue, "_promote_other_databases", lambda self: None)
    found = failures(trials, "one-server-at-a-time")
    assert {"no_loss", "promotion_on_time"} & found


def test_half_the_span_is_found(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ShadowQueue.__init__

    def halved(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self._span_ms //= 2

    monkeypatch.setattr(ShadowQueue, "__init__", halved)
    assert "no_early_promotion" in failures(trials, "around-the-span")


# A scenario that is made for one promise finds the node that breaks it under every seed.


def always(trials: Trials, name: str) -> frozenset[str]:
    found = trials.failures([Trial(scenario(name), seed) for seed in range(4)])
    return frozenset.intersection(*found)


def test_promoting_without_asking_first_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_over_at_once(self: Any) -> None:
        self._span = None
        if self.held and self._work.now_ms >= self._span_over_ms():
            self._take_over(tuple(self.held.values()), "resubmit-time-span")
        elif self.held:
            self._set_span()

    monkeypatch.setattr(ShadowQueue, "_span_is_over", take_over_at_once)
    assert "no_early_promotion" in always(trials, "paused-shadow-server")


def test_keeping_the_last_contact_in_memory_only_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShadowQueue, "opened", lambda self, contact: None)
    assert "no_early_promotion" in always(trials, "paused-shadow-server")


def test_counting_a_session_of_the_primary_as_contact_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = Node.handle

    def contact_too(self: Any, happened: Any, now_ms: int) -> Any:
        effects = handle(self, happened, now_ms)
        caller = happened.peer if isinstance(happened, PeerAuthenticated) else None
        queue = self._shadow._queues.get(caller)
        if queue is not None:
            queue._contact = replace(queue._contact, last_contact_ms=now_ms)
        return effects

    monkeypatch.setattr(Node, "handle", contact_too)
    assert "promotion_on_time" in always(trials, "one-way-heartbeat")


def test_telling_the_discard_after_the_first_fork_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Delivery._answered

    def tells(self: Any, tracked: Any, fork: Any, result: Any) -> None:
        answered(self, tracked, fork, result)
        told = (tracked.message.shadow_server, self._identity.next_sequence())
        if told[0] is not None:
            done = (tracked.message.internal_id, self._work.now_ms)
            self._discards.add(DiscardNotification(*told, *done))

    monkeypatch.setattr(Delivery, "_answered", tells)
    assert {"no_loss", "discard_after_delivery"} <= always(trials, "half-done-fork")


def test_dropping_notifications_when_they_are_answered_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Discards.answer

    def answer_and_drop(self: Any, asked: Any) -> None:
        answer(self, asked)
        self._by_server.pop(asked.asking_server, None)

    monkeypatch.setattr(Discards, "answer", answer_and_drop)
    assert "discard_after_delivery" in always(trials, "discard-answer-lost")


# Two servers promote after 23 min and try to make new shadows in Paris, which is silent.
KILLED_WHILE_TRYING = """
  - {at: 21m, for: 9m, cut: {from: site lyon, to: [par-mbx2, par-mbx3], kind: stall}}
  - {at: 25m, for: 1m, kill: [lyo-mbx1, lyo-mbx3], returns_with: same-queue-database}
"""


def rewritten(name: str, folder: Path, **replaced: str) -> list[Trial]:
    """A scenario with some of its words replaced, under a few seeds."""
    text = scenario(name).text
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.yaml"
    path.write_text(text)
    (checked,) = check([path]).scenarios
    return [Trial(checked, seed) for seed in range(4)]


def killed_while_trying(folder: Path) -> list[Trial]:
    settle = f"{KILLED_WHILE_TRYING}\nsettle"
    return rewritten("primary-returns-after-promotion", folder, settle=settle)


def test_killed_before_the_new_shadow_stands_it_is_tried_again(
    trials: Trials, tmp_path: Path
) -> None:
    assert set().union(*trials.failures(killed_while_trying(tmp_path))) == set()


def test_delivering_what_was_promoted_before_a_kill_without_a_new_shadow_is_found(
    trials: Trials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Redundancy, "_was_being_sent_anew", lambda self, message: False)
    found = trials.failures(killed_while_trying(tmp_path))
    assert "shadow_placement" in frozenset.intersection(*found)


def with_demand(monkeypatch: pytest.MonkeyPatch, **wrong: Any) -> None:
    """Safety Nets that work on another demand than they were asked for."""
    begin = Resubmitting.__init__

    def init(self: Any, request: Any, *more: Any) -> None:
        demand = request.demand
        changed = {name: value(demand) for name, value in wrong.items()}
        begin(self, replace(request, demand=replace(demand, **changed)), *more)

    monkeypatch.setattr(Resubmitting, "__init__", init)


def test_resubmitting_for_the_wrong_database_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_demand(monkeypatch, destination=lambda demand: "DB2")
    found = always(trials, "lossy-failover")
    assert {"resubmission_complete", "resubmission_bounded"} <= found


def test_leaving_out_the_last_minute_of_the_interval_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_demand(monkeypatch, end_ms=lambda demand: demand.end_ms - 60_000)
    assert "resubmission_complete" in always(trials, "active-manager-cut-off")


def test_sending_dsns_for_resubmitted_mail_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = Resubmitting._message

    def forgets_where_it_came_from(self: Any, *arguments: Any) -> Any:
        return replace(message(self, *arguments), resubmit_request=None)

    monkeypatch.setattr(Resubmitting, "_message", forgets_where_it_came_from)
    assert "dsn_suppressed" in always(trials, "resubmitted-mail-expires")


# ------------------------------------------------------------------ across boundaries

CROSSING = "across-boundaries"


def test_putting_mail_straight_into_a_mailbox_of_another_boundary_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "hop_into", lambda config, database: f"database:{database}")
    monkeypatch.setattr(receiving, "is_inside", lambda config, name: name is not None)
    assert "redundant_before_ack" in always(trials, CROSSING)


def test_taking_two_hops_inside_a_boundary_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    transmit = Lease.transmit

    def as_from_outside(self: Any, prologue: Any, *more: Any) -> None:
        transmit(self, None if isinstance(prologue, DeliverTo) else prologue, *more)

    monkeypatch.setattr(Lease, "transmit", as_from_outside)
    assert "redundant_before_ack" in always(trials, CROSSING)


def test_resubmitting_what_left_the_boundary_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = Resubmitting._message

    def to_whoever_had_it(self: Any, copy: Any, recipients: Any) -> Any:
        forks = forks_of(self._config, recipients)
        return replace(message(self, copy, recipients), forks=forks)

    monkeypatch.setattr(Resubmitting, "_recipients", lambda self, copy: copy.recipients)
    monkeypatch.setattr(Resubmitting, "_message", to_whoever_had_it)
    assert "resubmission_bounded" in always(trials, CROSSING)


def test_resubmitting_after_a_lossless_switchover_is_found(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_if_it_lacked_something(self: Any, failover: Any, managed: Any, answer: Any) -> int:
        return max(int(answer.last_log_ms) - MARGIN_MS, int(managed.created_ms))

    monkeypatch.setattr(FailingOver, "_start_ms", as_if_it_lacked_something)
    assert "resubmission_bounded" in always(trials, "lossless-switchover")
