"""Changed groups and mailboxes that move on a running lab: every mailbox server is given what the
directory has.
"""

from dataclasses import replace
from typing import Literal

import pytest

from lab.plan.operations import ChangeGroup, MoveMailbox, SetComponentState, SetReceiveConnector
from lab.plan.topology import Database, DatabaseCopy, Group
from lab.schedule.directory import GroupChange, MailboxMove, ServerChange
from tests.lab.faults.fake_target import FakeGround
from tests.lab.faults.test_faults import lab_of
from tests.lab.plan.small_plan import small_plan

CHANGE = ChangeGroup("o1", "change_group", 1000, "staff", ("x@y.example",), ("z@y.example",))


def ground_with_a_group() -> FakeGround:
    plan = small_plan()
    group = Group("staff", "staff@y.example", ("z@y.example",))
    topology = replace(plan.topology, groups=(group,))
    return FakeGround(replace(plan, topology=topology, operations=(CHANGE,)))


def changing(ground: FakeGround, *, is_ending: bool = False) -> GroupChange:
    lab = lab_of(ground)
    if is_ending:
        lab.ending.set()
    return GroupChange(CHANGE, lab)


def test_a_change_took_effect_when_every_server_that_runs_goes_by_it() -> None:
    ground = ground_with_a_group()
    change = changing(ground)
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
    change = changing(ground)
    change.start()
    assert change.evidence().took_effect is True


def test_whether_a_server_that_runs_has_read_it_nobody_knows_until_it_says_so() -> None:
    ground = ground_with_a_group()
    ground.reads = False
    change = changing(ground, is_ending=True)
    change.start()
    seen = change.evidence()
    assert (seen.took_effect, seen.reason) == (None, "a, b did not say that it has read the change")


WHO = "db1-user01@shadowlab.example"
MOVE = MoveMailbox("o1", "move_mailbox", 0, WHO, "DB2")
THERE = "250 2.6.0 Mailbox is in the mailbox database"
NOT_HERE = "432 4.2.0 STOREDRIVER; mailbox database is not active on this server"
NOT_NOW = "451 4.3.0 Mailbox could not be moved"


def ground_with_two_databases(**says: str) -> FakeGround:
    """DB1 on b and a, DB2 on a."""
    plan = small_plan()
    one = Database("DB1", (DatabaseCopy("b", 1, 0), DatabaseCopy("a", 2, 0)))
    two = Database("DB2", (DatabaseCopy("a", 1, 0),))
    topology = replace(plan.topology, databases=(one, two))
    return FakeGround(replace(plan, topology=topology, operations=(MOVE,)), says=says)


def moving(ground: FakeGround, *, is_ending: bool = False) -> MailboxMove:
    lab = lab_of(ground)
    if is_ending:
        lab.ending.set()
    return MailboxMove(MOVE, lab)


def of_the_directory(ground: FakeGround, server: str) -> list[str]:
    head = f"directory of {server}: {WHO} "
    return [each.removeprefix(head) for each in ground.deeds if each.startswith(head)]


def test_a_mailbox_is_on_its_way_until_the_server_that_it_leaves_says_that_it_is_there() -> None:
    ground = ground_with_two_databases(b=THERE, a=NOT_HERE)
    move = moving(ground)
    assert move.start() == {"asked": ["b", "a"]}
    assert move.evidence().took_effect is True
    assert of_the_directory(ground, "a") == ["in DB1, on its way to DB2", "in DB2"]
    assert f"ask b: XMOVE {WHO} DB2" in ground.deeds


@pytest.mark.parametrize("said", [THERE, NOT_NOW])
def test_of_two_servers_that_take_their_copy_for_the_active_one_neither_moves_it(
    said: str,
) -> None:
    ground = ground_with_two_databases(b=THERE, a=said)
    move = moving(ground, is_ending=True)
    move.start()
    assert [move.is_over() for _ in range(2)] == [False, False]
    seen = move.evidence()
    assert (seen.took_effect, seen.reason) == (False, f"b: {THERE}; a: {said}")
    assert of_the_directory(ground, "a") == ["in DB1, on its way to DB2", "in DB1"]


def test_a_server_of_another_copy_that_is_down_has_nothing_to_say() -> None:
    ground = ground_with_two_databases(b=THERE)
    ground.down.add("a")
    move = moving(ground)
    move.start()
    assert move.evidence().took_effect is True


def test_nobody_is_asked_for_a_mailbox_while_a_server_does_not_know_that_it_is_on_its_way() -> None:
    ground = ground_with_two_databases(b=THERE, a=NOT_HERE)
    ground.reads = False
    move = moving(ground, is_ending=True)
    move.start()
    assert move.evidence().took_effect is None
    assert not [each for each in ground.deeds if each.startswith("ask")]
    assert of_the_directory(ground, "b")[-1] == "in DB1"


def test_it_is_tried_again_until_it_succeeds() -> None:
    ground = ground_with_two_databases(b=NOT_NOW, a=NOT_HERE)
    move = moving(ground)
    move.start()
    assert [move.is_over() for _ in range(2)] == [False, False]
    ground.says["b"] = THERE
    assert move.evidence().took_effect is True
    assert len([each for each in ground.deeds if each.startswith("ask b")]) == 2


def test_a_server_is_inactive_until_it_is_set_active_and_keeps_what_else_there_is() -> None:
    ground = ground_with_a_group()
    lab = lab_of(ground)
    for server, state, inactive in (
        ("a", "Inactive", ("a",)),
        ("b", "Inactive", ("a", "b")),
        ("a", "Inactive", ("b", "a")),
        ("a", "Active", ("b",)),
    ):
        planned = SetComponentState("o1", "set_component_state", 1000, server, state)  # type: ignore[arg-type]
        change = ServerChange(planned, lab)
        assert change.start() == {"asked": [server]}
        assert change.evidence().took_effect is True
        assert lab.directory.now is not None
        assert lab.directory.now.inactive == inactive
        assert lab.directory.now.groups == lab.plan.topology.groups


def test_a_receive_connector_authenticates_no_server_until_it_does_again() -> None:
    ground = ground_with_a_group()
    lab = lab_of(ground)
    mechanisms: tuple[Literal["Tls", "ExchangeServer"], ...] = ("Tls", "ExchangeServer")
    for mechanism, denying in zip(mechanisms, (("a",), ()), strict=True):
        planned = SetReceiveConnector("o1", "set_receive_connector", 1000, "a", mechanism)
        change = ServerChange(planned, lab)
        assert change.start() == {"asked": ["a"]}
        assert lab.directory.now is not None
        assert lab.directory.now.not_authenticating == denying
        assert lab.directory.now.inactive == ()
