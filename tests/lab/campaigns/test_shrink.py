"""A failing scenario is made as small as the failure allows, and no smaller."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from lab.campaigns.shrink.draft import STAGES, Draft, fewer_faults, fewer_servers
from lab.campaigns.shrink.shrink import Shrink, checked_draft, draft_of, scenario_text, way_of
from lab.campaigns.shrink.trial import Trial, Trials
from lab.plan.faults import Kill
from lab.plan.plan import Plan
from lab.program.errors import ScenarioError
from lab.validation.validate import check

pytestmark = pytest.mark.slow

SCENARIO = """\
version: 1
scenario: big
summary: Much goes wrong.
topology: two-site-dag
workload:
  - {mail: inbound, at: 1m, for: 20m, rate: 8/m, via: par-mbx1}
  - {mail: inbound, at: 1m, for: 40m, rate: 4/m}
faults:
  - {at: 5m, for: 10m, kill: lyo-mbx3}
  - {at: 8m, for: 16m, kill: par-mbx1, returns_with: new-queue-database}
  - {at: 9m, for: 4m, cut: {from: par-mbx2, to: lyo-mbx2, kind: stall}}
  - {at: 30m, for: 2m, pause: par-mbx3}
settle: 3h
"""


class FakeTrials:
    """Judges by a predicate on the plan instead of simulating."""

    def __init__(self, fails: Callable[[Plan], bool]) -> None:
        self.fails = fails
        self.tried = 0

    def failures(self, trials: Sequence[Trial]) -> list[frozenset[str]]:
        self.tried += len(trials)
        return [
            frozenset({"no_loss"} if self.fails(trial.plan()) else {"no_phantom"})
            for trial in trials
        ]


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "plan.json").write_text("{}")
    return draft_of(folder, 1)


def shrunk(draft: Draft, fails: Callable[[Plan], bool]) -> Plan:
    trials = FakeTrials(fails)
    found = Shrink(cast(Trials, trials), "small", "no_loss", 1, lambda line: None).run(draft)
    scenario = checked_draft(found.draft, "small")
    assert scenario is not None
    return Trial(scenario, found.seed).plan()


def loses_database(plan: Plan) -> bool:
    """As if par-mbx1 lost mail with its queue database, if it had any, and two servers watched."""
    kills = [f for f in plan.faults if isinstance(f, Kill) and f.server == "par-mbx1"]
    lost = [f for f in kills if f.returns_with == "new-queue-database"]
    mail = [m for m in plan.messages if "par-mbx1" in m.via]
    return bool(lost) and len(mail) >= 3 and len(plan.topology.servers) >= 3


def test_only_what_the_failure_needs_is_left(draft: Draft) -> None:
    plan = shrunk(draft, loses_database)
    assert [(fault.kind, fault.end_ms - fault.start_ms) for fault in plan.faults] == [
        ("kill", 60_000)
    ]
    assert len(plan.topology.servers) == 3
    assert 3 <= len(plan.messages) < 6
    assert plan.settle_ms < 1_200_000


def test_two_faults_that_need_each_other_stay_together(draft: Draft) -> None:
    plan = shrunk(draft, lambda plan: {"cut", "pause"} <= {fault.kind for fault in plan.faults})
    assert sorted(fault.kind for fault in plan.faults) == ["cut", "pause"]


def test_a_failure_that_needs_no_fault_keeps_none(draft: Draft) -> None:
    assert shrunk(draft, lambda plan: True).faults == ()


def test_another_way_to_fail_does_not_count(draft: Draft) -> None:
    with pytest.raises(ScenarioError, match="does not violate no_loss any more"):
        shrunk(draft, lambda plan: False)


def test_a_failure_that_hangs_on_the_seed_is_looked_for_under_others(draft: Draft) -> None:
    """With fewer messages the draws are others; a neighbouring seed may show it again."""
    plan = shrunk(draft, lambda plan: len(plan.messages) > 300 or plan.seed == 3)
    assert plan.seed == 3
    assert len(plan.messages) < 300


@pytest.mark.parametrize("stage", STAGES)
def test_every_reduction_is_smaller_and_applies_once_more_or_not_at_all(
    stage: Any, draft: Draft
) -> None:
    for reduction in stage(draft):
        smaller = reduction.apply(draft)
        if smaller is not None:
            assert smaller.size < draft.size or smaller.rest != draft.rest, reduction.what


def test_a_server_goes_with_all_that_hangs_on_it(draft: Draft) -> None:
    without = {each.what: each for each in fewer_servers(draft)}
    smaller = without["without par-mbx2"].apply(draft)
    assert smaller is not None
    assert "par-mbx2" not in smaller.topology["servers"]
    assert "DB1" not in smaller.topology["databases"]
    assert "DB1" not in smaller.topology["mailboxes"]


def test_operations_and_active_manager_go_where_the_failure_needs_neither(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    failover = Path("scenarios/failover/lossy-failover.yaml").read_text("utf-8")
    (folder / "scenario.yaml").write_text(failover)
    (folder / "plan.json").write_text("{}")
    whole = draft_of(folder, 1)
    kept = shrunk(whole, lambda plan: bool(plan.operations))
    assert [operation.kind for operation in kept.operations] == ["failover"]
    assert [server.role for server in kept.topology.servers].count("active_manager") == 1
    least = shrunk(whole, lambda plan: len(plan.messages) >= 3)
    assert least.operations == ()
    assert "active_manager" not in [server.role for server in least.topology.servers]


def test_strangers_go_where_the_failure_needs_none(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    called = Path("scenarios/mail/strangers-call.yaml").read_text("utf-8")
    (folder / "scenario.yaml").write_text(called)
    (folder / "plan.json").write_text("{}")
    whole = draft_of(folder, 1)
    assert shrunk(whole, lambda plan: len(plan.strangers) > 2).strangers
    assert shrunk(whole, lambda plan: len(plan.messages) > 2).strangers == ()


def test_a_draft_that_is_no_scenario_any_more_is_never_tried(draft: Draft) -> None:
    """The killed server cannot be left out while its fault is there."""
    without = {each.what: each for each in fewer_servers(draft)}
    smaller = without["without lyo-mbx3"].apply(draft)
    assert smaller is not None
    assert checked_draft(smaller, "small") is None
    only = {each.what: each for each in fewer_faults(smaller)}
    left = only["only fault 2"].apply(smaller)
    assert left is not None
    assert checked_draft(left, "small") is not None


def test_what_is_written_is_a_scenario_of_the_same_parts(draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(scenario_text(draft.document("small")))
    assert check([path]).mistakes == ()
    written, original = YAML(typ="safe").load(path), YAML(typ="safe").load(SCENARIO)
    assert written["faults"] == original["faults"]
    assert written["workload"] == original["workload"]
    assert written["settle"] == original["settle"]


def test_the_way_is_the_claim_that_is_violated_first(tmp_path: Path) -> None:
    claims = [
        {"name": "no_loss", "status": "holds"},
        {"name": "shadow_placement", "status": "violated"},
        {"name": "drains_after_heal", "status": "violated"},
    ]
    (tmp_path / "host.json").write_text(json.dumps({"server_exit_codes": {"a": 0, "b": 70}}))
    (tmp_path / "verdict.json").write_text(json.dumps({"claims": claims}))
    assert way_of(tmp_path) == "shadow_placement"
    (tmp_path / "verdict.json").write_text(json.dumps({"claims": claims[:1]}))
    assert way_of(tmp_path) == "crash"
    (tmp_path / "host.json").write_text(json.dumps({"server_exit_codes": {"a": 0, "b": 137}}))
    with pytest.raises(ScenarioError, match="does not fail"):
        way_of(tmp_path)
