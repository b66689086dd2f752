"""A node held before its databases write or read: where, what waits with it, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.core.interface.copy_changes import DropLogs, SeedCopy
from nodes.core.interface.effects import (
    ChangeCopy,
    Commit,
    ExpireSafetyNet,
    LogLifecycle,
    ReadSafetyNet,
    SendReply,
)
from nodes.core.interface.inputs import CommitFailed, Committed, SafetyNetRead, SeedAnnounced
from nodes.core.interface.queue_changes import Change, InsertMessage, InsertShadow, PromoteShadow
from nodes.core.interface.replies import R250_SEED_NEXT, R451_COPY_NOT_CHANGED, Reply
from nodes.core.model.resubmit_request import KeptCopy, Position, SafetyNetSource
from nodes.shell.chaos.places import Place
from tests.nodes.next_hops import DB1
from tests.nodes.shell.chaos.test_breakpoints import ENVELOPE, OK, Door, at, offer
from tests.nodes.store.samples import header, primary_message, shadow_message

MESSAGE = primary_message(1)
ACCEPTED, SHADOWED = InsertMessage(MESSAGE, "in:1"), InsertShadow(shadow_message(1), "in:1", 0)
PROMOTED = PromoteShadow(shadow_message(1).key, MESSAGE)
RESUBMITTED = InsertMessage(replace(MESSAGE, resubmit_request="r1"), "db:1")
SEEDED, DROPPED = SeedCopy(2, "in:1"), DropLogs(1)
BEGUN = LogLifecycle("promotion-begun")
START, END = Position(0, -1, -1), Position(5, 1, 0)


def commit(door: Door, number: int, *changes: Change) -> Commit:
    effect = Commit(number, changes)
    door.between.carry_out(effect)
    return effect


def change_copy(door: Door, what: SeedCopy | DropLogs, database: str = "DB1") -> ChangeCopy:
    effect = ChangeCopy(1, database, what)
    door.between.carry_out(effect)
    return effect


def read(door: Door, after: Position) -> ReadSafetyNet:
    effect = ReadSafetyNet(1, SafetyNetSource.PRIMARY, after, 9, 50)
    door.between.carry_out(effect)
    return effect


def find(door: Door, *, more: bool) -> None:
    kept = KeptCopy(END, "n", header(1), ENVELOPE, 3, (), DB1, "", None)
    door.between.give(SafetyNetRead(1, (kept,), more))


@pytest.mark.parametrize(
    ("place", "change"),
    [("after-data-before-commit", ACCEPTED), ("before-shadow-commit", SHADOWED)],
)
def test_a_commit_is_held_before_it_is_begun_and_handed_over_when_let_go(
    place: Place, change: Change
) -> None:
    door = Door(at(place))
    held = commit(door, 1, change)
    assert (door.names, door.passed) == (["f1"], [])
    door.holds[0][1]()
    assert door.passed == [held]


@pytest.mark.parametrize("place", ["after-data-before-commit", "before-shadow-commit"])
def test_what_was_accepted_before_or_is_made_here_is_no_acceptance(place: Place) -> None:
    door = Door(at(place))
    for number, body in enumerate(("db:7", "made:report")):
        commit(door, number, InsertMessage(MESSAGE, body))
    commit(door, 3, PROMOTED)
    assert door.names == []


def test_the_queue_database_keeps_its_order_while_it_is_held() -> None:
    door = Door(at("after-data-before-commit"))
    first = commit(door, 1, ACCEPTED)
    then = commit(door, 2, PROMOTED)
    expire, reading = ExpireSafetyNet(7), read(door, START)
    door.between.carry_out(expire)
    assert door.passed == []
    door.holds[0][1]()
    assert door.passed == [first, then, reading, expire]


def test_sessions_and_mailbox_databases_go_on_while_the_queue_database_is_held() -> None:
    door = Door(at("after-data-before-commit"))
    commit(door, 1, ACCEPTED)
    reply, changed = SendReply("in-2", OK), change_copy(door, DROPPED)
    door.between.carry_out(reply)
    assert door.passed == [changed, reply]


def test_a_commit_that_waited_behind_another_is_counted_when_its_turn_comes() -> None:
    door = Door(at("after-data-before-commit"), at("before-shadow-commit", name="f2"))
    first = commit(door, 1, ACCEPTED)
    second, third = commit(door, 2, SHADOWED), commit(door, 3, PROMOTED)
    door.holds[0][1]()
    assert (door.names, door.passed) == (["f1", "f2"], [first])
    door.holds[1][1]()
    assert door.passed == [first, second, third]


def test_a_node_that_stops_is_held_nowhere_any_more() -> None:
    door = Door(at("after-data-before-commit"), at("before-shadow-commit", name="f2"))
    first, second = commit(door, 1, ACCEPTED), commit(door, 2, SHADOWED)
    door.between.let_all_go()
    third = commit(door, 3, SHADOWED)
    assert (door.names, door.passed) == (["f1"], [first, second, third])


def test_a_promotion_is_held_when_one_page_is_durable_and_the_next_is_not_begun() -> None:
    door = Door(at("between-promotion-pages"))
    door.between.carry_out(BEGUN)
    first, second = commit(door, 1, PROMOTED), commit(door, 2, PROMOTED)
    assert (door.names, door.passed) == ([], [BEGUN, first])
    door.between.give(Committed(1))
    assert (door.names, door.passed) == (["f1"], [BEGUN, first, Committed(1)])
    door.holds[0][1]()
    assert door.passed[-1] == second


def test_a_promotion_whose_first_page_fails_is_at_no_place_and_goes_on() -> None:
    door = Door(at("between-promotion-pages"))
    door.between.carry_out(BEGUN)
    commit(door, 1, PROMOTED)
    second = commit(door, 2, PROMOTED)
    door.between.give(CommitFailed(1, "disk is full"))
    assert (door.names, door.passed[-1]) == ([], second)


def test_a_node_that_stops_in_a_promotion_tells_of_no_place_afterwards() -> None:
    door = Door(at("between-promotion-pages"))
    door.between.carry_out(BEGUN)
    commit(door, 1, PROMOTED)
    second = commit(door, 2, PROMOTED)
    door.between.let_all_go()
    door.between.give(Committed(1))
    assert (door.names, second in door.passed) == ([], True)


def test_the_first_page_of_another_promotion_is_no_next_page() -> None:
    door = Door(at("between-promotion-pages"))
    for number in (1, 2):
        door.between.carry_out(BEGUN)
        commit(door, number, PROMOTED)
        door.between.give(Committed(number))
    assert door.names == []


def test_a_resubmission_is_held_before_it_reads_its_second_page() -> None:
    door = Door(at("between-resubmission-pages"))
    read(door, START)
    find(door, more=True)
    commit(door, 1, RESUBMITTED)
    held = read(door, END)
    assert (door.names, held in door.passed) == (["f1"], False)
    door.holds[0][1]()
    assert door.passed[-1] == held


@pytest.mark.parametrize(
    ("more", "brings"), [(False, True), (True, False)], ids=["no more", "nothing wanted"]
)
def test_a_resubmission_is_at_no_place_without_a_page_behind_it_and_one_before(
    more: bool, brings: bool
) -> None:
    door = Door(at("between-resubmission-pages"))
    read(door, START)
    find(door, more=more)
    if brings:
        commit(door, 1, RESUBMITTED)
    read(door, END)
    assert door.names == []


def test_a_seed_is_held_before_it_is_taken_in_and_other_databases_go_on() -> None:
    door = Door(at("before-seed-commit"))
    held, then = change_copy(door, SEEDED), change_copy(door, DROPPED)
    other = change_copy(door, DROPPED, "DB2")
    assert (door.names, door.passed) == (["f1"], [other])
    door.holds[0][1]()
    assert door.passed == [other, held, then]


@pytest.mark.parametrize(("reply", "names"), [(OK, ["f1"]), (R451_COPY_NOT_CHANGED, [])])
def test_the_reply_to_a_seed_that_was_taken_in_is_held(reply: Reply, names: list[str]) -> None:
    door = Door(at("before-seed-250"))
    door.between.give(SeedAnnounced("in-1", "DB1", 0))
    door.between.carry_out(SendReply("in-1", R250_SEED_NEXT))
    offer(door)
    door.between.carry_out(SendReply("in-1", reply))
    assert door.names == names


def test_a_transaction_of_several_commits_is_held_when_its_disk_says_that_it_is_in_the_middle() -> (
    None
):
    door, went_on = Door(at("in-group-commit", nth=2)), list[str]()
    assert door.between.in_group(lambda: went_on.append("first")) is None
    tell = door.between.in_group(lambda: went_on.append("second"))
    assert tell is not None
    assert door.names == []
    tell()
    assert (door.names, went_on) == (["f1"], [])
    door.holds[0][1]()
    assert went_on == ["second"]
    assert door.between.in_group(lambda: None) is None


def test_a_node_that_stops_lets_its_transaction_go() -> None:
    door, went_on = Door(at("in-group-commit")), list[str]()
    door.between.in_group(lambda: went_on.append("it"))
    door.between.let_all_go()
    assert went_on == ["it"]
