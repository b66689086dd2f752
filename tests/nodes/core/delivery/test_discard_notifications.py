"""What a primary forgets of what it has to notify, and what it never does (SM-11, SM-16)."""

from __future__ import annotations

import pytest

from tests.nodes.core.copies.copies import world_of
from tests.nodes.core.world import HOUR, MINUTE, World

DROPPED_AFTER = {"ShadowMessageAutoDiscardInterval": "00:30:00"}


def delivered_by_par1(world: World) -> None:
    """One message; nobody has heard yet that it is delivered."""
    world.send("par1")
    assert len(world.hosts["par1"].disk.discards) == 1


def asked_by_lyon(world: World) -> None:
    """The same; the answer to whoever asked for it was lost, and nobody can ask again."""
    world.lose_reply_from = {"par1"}
    delivered_by_par1(world)
    world.run(5 * MINUTE)
    world.lose_reply_from.clear()
    world.cut[("lyo1", "par1")] = world.cut[("lyo2", "par1")] = "refuse"


def test_a_notification_that_nobody_asks_for_is_dropped() -> None:
    world = World(TransportConfig=DROPPED_AFTER)
    world.cut[("lyo1", "par1")] = world.cut[("lyo2", "par1")] = "refuse"
    delivered_by_par1(world)
    world.run(HOUR)
    assert not world.hosts["par1"].disk.discards


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_a_notification_that_was_asked_for_is_given_again_until_it_is_confirmed(
    primary_restarts: bool,
) -> None:
    world = World(TransportConfig=DROPPED_AFTER)
    asked_by_lyon(world)
    if primary_restarts:
        world.kill("par1")
        world.start("par1")
    world.run(26 * MINUTE)  # more than DROPPED_AFTER since it was made, not since it was asked for
    world.cut.clear()
    world.lose_reply_from.clear()
    world.run(15 * MINUTE)
    assert len(world.of("HADISCARD")) == 1


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_a_notification_that_was_asked_for_and_never_again_is_dropped(
    primary_restarts: bool,
) -> None:
    """The shadow server lost its queue database after the question."""
    world = World(TransportConfig=DROPPED_AFTER)
    asked_by_lyon(world)
    if primary_restarts:
        world.kill("par1")
        world.start("par1")
    world.run(26 * MINUTE)
    assert len(world.hosts["par1"].disk.discards) == 1
    world.run(5 * MINUTE)
    assert not world.hosts["par1"].disk.discards


def test_a_later_notification_stays_as_long_as_one_that_was_asked_for_before_it() -> None:
    world = World(TransportConfig=DROPPED_AFTER)
    asked_by_lyon(world)
    world.run(10 * MINUTE)
    for _ in range(4):
        world.send("par1")
    world.run(25 * MINUTE)
    assert len(world.hosts["par1"].disk.discards) == 4
    world.run(10 * MINUTE)
    assert not world.hosts["par1"].disk.discards


def test_a_session_that_ships_logs_asks_too() -> None:
    """lyo1 ships its logs to par1, and cannot reach it for mail."""
    world = world_of("lyo1", "par1")
    world.cut_service("lyo1", "par1", "smtp")
    while "lyo1" not in {row.server for row in world.of("HARECEIVE")}:
        world.send("par1")
    world.run(2 * MINUTE)  # no session is idle any more
    world.send("par1")
    said = [text for _, name, text in world.connectivity if name == "lyo1"]
    assert any("XQDISCARD contact;Peer=par1" in text for text in said)
