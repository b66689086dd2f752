"""The duplicate detection window goes with the database, whichever server mail comes to (DD-2)."""

from __future__ import annotations

from typing import Any

from nodes.core.interface import effects as fx
from tests.nodes.core.copies.copies import mount, world_of
from tests.nodes.core.world import HOUR, MINUTE, USER1, USER2, World


def windows_of(world: World) -> list[tuple[str, str, int]]:
    """Server, database and window of each delivery from now on."""
    found: list[tuple[str, str, int]] = []
    deliver = world._deliver

    def listen(host: Any, e: fx.DeliverToMailboxes) -> None:
        found.append((host.name, e.database, e.window_ms))
        deliver(host, e)

    world._deliver = listen  # type: ignore[method-assign]
    return found


def test_each_database_has_its_own_on_whichever_server_the_message_came_in() -> None:
    databases = [
        {"Name": "DB1", "Server": "par2", "Track Duplicates": "01:00:00"},
        {"Name": "DB2", "Server": "lyo2", "Track Duplicates": "02:00:00"},
    ]
    world = World(Databases=databases)
    found = windows_of(world)
    for server in ("par1", "par2", "lyo2"):
        world.send(server, USER1, USER2)
    world.run(MINUTE)
    assert set(found) == {("par2", "DB1", HOUR), ("lyo2", "DB2", 2 * HOUR)}
    assert len(found) == 6


def test_a_failover_does_not_change_it() -> None:
    world = world_of("par2", "lyo1", window="01:00:00")
    found = windows_of(world)
    world.send("par1", USER1)
    world.run(MINUTE)
    mount(world, "lyo1")
    world.run(MINUTE)
    world.send("lyo1", USER1)
    world.run(MINUTE)
    assert found == [("par2", "DB1", HOUR), ("lyo1", "DB1", HOUR)]
