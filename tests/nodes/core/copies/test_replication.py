"""Logs ship from the active copy of a mailbox database to the others: in order, once (TP-4)."""

from __future__ import annotations

from nodes.core.interface import inputs as on
from nodes.core.model.database_copy import ReplicationLog
from tests.nodes.core.copies.copies import ask, dismount, events, mount, name_copy, status, world_of
from tests.nodes.core.world import HOUR, MINUTE, SECOND, USER1, World


def send(world: World, count: int = 1, to: str = "par1") -> list[str]:
    before = len(world.of("RECEIVE"))
    for _ in range(count):
        world.send(to, USER1)
    return [row.message_id for row in world.of("RECEIVE")[before:]]


def test_a_delivery_is_on_the_passive_copy_soon_after() -> None:
    world = world_of()
    sent = send(world, 3)
    assert world.shows("par2") == world.shows("lyo1") == sent
    assert status(world, "par2") == ("active", 0, 3)
    assert status(world, "lyo1") == ("passive", 0, 3)


def test_logs_reach_every_other_copy() -> None:
    world = world_of("par2", "lyo1", "lyo2")
    sent = send(world, 2)
    assert world.shows("lyo1") == world.shows("lyo2") == sent


def test_a_delivery_does_not_wait_for_the_passive_copy_and_its_log_comes_when_it_can() -> None:
    world = world_of()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 25)
    assert world.shows("par2") == sent
    assert world.shows("lyo1") == []
    world.run(HOUR)
    world.cut_services.clear()
    world.run(MINUTE)
    assert world.shows("lyo1") == sent


def test_a_copy_that_cannot_catch_up_says_so_once_with_its_log_and_that_it_has() -> None:
    world = world_of()
    send(world)
    world.cut_service("par2", "lyo1", "replication")
    send(world, 2)
    world.run(HOUR)
    (behind,) = events(world, "copy-behind", "par2")
    assert (behind["server"], behind["has_log"], behind["last_log"]) == ("lyo1", 1, 2)
    assert events(world, "copy-caught-up") == []
    world.cut_services.clear()
    world.run(MINUTE)
    (caught_up,) = events(world, "copy-caught-up", "par2")
    assert (caught_up["has_log"], caught_up["last_log"]) == (3, 3)


def test_a_log_that_breaks_off_or_is_spoilt_is_not_replayed_and_comes_again() -> None:
    world = world_of()
    world.spoil = lambda content: content[:-20]
    sent = send(world)
    assert world.shows("lyo1") == []
    world.spoil = lambda content: content
    world.run(MINUTE)
    assert world.shows("lyo1") == sent


def test_a_lost_acknowledgement_of_a_log_makes_it_neither_twice_nor_missing() -> None:
    world = world_of()
    world.lose_reply_from = {"lyo1"}
    send(world, 2)
    assert len(world.shows("lyo1")) == 1
    world.lose_reply_from = set()
    world.run(HOUR)
    assert len(world.shows("lyo1")) == 2
    assert world.shows("lyo1") == world.shows("par2")


def test_whichever_server_is_killed_the_copies_become_equal_again() -> None:
    for killed in ("par2", "lyo1"):
        for effects in range(12):
            world = world_of()
            world.hosts[killed].fuse = effects
            send(world, 3)
            world.hosts[killed].fuse = None
            if world.hosts[killed].node is None:
                world.start(killed)
            world.run(HOUR)
            assert world.shows("par2") == world.shows("lyo1")
            assert len(world.shows("par2")) == len(world.of("RECEIVE"))


def test_logs_that_every_copy_has_are_dropped_and_those_that_one_lacks_are_not() -> None:
    world = world_of("par2", "lyo1", "lyo2")
    send(world, 2)
    world.cut_service("par2", "lyo2", "replication")
    send(world, 2)
    world.run(5 * MINUTE)
    kept = [world.hosts["par2"].database("DB1").read_log(number) for number in (1, 2, 3, 4)]
    assert [content is not None for content in kept] == [False, False, True, True]
    world.cut_services.clear()
    world.run(5 * MINUTE)
    assert world.hosts["par2"].database("DB1").read_log(4) is None
    assert world.shows("lyo2") == world.shows("par2")


def test_a_copy_that_was_lost_is_seeded_with_everything() -> None:
    world = world_of()
    sent = send(world, 3)
    world.run(5 * MINUTE)
    world.kill("lyo1")
    world.hosts["lyo1"].databases.clear()
    world.start("lyo1")
    sent += send(world)
    world.run(MINUTE)
    assert world.shows("lyo1") == sent
    assert events(world, "copy-seeded", "par2")[0]["has_log"] == 4


def test_an_active_copy_that_lost_its_file_fails_and_spoils_no_other() -> None:
    world = world_of()
    sent = send(world, 3)
    world.kill("par2")
    world.hosts["par2"].databases.clear()
    world.start("par2")
    send(world)
    world.run(MINUTE)
    assert world.shows("lyo1") == sent
    assert status(world, "par2")[0] == "failed"
    assert "lost here" in events(world, "copy-failed", "par2")[0]["reason"]


def log(number: int, *, epoch: int = 0, previous_epoch: int = 0) -> ReplicationLog:
    return ReplicationLog("DB1", number, epoch, previous_epoch, 0, "0" * 64)


def announce(world: World, at: str, epoch: int, what: ReplicationLog) -> tuple[int, str]:
    reply = ask(world, at, lambda session: on.LogAnnounced(session, epoch, what))
    return reply.code, reply.lines[0]


def test_another_log_than_the_next_is_refused_and_the_next_is_named() -> None:
    world = world_of()
    send(world, 2)
    for wrong in (log(1), log(2), log(4), log(3, epoch=1, previous_epoch=1)):
        assert announce(world, "lyo1", 0, wrong) == (503, "5.5.1 expects 3 after 0")
    assert announce(world, "lyo1", 0, log(3))[0] == 250


def test_who_ships_under_an_epoch_that_is_over_is_told_the_one_that_is_not() -> None:
    world = world_of()
    name_copy(world, "lyo1", "lyo2", 4)
    assert announce(world, "lyo1", 3, log(1)) == (554, "5.5.4 active under 4")


def test_a_stranger_ships_nothing_and_learns_nothing() -> None:
    world = world_of()
    session = world.connect("lyo1")
    for asked in (
        on.LogAnnounced(session, 0, log(1)),
        on.SeedAnnounced(session, "DB1", 0),
        on.CopyStatusAsked(session, "DB1"),
        on.MountAsked(session, "DB1", 1),
        on.DismountAsked(session, "DB1", 0),
    ):
        assert world.say("lyo1", asked)[-1].lines[0].startswith("5.7.1")


def test_a_copy_that_is_mounted_tells_what_it_had_and_takes_mail() -> None:
    world = world_of()
    send(world)
    (row,) = world.of("DELIVER")
    reply = mount(world, "lyo1")
    assert reply.lines == (f"2.0.0 {world.now_ms} 1 {row.at_ms} 0",)
    name_copy(world, "par1", "lyo1")
    (sent,) = send(world)
    assert world.shows("lyo1")[-1] == sent
    assert world.of("DELIVER")[-1].server == "lyo1"


def test_a_mount_that_is_asked_for_again_is_one_mount() -> None:
    world = world_of()
    send(world)
    first = mount(world, "lyo1")
    world.run(MINUTE)
    send(world, 2)
    assert mount(world, "lyo1") == first
    assert mount(world, "lyo1", 0).code == 554


def test_a_server_that_starts_does_not_mount_by_itself_once_a_failover_was_told() -> None:
    world = world_of()
    mount(world, "lyo1")
    world.kill("lyo1")
    world.start("lyo1")
    assert status(world, "lyo1") == ("dismounted", 1, 1)
    name_copy(world, "par1", "lyo1")
    send(world)
    send(world, to="lyo1")
    assert world.shows("lyo1") == []
    assert mount(world, "lyo1").code == 250
    world.run(2 * MINUTE)
    assert len(world.shows("lyo1")) == 2


def test_before_any_failover_the_copy_of_the_configuration_mounts_by_itself() -> None:
    world = world_of()
    world.kill("par2")
    world.start("par2")
    assert status(world, "par2") == ("active", 0, 0)


def test_the_copy_before_hears_of_the_new_one_by_its_first_log_follows_it_and_is_equal() -> None:
    """Nobody told it anything: the mount alone begins with a log."""
    world = world_of()
    send(world)
    world.cut_service("par2", "lyo1", "replication")
    send(world, 2)
    mount(world, "lyo1")
    world.run(MINUTE)
    assert status(world, "par2")[:2] == ("passive", 1)
    assert world.shows("par2") == world.shows("lyo1")
    name_copy(world, "par1", "lyo1")
    send(world)
    world.run(MINUTE)
    assert len(world.shows("par2")) == 2
    assert world.shows("par2") == world.shows("lyo1")


def test_a_copy_that_went_another_way_is_told_from_one_that_is_only_behind() -> None:
    """It has fewer logs than the new one by now, but not the same."""
    world = world_of()
    send(world)
    world.cut_service("par2", "lyo1", "replication")
    send(world, 2)
    world.cut_service("lyo1", "par2", "replication")
    mount(world, "lyo1")
    name_copy(world, "par1", "lyo1")
    send(world, 4)
    world.cut_services.clear()
    world.run(MINUTE)
    assert len(world.shows("lyo1")) == 5
    assert world.shows("par2") == world.shows("lyo1")
    assert len(events(world, "copy-seeded", "lyo1")) == 1


def test_the_copy_before_is_told_by_its_own_server_too_and_takes_no_mail_from_then_on() -> None:
    world = world_of()
    mount(world, "lyo1")
    world.cut_service("lyo1", "par2", "replication")
    name_copy(world, "par2", "lyo1")
    assert status(world, "par2")[0] == "passive"
    send(world)
    assert world.shows("par2") == []


def test_a_copy_is_passive_as_soon_as_its_server_hears_of_another_one() -> None:
    world = world_of()
    name_copy(world, "par2", "lyo1")
    assert status(world, "par2") == ("passive", 1, 0)


def test_a_copy_before_that_cannot_be_told_is_told_when_it_ships() -> None:
    world = world_of()
    world.cut_service("lyo1", "par2", "replication")
    mount(world, "lyo1")
    send(world)
    assert status(world, "par2")[:2] == ("passive", 1)


def test_a_dismounted_copy_takes_nothing_ships_what_is_left_and_tells_its_last_log() -> None:
    world = world_of()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 3)
    (_, _, last) = world.of("DELIVER")
    reply = dismount(world, "par2")
    assert reply.lines == (f"2.0.0 3 {last.at_ms}",)
    send(world)
    assert world.shows("par2") == sent
    world.cut_services.clear()
    world.run(MINUTE)
    assert world.shows("lyo1") == sent
    assert dismount(world, "par2") == reply
    assert status(world, "par2") == ("dismounted", 0, 3)


def test_a_dismounted_copy_is_still_so_after_a_start_and_mounted_again_under_its_epoch() -> None:
    world = world_of()
    dismount(world, "par2")
    world.kill("par2")
    world.start("par2")
    send(world)
    assert status(world, "par2") == ("dismounted", 0, 0)
    assert mount(world, "par2", 0).code == 250
    world.run(2 * MINUTE)
    assert len(world.shows("par2")) == 1


def test_only_the_active_copy_is_dismounted_and_only_under_its_epoch() -> None:
    world = world_of()
    assert dismount(world, "par2", 1).code == 554
    assert dismount(world, "lyo1", 0).code == 554
    assert ask(world, "par1", lambda s: on.DismountAsked(s, "DB1", 0)).code == 550
    assert ask(world, "par1", lambda s: on.CopyStatusAsked(s, "DB1")).code == 550


def test_a_lagged_copy_replays_each_log_when_its_lag_is_over_also_after_a_start() -> None:
    world = world_of(lag="1h")
    first = send(world)
    world.run(30 * MINUTE)
    second = send(world)
    assert world.shows("lyo1") == []
    world.run(31 * MINUTE)
    assert world.shows("lyo1") == first
    world.kill("lyo1")
    world.start("lyo1")
    world.run(28 * MINUTE)
    assert world.shows("lyo1") == first
    world.run(2 * MINUTE)
    assert world.shows("lyo1") == first + second
    assert status(world, "lyo1") == ("passive", 0, 2)


def test_a_lagged_copy_that_is_mounted_lacks_its_lag() -> None:
    world = world_of(lag="1h")
    send(world, 2)
    world.run(30 * SECOND)
    reply = mount(world, "lyo1")
    assert reply.lines[0].split()[2:] == ["0", "0", "0"]
    world.run(2 * HOUR)
    assert world.shows("lyo1") == []
    assert world.shows("par2") == []
