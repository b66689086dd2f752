"""A shadow server that comes back with a new queue database has lost its shadow messages: those
messages are delivered, reported as single-copy, and not shadowed again (SM-17).
"""

from __future__ import annotations

import pytest

from tests.nodes.core.world import MINUTE, USER1, Row, World


def single_copies(world: World) -> list[Row]:
    return [r for r in world.of("HAREDIRECTFAIL") if r.custom["Outcome"] == "single-copy"]


def held_at_lyo1(world: World) -> str:
    """A message that par1 cannot deliver; its only shadow server is lyo1."""
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", message_id="<old@x>")
    assert [row.server for row in world.of("HARECEIVE")] == ["lyo1"]
    return "<old@x>"


def lyo1_returns(world: World, *, new_database: bool) -> None:
    world.kill("lyo1")
    if new_database:
        world.hosts["lyo1"].new_queue_database()
    world.start("lyo1")


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_a_message_whose_shadow_vanished_is_reported_delivered_and_not_shadowed_again(
    primary_restarts: bool,
) -> None:
    world = World()
    old = held_at_lyo1(world)
    lyo1_returns(world, new_database=True)
    if primary_restarts:
        world.kill("par1")
        world.start("par1")
    world.send("par1", message_id="<new@x>")
    (row,) = single_copies(world)
    assert (row.message_id, row.custom["ShadowServer"]) == (old, "lyo1")
    world.cut.clear()
    world.run(15 * MINUTE)
    assert sorted(world.mailboxes[USER1]) == ["<new@x>", old]
    assert len([r for r in world.of("HAREDIRECT") if r.message_id == old]) == 1
    assert len(single_copies(world)) == 1


def test_nothing_is_reported_of_a_shadow_server_with_the_same_queue_database() -> None:
    world = World()
    held_at_lyo1(world)
    lyo1_returns(world, new_database=False)
    for _ in range(3):
        world.send("par1")
        world.run(3 * MINUTE)
    assert not single_copies(world)


def test_a_session_that_stands_late_reports_nothing_that_was_shadowed_since() -> None:
    """It was begun before lyo1 lost its queue database, and says the id that lyo1 had."""
    world = World()
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", message_id="<old@x>")
    sessions = world.hosts["par1"].node._sessions  # type: ignore[union-attr]
    late = sessions.begun
    old_id = world.hosts["lyo1"].disk.database_id
    lyo1_returns(world, new_database=True)
    world.send("par1", message_id="<new@x>")
    sessions.on_database_named("lyo1", old_id, late)
    assert "<new@x>" not in {row.message_id for row in single_copies(world)}
