"""A mailbox moves to another mailbox database, from end to end on a fake wire (SN-8, DD-3)."""

from __future__ import annotations

import pytest

from nodes.core.config.mailboxes import Mailbox
from nodes.core.interface import inputs as on
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import (
    HOUR,
    MANAGER,
    MINUTE,
    SERVERS,
    START_MS,
    USER1,
    USER2,
    World,
)

PLACES = (("DB1", ("par2", "lyo1")), ("DB2", ("lyo2", "par1")))
DATABASES = [
    {
        "Name": name,
        "Server": first,
        "Copies": [
            {"Server": first, "ActivationPreference": 1},
            {"Server": other, "ActivationPreference": 2},
        ],
    }
    for name, (first, other) in PLACES
]
ON_ITS_WAY, THERE = Mailbox(USER1, "DB1", "DB2"), Mailbox(USER1, "DB2")


def world_of(*, managed: bool = False) -> World:
    world = World(managed=managed, Databases=DATABASES)
    world.run(MINUTE)
    return world


def directory(world: World, *mailboxes: Mailbox, servers: tuple[str, ...] = SERVERS) -> None:
    for server in servers:
        world.say(server, on.DirectoryRead((), at_start=False, mailboxes=mailboxes))


def ask(world: World, server: str = "par2", peer: str = "par2") -> str:
    session = world.connect(server, peer)
    world.say(server, on.MoveRequested(session, USER1, "DB2"))
    return session


def answered(world: World, server: str, session: str) -> int:
    (reply,) = world.hosts[server].replies[session][-1:]
    return int(reply.code)


def move(world: World) -> None:
    directory(world, ON_ITS_WAY)
    session = ask(world)
    world.run(5 * MINUTE)
    assert answered(world, "par2", session) == 250
    directory(world, THERE)


def shown(world: World, server: str, database: str) -> list[str]:
    return world.shows(server, USER1, database)


def forks(world: World, server: str) -> dict[NextHop, tuple[str, ...]]:
    (message,) = world.hosts[server].disk.messages.values()
    return {fork.next_hop: fork.recipients for fork in message.forks}


def test_what_it_shows_is_in_every_copy_of_the_new_database_when_it_has_moved() -> None:
    world = world_of()
    world.send("par1", USER1, USER2, message_id="<1@x>")
    world.run(MINUTE)
    move(world)
    assert [shown(world, server, "DB2") for server in ("lyo2", "par1")] == [["<1@x>"]] * 2
    assert ("par2", "mailbox-moved") in [(host, event) for host, event, _ in world.lifecycle]


def test_mail_from_then_on_goes_to_the_new_database() -> None:
    world = world_of()
    move(world)
    world.send("lyo1", USER1, message_id="<2@x>")
    world.run(MINUTE)
    assert shown(world, "lyo2", "DB2") == ["<2@x>"]
    assert shown(world, "par2", "DB1") == []


def test_while_it_is_on_its_way_its_mail_is_held_and_that_of_others_is_not() -> None:
    world = world_of()
    directory(world, ON_ITS_WAY)
    world.send("lyo1", USER1, USER2, message_id="<3@x>")
    world.run(10 * MINUTE)
    assert world.shows("lyo2", USER2, "DB2") == ["<3@x>"]
    assert shown(world, "par2", "DB1") == []
    directory(world, THERE, servers=("lyo2", "lyo1"))
    world.run(MINUTE)
    assert shown(world, "lyo2", "DB2") == ["<3@x>"]
    assert not world.of("DEFER")


def test_mail_that_waits_for_the_old_database_goes_to_the_new_one_once() -> None:
    world = world_of()
    world.cut_both("lyo1", "par2")
    world.send("lyo1", USER1, message_id="<4@x>")
    world.run(3 * MINUTE)
    assert NextHop.into("DB1") in forks(world, "lyo1")
    move(world)
    world.run(15 * MINUTE)  # lyo2 may hear of it later than lyo1, and puts it off until then
    assert [shown(world, s, "DB2") for s in ("lyo2", "par1")] == [["<4@x>"]] * 2
    assert not world.hosts["lyo1"].disk.messages
    world.heal()
    world.run(HOUR)
    assert len(world.of("DELIVER")) == 1


def test_it_joins_what_waits_for_the_new_database_already() -> None:
    world = world_of()
    world.cut_both("lyo1", "par2")
    world.cut_both("lyo1", "lyo2")
    world.send("lyo1", USER1, USER2, message_id="<5@x>")
    world.run(2 * MINUTE)
    move(world)
    assert forks(world, "lyo1") == {NextHop.into("DB2"): (USER2, USER1)}
    world.heal()
    world.run(HOUR)
    assert shown(world, "lyo2", "DB2") == world.shows("lyo2", USER2, "DB2") == ["<5@x>"]


def test_what_waited_before_a_restart_goes_to_where_the_mailbox_is_after_it() -> None:
    world = world_of()
    world.cut_both("lyo1", "par2")
    world.send("lyo1", USER1, message_id="<6@x>")
    world.run(MINUTE)
    world.kill("lyo1")
    directory(world, ON_ITS_WAY, servers=("par1", "par2", "lyo2"))
    ask(world)
    directory(world, THERE, servers=("par1", "par2", "lyo2"))
    host = world.hosts["lyo1"]
    host.directory = on.DirectoryRead((), at_start=True, mailboxes=(THERE,))
    world.start("lyo1")
    world.run(MINUTE)
    assert shown(world, "lyo2", "DB2") == ["<6@x>"]


def test_a_server_that_has_not_read_it_is_put_off_for_that_mailbox_alone() -> None:
    world = world_of()
    others = ("par1", "par2", "lyo2")
    directory(world, ON_ITS_WAY, servers=others)
    ask(world)
    directory(world, THERE, servers=others)
    world.send("lyo1", USER1, message_id="<7@x>")
    world.run(2 * MINUTE)
    (row, *_) = world.of("DEFER", "lyo1")
    assert row.context.startswith("432 4.2.0 ")
    assert shown(world, "par2", "DB1") == []
    directory(world, THERE)
    world.run(MINUTE)
    assert shown(world, "lyo2", "DB2") == ["<7@x>"]


def test_what_duplicate_detection_knows_stays_behind() -> None:
    world = world_of()
    world.send("lyo1", USER1, message_id="<8@x>")
    world.run(MINUTE)
    move(world)
    world.send("lyo1", USER1, message_id="<8@x>")
    world.run(MINUTE)
    assert shown(world, "lyo2", "DB2") == ["<8@x>", "<8@x>"]


@pytest.mark.parametrize(("database", "given"), [("DB1", 0), ("DB2", 1)])
def test_a_safety_net_gives_back_to_where_the_mailbox_is_now(database: str, given: int) -> None:
    world = world_of()
    world.send("lyo1", USER1, message_id="<9@x>")
    world.run(MINUTE)
    move(world)
    session = world.connect("lyo1", "par1")
    demand = ResubmitDemand("r1", SafetyNetSource.PRIMARY, database, START_MS, world.now_ms)
    world.say("lyo1", on.ResubmitRequested(session, demand))
    world.run(MINUTE)
    assert len(world.of("RESUBMIT")) == given
    assert shown(world, "lyo2", "DB2") == ["<9@x>"] * (1 + given)


def test_it_has_not_moved_while_a_copy_of_the_new_database_lacks_it() -> None:
    world = world_of()
    world.cut_service("lyo2", "par1", "replication")
    directory(world, ON_ITS_WAY)
    session = ask(world)
    world.run(2 * MINUTE)
    assert answered(world, "par2", session) == 451
    (why,) = [said["reason"] for _, event, said in world.lifecycle if event == "mailbox-not-moved"]
    assert why.startswith("lyo2: 451 ")


def test_only_the_server_of_the_active_copy_moves_it_and_only_where_the_directory_says() -> None:
    world = world_of()
    assert answered(world, "par2", ask(world)) == 503
    directory(world, ON_ITS_WAY)
    assert answered(world, "lyo1", ask(world, "lyo1", "lyo1")) == 432
    stranger = world.connect("par2")
    world.say("par2", on.MoveRequested(stranger, USER1, "DB2"))
    assert answered(world, "par2", stranger) == 550


def test_active_manager_lets_nobody_leave_whom_safety_nets_may_owe_mail() -> None:
    world = world_of(managed=True)
    assert answered(world, MANAGER, ask(world, MANAGER, MANAGER)) == 432
    world.cut_service(MANAGER, "par1", "management")
    world.kill("par2")
    world.run(5 * MINUTE)
    assert answered(world, MANAGER, ask(world, MANAGER, MANAGER)) == 451
    world.start("par2")
    world.heal()
    world.run(10 * MINUTE)
    assert answered(world, MANAGER, ask(world, MANAGER, MANAGER)) == 432
