"""A primary server notices a shadow server that does not ask (SM-20)."""

from __future__ import annotations

from tests.nodes.core.shadow.test_vanished_shadows import held_at_lyo1
from tests.nodes.core.world import MINUTE, World

HEARTBEAT = 2 * MINUTE


def said(world: World) -> list[tuple[str, object]]:
    return [
        (event.removeprefix("shadow-server-"), fields["server"])
        for name, event, fields in world.lifecycle
        if name == "par1" and event.startswith("shadow-server-")
    ]


def test_one_that_has_not_asked_for_three_heartbeats_is_silent_until_it_asks() -> None:
    world = World()
    held_at_lyo1(world)
    world.run(5 * MINUTE)
    world.cut[("lyo1", "par1")] = "refuse"
    world.run(3 * HEARTBEAT - MINUTE - 2000)
    assert said(world) == []
    world.run(2 * MINUTE)
    assert said(world) == [("silent", "lyo1")]
    world.run(20 * MINUTE)
    del world.cut[("lyo1", "par1")]
    world.run(HEARTBEAT + MINUTE)
    assert said(world) == [("silent", "lyo1"), ("returned", "lyo1")]
    assert len(world.of("HAREDIRECT")) == 1


def test_nobody_is_missed_who_holds_nothing() -> None:
    world = World()
    world.send("par1")
    world.run(MINUTE)
    world.kill("lyo1")
    world.kill("lyo2")
    world.run(20 * MINUTE)
    assert said(world) == []


def test_one_that_held_others_before_has_three_heartbeats_from_the_oldest_on() -> None:
    """What came first is done; what came late is younger than three heartbeats."""
    world = World()
    held_at_lyo1(world)
    world.run(MINUTE)
    world.cut.clear()
    world.run(4 * MINUTE)
    world.cut[("lyo1", "par1")] = "refuse"
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1", message_id="<late@x>")
    world.run(3 * HEARTBEAT - 10_000)
    assert said(world) == []
    world.run(MINUTE)
    assert said(world) == [("silent", "lyo1")]


def test_one_whose_shadows_are_known_to_be_gone_is_not_missed() -> None:
    world = World()
    held_at_lyo1(world)
    world.kill("lyo1")
    world.hosts["lyo1"].new_queue_database()
    world.start("lyo1")
    world.send("par1", message_id="<new@x>")  # its session says the new id
    world.cut.clear()
    world.run(MINUTE)
    silent = [each for each in said(world) if each[0] == "silent"]
    assert silent == []


def test_after_a_restart_it_has_three_heartbeats_anew() -> None:
    world = World()
    held_at_lyo1(world)
    world.cut[("lyo1", "par1")] = "refuse"
    world.run(3 * HEARTBEAT - 10_000)
    world.kill("par1")
    world.start("par1")
    world.run(3 * HEARTBEAT - 10_000)
    assert said(world) == []
    world.run(MINUTE)
    assert said(world) == [("silent", "lyo1")]
