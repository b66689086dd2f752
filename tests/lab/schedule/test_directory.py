"""A changed group on a running lab: every mailbox server is given what the directory has."""

from dataclasses import replace

from lab.plan.operations import ChangeGroup
from lab.plan.topology import Group
from lab.schedule.directory import DirectoryChange
from tests.lab.faults.fake_target import FakeGround
from tests.lab.faults.test_faults import lab_of
from tests.lab.plan.small_plan import small_plan

CHANGE = ChangeGroup("o1", "change_group", 1000, "staff", ("x@y.example",), ("z@y.example",))


def ground_with_a_group() -> FakeGround:
    plan = small_plan()
    group = Group("staff", "staff@y.example", ("z@y.example",))
    topology = replace(plan.topology, groups=(group,))
    return FakeGround(replace(plan, topology=topology, operations=(CHANGE,)))


def test_a_change_took_effect_when_every_server_that_runs_goes_by_it() -> None:
    ground = ground_with_a_group()
    change = DirectoryChange(CHANGE, lab_of(ground))
    assert change.intent() == {
        "kind": "change_group", "group": "staff", "add": ("x@y.example",),
        "remove": ("z@y.example",),
    }  # fmt: skip
    assert change.start() == {"asked": ["a", "b"]}
    assert change.evidence().took_effect is True
    assert [each for each in ground.deeds if each.startswith("directory")] == [
        "directory of a: staff has x@y.example",
        "directory of b: staff has x@y.example",
    ]


def test_nobody_waits_for_a_server_that_is_down_or_paused() -> None:
    ground = ground_with_a_group()
    ground.down.add("a")
    ground.paused.add("b")
    ground.reads = False
    change = DirectoryChange(CHANGE, lab_of(ground))
    change.start()
    assert change.evidence().took_effect is True


def test_whether_a_server_that_runs_has_read_it_nobody_knows_until_it_says_so() -> None:
    ground = ground_with_a_group()
    ground.reads = False
    lab = lab_of(ground)
    lab.ending.set()
    change = DirectoryChange(CHANGE, lab)
    change.start()
    seen = change.evidence()
    assert (seen.took_effect, seen.reason) == (None, "a, b did not say that it has read the change")
