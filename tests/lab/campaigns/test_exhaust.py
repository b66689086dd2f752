"""An exhaustive search tries every fault once, goes on where it ended, and says what it saw."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lab.campaigns.batches
import lab.campaigns.exhaust.exhaust
from lab.campaigns.exhaust.exhaust import Exhaust, exhaust_folder
from lab.campaigns.exhaust.pairs import Pairs
from lab.campaigns.exhaust.search import Search, Slice, StrikeTask, name_of
from lab.campaigns.exhaust.strikes import strikes_at, struck
from lab.campaigns.run import Keeping, always
from lab.campaigns.task import Done, Task, carry_out
from lab.hosts.simulator.events import Event
from lab.plan.topology import LinkName
from lab.program.errors import ScenarioError
from tests.lab.hosts.simulator.plans import plan

PLAN = plan("one-message-in", 1)
SINGLES = Search(PLAN, Pairs.none)
Verdicts = Callable[[str], str]
CODES = {"pass": 0, "fail": 1, "unknown": 2}


def names_of(tasks: Sequence[Task]) -> list[str]:
    return [run.name for task in tasks for run in task.runs()]


def done(names: Sequence[str], verdicts: Verdicts = lambda run: "pass") -> list[Done]:
    return [Done(tuple(row(run, verdicts(run)) for run in names), 0.1)]


def row(run: str, verdict: str) -> dict[str, Any]:
    about = {"run": run, "seed": 1, "reasons": ["why"]}
    return {**about, "verdict": verdict, "exit_code": CODES[verdict]}


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of all runs that tasks had, in order; none of them is really simulated."""
    names: list[str] = []

    def run_tasks(master: str, tasks: Sequence[Task]) -> list[Done]:
        some = names_of(tasks)
        names.extend(some)
        return done(some)

    monkeypatch.setattr(lab.campaigns.batches, "run_tasks", run_tasks)
    return names


def tasks_end(
    monkeypatch: pytest.MonkeyPatch, ending: Callable[[Sequence[str]], list[Done]]
) -> None:
    def run_tasks(master: str, tasks: Sequence[Task]) -> list[Done]:
        return ending(names_of(tasks))

    monkeypatch.setattr(lab.campaigns.batches, "run_tasks", run_tasks)


def exhaust(folder: Path, search: Search = SINGLES, per_batch: int = 50) -> int:
    def replay(run: str) -> str:
        return f"again {run}"

    return Exhaust(search, folder, "local[1]", per_batch, replay, lambda line: None).run()


def test_every_single_fault_is_tried_once(
    simulated: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exhaust(tmp_path) == 0
    assert simulated == [each.name for each in SINGLES.singles]
    count = len(simulated)
    told = f"all {count} single faults: nothing lost, no promise broken"
    assert capsys.readouterr().out.splitlines()[0] == told
    assert json.loads((tmp_path / "exhaust.json").read_text())["said"] == told


def test_pairs_come_after_the_single_faults_each_once(
    simulated: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    search = Search(PLAN, Pairs.relevant)
    assert exhaust(tmp_path, search, 2000) == 0
    singles = search.singles
    pairs = [name_of((one, two)) for one in singles for two in search.seconds(one)]
    assert simulated == [each.name for each in singles] + pairs
    assert f"and all {len(pairs):,} relevant pairs" in capsys.readouterr().out


def test_the_same_command_goes_on_where_it_ended(simulated: list[str], tmp_path: Path) -> None:
    exhaust(tmp_path)
    (tmp_path / "results" / "batch=000001.jsonl").unlink()
    count = len(simulated)
    simulated.clear()
    assert exhaust(tmp_path) == 0
    assert simulated == [each.name for each in SINGLES.singles][50:100]
    assert count > 100


@pytest.mark.parametrize("verdict", ["fail", "unknown"])
def test_what_does_not_pass_is_told_with_its_command(
    verdict: str,
    simulated: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tasks_end(
        monkeypatch,
        lambda names: done(names, lambda run: verdict if run == "kill@16" else "pass"),
    )
    assert exhaust(tmp_path) == CODES[verdict]
    said = capsys.readouterr().out
    assert f"1 {verdict}" in said.splitlines()[0]
    (strike,) = SINGLES.named("kill@16")
    assert f"  {verdict}: {strike.in_words()}" in said
    assert "again kill@16" in said


def test_a_fault_without_a_result_is_the_labs_own_failure(
    simulated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks_end(monkeypatch, lambda names: done([name for name in names if name != "kill@16"]))
    assert exhaust(tmp_path) == 3


def test_a_crash_of_a_node_fails_the_search(
    simulated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = Done((), 0.1, (("kill@16", "par-mbx1", "AssertionError"),))
    tasks_end(monkeypatch, lambda names: [*done(names), crash])
    assert exhaust(tmp_path) == 1


def test_a_strike_is_judged_where_it_is_simulated_and_may_leave_its_run_folder(
    tmp_path: Path,
) -> None:
    some = StrikeTask(SINGLES, (Slice(None, 3, 5),), Keeping(tmp_path, None, always))
    names = [each.name for each in SINGLES.singles[3:5]]
    found = carry_out(some)
    assert [(each["run"], each["verdict"]) for each in found.results] == [
        (name, "pass") for name in names
    ]
    assert {each.name for each in tmp_path.iterdir()} == set(names)
    assert (tmp_path / names[0] / "faults.jsonl").read_text()


def test_a_relevant_second_fault_meets_what_the_first_has_changed() -> None:
    every, relevant = Search(PLAN, Pairs.all), Search(PLAN, Pairs.relevant)
    usual = {_kind(each) for each in every.usual}
    followed = [first for first in every.singles if any(every.seconds(first))]
    met = set()
    for first in followed[::10]:
        some, later = set(relevant.seconds(first)), set(every.seconds(first))
        assert some < later
        assert all(each.number > first.number for each in later)
        new = {each for each in later if _kind(each.event) not in usual}
        assert new <= some
        met |= new
    assert met


def _kind(event: Event) -> tuple[object, ...]:
    return event.side, event.where, event.what


def test_two_cuts_of_one_link_do_not_overlap() -> None:
    search = Search(PLAN, Pairs.all)
    cut = next(each for each in search.singles if each.kind == "message-lost")
    same = [each for each in search.seconds(cut) if each.event.where == cut.event.where]
    assert all(each.event.at_ms > cut.end_ms for each in same)


def test_faults_are_named_and_found_again() -> None:
    search = Search(PLAN, Pairs.all)
    first = search.singles[3]
    second = search.seconds(first)[40]
    assert search.named(name_of((first, second))) == [first, second]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kil@16", "there is no fault 'kil@16'"),
        ("kill@99999", "there is no fault 'kill@99999'"),
        ("kill@16+kill@5", "there is no fault 'kill@5'"),
        ("", "there is no fault ''"),
    ],
)
def test_a_fault_that_is_not_there_is_refused(name: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        SINGLES.named(name)
    assert said in refused.value.cause
    assert "kill@" in refused.value.hint


def test_a_plan_with_a_fault_expects_and_proves_nothing_of_the_plan_without() -> None:
    (strike,) = SINGLES.named("disk-lost@16")
    changed, begin = struck(PLAN, [strike])
    assert (changed.proves, changed.expect.promotions) == ((), None)
    assert changed.expect.unprotected_loss is None, "no single fault may lose anything"
    assert changed.duration_ms >= strike.end_ms + PLAN.settle_ms
    assert begin == {16: "f1"}
    twice, _ = struck(PLAN, [strike, replace(strike, number=18)])
    assert twice.expect.unprotected_loss == (0, 1), "two may take both copies"


def test_active_manager_has_no_queue_database_to_lose() -> None:
    topology = plan("lossy-failover", 1)
    (manager,) = (each.name for each in topology.topology.servers if each.role == "active_manager")
    at_both = [Event(1, "door", manager, "x"), Event(2, "door", "par-mbx1", "x")]
    assert [each.name for each in strikes_at(topology, at_both)] == [
        "kill@0", "power-loss@0", "kill@1", "power-loss@1", "disk-lost@1",
    ]  # fmt: skip


def test_a_link_loses_what_is_said_in_its_direction() -> None:
    link = LinkName("par-mbx1", "par-mbx2", "smtp")
    both = [Event(1, "forward", link, "x"), Event(2, "backward", link, "x")]
    assert [each.name for each in strikes_at(PLAN, both)] == ["message-lost@0", "reply-lost@1"]


def test_slices_are_cut_by_size() -> None:
    slices = [Slice(None, 0, 3), Slice(0, 0, 4)]
    assert list(lab.campaigns.exhaust.exhaust.cut(slices, 5)) == [
        [Slice(None, 0, 3), Slice(0, 0, 2)],
        [Slice(0, 2, 4)],
    ]


def test_another_seed_or_another_choice_of_pairs_is_another_search(tmp_path: Path) -> None:
    folders = {
        exhaust_folder(tmp_path, search, 50)
        for search in (
            SINGLES,
            Search(PLAN, Pairs.all),
            Search(plan("one-message-in", 2), Pairs.none),
        )
    }
    assert len(folders) == 3
    assert exhaust_folder(tmp_path, SINGLES, 50) in folders
