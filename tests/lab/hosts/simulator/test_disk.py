"""What the simulated disk keeps and what it loses (TL-7)."""

from collections.abc import Callable

import pytest

from lab.hosts.simulator.event_loop import SECOND, World
from lab.hosts.simulator.storage.disk import OpenDatabases, SimulatedDisk
from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import (
    CommitFailed,
    Committed,
    DatabaseOpened,
    DatabaseSetAside,
    Input,
)
from nodes.core.interface.queue_changes import InsertMessage, SetContact
from nodes.core.model.message import Contact
from tests.nodes.store.samples import primary_message


class Server:
    """Hears what the disk answers."""

    def __init__(self, seed: int) -> None:
        self.world = World(0)
        self.disk = SimulatedDisk(self.world, "a", seed)
        self.heard: list[Input] = []
        self.failures: list[Exception] = []
        self.databases, self.opened = self.plug_in()

    def plug_in(self) -> tuple[OpenDatabases, DatabaseOpened]:
        databases, opened = self.disk.plug_in(self.heard.append, self.failures.append, 0)
        assert isinstance(opened, DatabaseOpened)
        return databases, opened

    def commit(self, number: int) -> None:
        change = SetContact(Contact(f"p{number}", "id", number, 0))
        self.databases.write(Commit(number, (change,)))

    def write_message(self, number: int) -> None:
        body = self.databases.bodies.hold(bytes(64 * 1024))
        self.databases.write(Commit(number, (InsertMessage(primary_message(number), body),)))

    def restart(self) -> set[str]:
        """Whom the database remembers after the power was gone."""
        self.disk.pull_plug()
        self.databases, opened = self.plug_in()
        return {contact.primary for contact in opened.contacts}


def test_what_was_answered_survives() -> None:
    server = Server(1)
    server.commit(1)
    server.world.run_until(SECOND)
    assert server.heard == [Committed(1)]
    assert server.restart() == {"p1"}


def test_what_was_under_way_is_there_whole_or_not_at_all_and_unanswered() -> None:
    """Both come up; the commits that waited behind it never do."""
    found = []
    for seed in range(40):
        server = Server(seed)
        for number in (1, 2, 3):
            server.commit(number)
        found.append(frozenset(server.restart()))
        server.world.run_until(SECOND)
        assert server.heard == []
    assert set(found) == {frozenset(), frozenset({"p1"})}


def test_commits_that_wait_share_a_transaction() -> None:
    found = set()
    for seed in range(40):
        server = Server(seed)
        for number in (1, 2, 3):
            server.commit(number)
        while not server.heard:
            server.world.run_until(server.world.now_us + 500)
        found.add(frozenset(server.restart()))
    assert found == {frozenset({"p1"}), frozenset({"p1", "p2", "p3"})}


def test_answers_come_in_the_order_of_the_commits() -> None:
    server = Server(3)
    for number in range(20):
        server.commit(number)
    server.world.run_until(60 * SECOND)
    assert server.heard == [Committed(number) for number in range(20)]


def test_a_database_set_aside_comes_back_empty_under_another_id() -> None:
    server = Server(1)
    server.commit(1)
    server.world.run_until(SECOND)
    server.disk.pull_plug()
    server.disk.set_queue_database_aside()
    _, opened = server.plug_in()
    assert opened.created
    assert opened.contacts == ()
    assert opened.database_id != server.opened.database_id


def test_a_damaged_database_is_found_out_set_aside_and_replaced() -> None:
    server = Server(1)
    server.commit(1)
    server.world.run_until(SECOND)
    server.disk.pull_plug()
    server.disk.damage_queue_database()
    server.heard.clear()
    _, opened = server.plug_in()
    [aside] = server.heard
    assert isinstance(aside, DatabaseSetAside)
    assert aside.reason == "file is not a database"
    assert opened.contacts == ()
    assert opened.database_id != server.opened.database_id


def test_a_full_disk_refuses_what_needs_room_and_takes_it_when_there_is_room_again() -> None:
    server = Server(1)
    server.disk.fill(True)
    server.write_message(1)
    server.world.run_until(SECOND)
    [refused] = server.heard
    assert refused == CommitFailed(1, "database or disk is full")
    server.disk.fill(False)
    server.write_message(2)
    server.world.run_until(2 * SECOND)
    assert server.heard[1:] == [Committed(2)]


def test_a_disk_fills_and_has_room_again_under_a_server_whose_damaged_database_waits() -> None:
    server = Server(1)
    server.disk.pull_plug()
    server.disk.damage_queue_database()
    server.disk.fill(True)
    server.disk.fill(False)
    server.databases, _ = server.plug_in()
    server.heard.clear()
    server.write_message(1)
    server.world.run_until(SECOND)
    assert server.heard == [Committed(1)]


def test_a_disk_stays_full_for_the_next_life_of_the_process() -> None:
    server = Server(1)
    server.disk.fill(True)
    server.disk.pull_plug()
    server.databases, _ = server.plug_in()
    server.write_message(1)
    server.world.run_until(SECOND)
    assert isinstance(server.heard[0], CommitFailed)


def test_a_mistake_of_the_node_is_its_own_end() -> None:
    server = Server(1)
    one = primary_message(1)
    body = server.databases.bodies.hold(b"hello")
    server.databases.write(Commit(1, (InsertMessage(one, body), InsertMessage(one, body))))
    server.world.run_until(SECOND)
    assert server.heard == []
    assert len(server.failures) == 1


class Lab:
    """Holds every group in the middle."""

    def __init__(self, server: Server) -> None:
        self.held: list[Callable[[], None]] = []
        server.disk.in_group = lambda go_on: lambda: self.held.append(go_on)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("is_killed", "left"), [(True, {"p1"}), (False, {"p1", "p2", "p3"})])
def test_a_group_that_is_held_in_the_middle_is_there_when_let_go_and_not_after_a_kill(
    seed: int, is_killed: bool, left: set[str]
) -> None:
    server = Server(seed)
    lab = Lab(server)
    for number in (1, 2, 3):
        server.commit(number)
    server.world.run_until(SECOND)
    assert (len(lab.held), server.heard) == (1, [Committed(1)])
    if not is_killed:
        lab.held[0]()
    assert server.restart() == left
