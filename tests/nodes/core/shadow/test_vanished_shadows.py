"""A shadow server that comes back with a new queue database has lost its shadow messages: those
messages are delivered, reported as single-copy, and not shadowed again (SM-17).
"""

from __future__ import annotations

import pytest

from nodes.core.node import Node
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


def par1_restarts(world: World) -> None:
    world.kill("par1")
    world.start("par1")


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_a_message_whose_shadow_vanished_is_reported_delivered_and_not_shadowed_again(
    primary_restarts: bool,
) -> None:
    world = World()
    old = held_at_lyo1(world)
    lyo1_returns(world, new_database=True)
    if primary_restarts:
        par1_restarts(world)
    world.send("par1", message_id="<new@x>")
    (row,) = single_copies(world)
    assert (row.message_id, row.custom["ShadowServer"]) == (old, "lyo1")
    world.run(3 * MINUTE)  # after which another session is opened
    world.send("par1", message_id="<later@x>")
    world.cut.clear()
    world.run(15 * MINUTE)
    assert sorted(world.mailboxes[USER1]) == ["<later@x>", "<new@x>", old]
    assert len([r for r in world.of("HAREDIRECT") if r.message_id == old]) == 1
    assert len(single_copies(world)) == 1


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_nothing_is_reported_of_a_shadow_server_with_the_same_queue_database(
    primary_restarts: bool,
) -> None:
    world = World()
    held_at_lyo1(world)
    lyo1_returns(world, new_database=False)
    if primary_restarts:
        par1_restarts(world)
    for _ in range(3):
        world.send("par1")
        world.run(3 * MINUTE)
    assert not single_copies(world)


def loses_its_database_between_two_messages() -> tuple[World, str, int]:
    """<old@x>, then <new@x>; and of the session before that: what lyo1 would say, its number."""
    world = World()
    held_at_lyo1(world)
    late = par1(world)._mail.sessions.begun
    old_id = world.hosts["lyo1"].disk.database_id
    lyo1_returns(world, new_database=True)
    world.send("par1", message_id="<new@x>")
    return world, old_id, late


def par1(world: World) -> Node:
    node = world.hosts["par1"].node
    assert isinstance(node, Node)
    return node


def reported_at_last(world: World) -> list[str]:
    """With what the next session to lyo1 says."""
    world.run(3 * MINUTE)
    world.send("par1")
    return [row.message_id for row in single_copies(world)]


def test_a_session_that_stands_late_is_not_believed() -> None:
    """It was begun before lyo1 lost its queue database, and says the id that lyo1 had."""
    world, old_id, late = loses_its_database_between_two_messages()
    par1(world)._mail.vanished.named("lyo1", old_id, late)
    assert reported_at_last(world) == ["<old@x>"]


def test_a_session_says_nothing_of_messages_that_came_after_it_was_begun() -> None:
    """It was opened late, after the message was shadowed over one that had stood before."""
    world, old_id, _ = loses_its_database_between_two_messages()
    tracked = par1(world)._mail.delivery.shadowed_by("lyo1")
    (begun,) = [each.begun for each in tracked if each.message.header.message_id == "<new@x>"]
    par1(world)._mail.vanished.named("lyo1", old_id, begun)
    assert "<new@x>" not in reported_at_last(world)


@pytest.mark.parametrize("primary_restarts", [False, True])
def test_a_message_is_reported_once_however_often_its_shadow_server_loses_its_database(
    primary_restarts: bool,
) -> None:
    """Ids A, B and C: one message in A, one in B; each is gone once."""
    world = World()
    first = held_at_lyo1(world)
    for message_id in ("<second@x>", "<third@x>"):
        lyo1_returns(world, new_database=True)
        world.run(3 * MINUTE)
        world.send("par1", message_id=message_id)
    assert [row.message_id for row in single_copies(world)] == [first, "<second@x>"]
    if primary_restarts:
        before = len(single_copies(world))
        par1_restarts(world)
        world.run(3 * MINUTE)
        world.send("par1", message_id="<fourth@x>")
        again = [row.message_id for row in single_copies(world)[before:]]
        assert sorted(again) == sorted([first, "<second@x>"])


def test_a_message_that_becomes_durable_after_the_new_id_was_heard_is_reported() -> None:
    """Its copy was made in B; C is named before the message is in a delivery queue."""
    world = World()
    held_at_lyo1(world)
    par1_host = world.hosts["par1"]
    par1_host.held_commits = []
    world.send("par1", message_id="<late@x>")
    (commit,) = par1_host.held_commits
    par1_host.held_commits = None
    lyo1_returns(world, new_database=True)
    world.send("par1", message_id="<other@x>")
    assert "<late@x>" not in [row.message_id for row in single_copies(world)]
    world.commit_now("par1", commit)
    assert reported_at_last(world) == ["<old@x>", "<late@x>"]
