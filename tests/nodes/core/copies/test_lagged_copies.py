"""A lagged copy that is activated has what it is to have; a corruption reaches it late (SN-20)."""

from __future__ import annotations

from typing import Any

from nodes.core.interface import inputs as on
from tests.nodes.core.copies.copies import ask, events, status, world_of
from tests.nodes.core.copies.test_replication import send
from tests.nodes.core.world import HOUR, MINUTE, SECOND, World


def lagged() -> tuple[World, list[str], list[str]]:
    """Half an hour between two messages; the copy on lyo1 is an hour behind."""
    world = world_of(lag="1h")
    first = send(world)
    world.run(30 * MINUTE)
    second = send(world)
    world.run(MINUTE)
    return world, first, second


def mount_as_of(world: World, before_ms: int | None, epoch: int = 1) -> Any:
    return ask(world, "lyo1", lambda s: on.MountAsked(s, "DB1", epoch, before_ms))


def corrupt(world: World, server: str = "par2") -> Any:
    return ask(world, server, lambda s: on.CorruptionRequested(s, "DB1"))


def test_it_has_what_the_database_had_at_that_moment() -> None:
    world, first, _second = lagged()
    reply = mount_as_of(world, world.now_ms - 20 * MINUTE)
    assert reply.code == 250
    assert world.shows("lyo1") == first
    assert status(world, "lyo1") == ("active", 1, 2)


def test_it_has_all_that_it_keeps_where_the_moment_is_now() -> None:
    world, first, second = lagged()
    mount_as_of(world, world.now_ms)
    assert world.shows("lyo1") == first + second


def test_asked_again_under_its_epoch_it_answers_as_before() -> None:
    world, first, _second = lagged()
    moment = world.now_ms - 20 * MINUTE
    assert mount_as_of(world, moment).lines == mount_as_of(world, moment).lines
    assert world.shows("lyo1") == first


def test_it_cannot_go_back_behind_what_it_has_replayed() -> None:
    world, first, _second = lagged()
    world.run(45 * MINUTE)
    assert world.shows("lyo1") == first
    reply = mount_as_of(world, world.now_ms - 2 * HOUR)
    assert reply.lines == ("5.5.4 Copy of the mailbox database has replayed later logs",)
    assert status(world, "lyo1")[0] == "passive"


def test_the_copy_before_becomes_as_it_is() -> None:
    world, first, _second = lagged()
    mount_as_of(world, world.now_ms - 20 * MINUTE)
    world.run(2 * MINUTE)
    assert world.shows("par2") == first
    assert status(world, "par2") == ("passive", 1, 2)


def test_a_corruption_reaches_a_lagged_copy_when_its_lag_is_over() -> None:
    world, first, second = lagged()
    reply = corrupt(world)
    assert (reply.code, reply.lines[0].split()[1]) == (250, "3")
    assert world.shows("par2") == []
    assert [e["last_log"] for e in events(world, "mailboxes-corrupted", "par2")] == [3]
    world.run(59 * MINUTE)
    assert world.shows("lyo1") == first + second
    world.run(2 * MINUTE)
    assert world.shows("lyo1") == []


def test_a_lagged_copy_goes_back_to_before_a_corruption() -> None:
    world, first, second = lagged()
    world.run(SECOND)
    moment = world.now_ms
    world.run(SECOND)
    corrupt(world)
    world.run(SECOND)
    mount_as_of(world, moment)
    assert world.shows("lyo1") == first + second


def test_what_was_lost_by_a_corruption_does_not_come_in_again() -> None:
    world, first, _second = lagged()
    before = world.of("DELIVER")
    corrupt(world)
    assert len(world.of("DELIVER")) == len(before)
    assert first[0] not in world.shows("par2")


def test_a_copy_that_is_not_active_is_not_corrupted() -> None:
    world, _first, _second = lagged()
    assert corrupt(world, "lyo1").code == 503
    assert corrupt(world, "par1").code == 550
