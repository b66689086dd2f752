"""Active Manager: another copy becomes active, everybody knows, nothing is lost by it (TP-6)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.failover.safety_net_requests import SILENCE_MS
from nodes.core.interface import inputs as on
from nodes.core.model.failover import FailoverState
from tests.nodes.core.copies.copies import ask, events, mount, name_copy, status, world_of
from tests.nodes.core.world import (
    HOUR,
    MANAGER,
    MINUTE,
    SECOND,
    SERVERS,
    START_MS,
    USER1,
    ManagerHost,
    World,
)


def managed(*servers: str, **more: Any) -> World:
    world = world_of(*servers, managed=True, **more)
    world.run(20 * SECOND)
    return world


def send(world: World, count: int = 1, to: str = "par1") -> list[str]:
    before = len(world.of("RECEIVE"))
    for _ in range(count):
        world.send(to, USER1)
    return [row.message_id for row in world.of("RECEIVE")[before:]]


def failover(world: World, server: str | None = "lyo1", database: str = "DB1") -> Any:
    return ask(world, MANAGER, lambda s: on.FailoverRequested(s, database, server))


def switchover(world: World, server: str = "lyo1") -> Any:
    return ask(world, MANAGER, lambda s: on.SwitchoverRequested(s, "DB1", server))


def acknowledged(world: World) -> set[str]:
    return {row.message_id for row in world.of("RECEIVE")}


def resubmitted(world: World) -> list[str]:
    return [row.message_id for row in world.of("RESUBMIT") if row.source == "SAFETYNET"]


def assert_all_are_there_once(world: World, server: str) -> None:
    shown = world.shows(server)
    assert set(shown) == acknowledged(world)
    assert len(shown) == len(set(shown))


def test_what_a_lossy_failover_lost_is_brought_back_once() -> None:
    world = managed()
    sent = send(world, 2)
    world.cut_service("par2", "lyo1", "replication")
    sent += send(world, 3)
    assert world.shows("lyo1") == sent[:2]
    reply = failover(world)
    assert (reply.code, reply.lines) == (250, ("2.0.0 1 lyo1",))
    world.run(10 * MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    assert sorted(world.shows("lyo1")) == sorted(sent)
    assert set(sent[2:]) <= set(resubmitted(world))
    assert world.of("DSN") == []


def test_new_mail_goes_to_the_new_copy_from_every_server() -> None:
    world = managed()
    failover(world)
    world.run(SECOND)
    for server in SERVERS:
        send(world, 1, server)
    assert {row.server for row in world.of("DELIVER")} == {"lyo1"}


def test_a_failover_without_a_server_takes_the_copy_with_the_most_logs() -> None:
    world = managed("par2", "lyo1", "lyo2")
    world.cut_service("par2", "lyo1", "replication")
    send(world, 2)
    world.run(20 * SECOND)
    assert failover(world, None).lines == ("2.0.0 1 lyo2",)


def test_of_copies_with_as_many_logs_the_one_preferred_most() -> None:
    world = managed("par2", "lyo2", "lyo1")
    assert failover(world, None).lines == ("2.0.0 1 lyo2",)


def test_every_mailbox_server_is_asked_for_the_interval_and_no_other_database() -> None:
    world = managed()
    send(world)
    world.run(20 * MINUTE)
    failover(world)
    world.run(2 * MINUTE)
    for server in SERVERS:
        (request,) = world.hosts[server].disk.requests.values()
        demand = request.demand
        assert (demand.request_id, demand.destination) == ("DB1:1", "DB1")
        assert demand.end_ms == world.hosts[server].disk.copies["DB1"].learnt_ms
    (over,) = events(world, "failover-over")
    assert over["epoch"] == 1


def test_the_interval_begins_a_margin_before_the_last_log_and_not_before_the_database() -> None:
    world = managed()
    failover(world)
    world.run(2 * MINUTE)
    (early,) = world.hosts["par1"].disk.requests.values()
    assert early.demand.start_ms == START_MS
    world.run(HOUR)
    send(world)
    delivered_ms = world.of("DELIVER")[-1].at_ms
    world.run(MINUTE)
    failover(world, "par2")
    world.run(2 * MINUTE)
    request = world.hosts["par1"].disk.requests["DB1:2"]
    assert request.demand.start_ms == delivered_ms - 5 * MINUTE


def test_a_switchover_loses_nothing_and_asks_nobody() -> None:
    world = managed()
    sent = send(world, 2)
    assert switchover(world).lines == ("2.0.0 1 lyo1",)
    world.run(MINUTE)
    sent += send(world)
    assert world.shows("lyo1") == sent
    assert all(world.hosts[server].disk.requests == {} for server in SERVERS)
    assert [e["kind"] for e in events(world, "failover-over")] == ["switchover"]


def test_a_switchover_waits_for_the_logs_that_the_target_lacks() -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 3)
    switchover(world)
    world.run(20 * SECOND)
    assert status(world, "par2")[0] == "dismounted"
    world.heal()
    world.run(MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    assert world.shows("lyo1") == sent
    assert all(world.hosts[server].disk.requests == {} for server in SERVERS)


def test_a_switchover_that_cannot_be_done_is_given_up_and_the_copy_before_goes_on() -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 2)
    switchover(world)
    world.run(2 * MINUTE)
    assert events(world, "failover-given-up")[0]["reason"] == "lyo1 lacks logs"
    assert status(world, "par2") == ("active", 0, 2)
    sent += send(world)
    assert world.shows("par2") == sent


@pytest.mark.parametrize(
    ("database", "server", "code"),
    [("DB9", "lyo1", 550), ("DB2", "lyo1", 550), ("DB1", "lyo2", 550), ("DB1", "par2", 503)],
)
def test_what_cannot_be_meant_is_refused(database: str, server: str, code: int) -> None:
    assert failover(managed(), server, database).code == code


def test_a_second_failover_waits_until_the_first_has_mounted() -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    send(world)
    assert switchover(world).code == 250
    assert failover(world).code == 451


def test_a_stranger_asks_for_nothing_and_nobody_sends_mail() -> None:
    world = managed()
    session = world.connect(MANAGER)
    asked = on.FailoverRequested(session, "DB1", None)
    assert world.say(MANAGER, asked)[-1].lines[0].startswith("5.7.1")
    inside = world.connect(MANAGER, "par1")
    assert world.say(MANAGER, on.RecipientOffered(inside, USER1))[-1].code == 502
    assert world.say("par1", on.FailoverRequested("", "DB1", None)) == []


def test_a_target_that_was_asked_for_and_is_down_is_waited_for() -> None:
    world = managed()
    world.run(15 * SECOND)
    world.kill("lyo1")
    assert failover(world).code == 250
    world.run(5 * MINUTE)
    send(world)
    assert len(world.shows("par2")) == 1
    world.start("lyo1")
    world.run(5 * MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    assert_all_are_there_once(world, "lyo1")


def test_a_target_that_stays_away_is_given_up_and_the_copy_before_goes_on() -> None:
    world = managed()
    world.kill("lyo1")
    failover(world)
    world.run(30 * MINUTE)
    assert len(events(world, "failover-given-up")) == 1
    send(world)
    assert len(world.shows("par2")) == 1


def test_before_a_failover_that_was_given_up_is_tried_again_its_copies_are_seen_anew() -> None:
    """lyo1 knows of a later epoch and mounts under none before; par2 is found silent each time."""
    world = managed()
    name_copy(world, "lyo1", "par2", 99)
    world.kill("par2")
    world.run(10 * MINUTE)
    assert 10 < len(events(world, "failover-given-up")) < 25


def test_a_dead_server_gives_way_by_itself_and_all_is_there() -> None:
    world = managed()
    sent = send(world, 2)
    world.kill("par2")
    sent += send(world, 2)
    world.run(5 * MINUTE)
    (decided,) = events(world, "failover-decided")
    assert (decided["from"], decided["to"]) == ("par2", "lyo1")
    assert decided["cause"].startswith("silent")
    world.run(HOUR)
    assert sorted(world.shows("lyo1")) == sorted(sent)
    world.start("par2")
    world.run(20 * MINUTE)
    assert status(world, "par2")[:2] == ("passive", 1)
    assert_all_are_there_once(world, "par2")
    assert len(events(world, "failover-decided")) == 1


def test_a_server_that_is_back_in_time_keeps_its_copy() -> None:
    world = managed()
    world.kill("par2")
    world.run(8 * SECOND)
    world.start("par2")
    world.run(5 * MINUTE)
    assert events(world, "failover-decided") == []


def test_a_new_active_copy_whose_server_was_killed_is_mounted_again_under_its_epoch() -> None:
    world = managed()
    failover(world)
    world.run(MINUTE)
    world.kill("lyo1")
    world.start("lyo1")
    world.run(20 * SECOND)
    assert status(world, "lyo1")[:2] == ("active", 1)
    assert len(events(world, "failover-decided")) == 1


def test_a_blocked_copy_is_not_activated_by_itself_but_on_request() -> None:
    policies = {"lyo1": {"DatabaseCopyAutoActivationPolicy": "Blocked"}}
    world = managed(Policies=policies)
    world.kill("par2")
    world.run(5 * MINUTE)
    assert events(world, "failover-decided") == []
    assert len(events(world, "failover-impossible")) == 1
    assert failover(world).code == 250
    world.run(MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)


def test_a_copy_that_lacks_more_logs_than_the_dial_allows_is_not_activated_by_itself() -> None:
    for lost, code in ((6, 1), (7, 0)):
        world = managed()
        world.cut_service("par2", "lyo1", "replication")
        send(world, lost)
        world.run(20 * SECOND)
        world.kill("par2")
        world.run(5 * MINUTE)
        assert len(events(world, "failover-decided")) == code


@pytest.mark.parametrize(("lost", "decided"), [(6, 1), (7, 0)])
def test_how_many_logs_an_active_copy_had_outlives_a_restart(lost: int, decided: int) -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    send(world, lost)
    world.run(20 * SECOND)
    world.kill(MANAGER)
    world.kill("par2")
    world.start(MANAGER)
    world.run(5 * MINUTE)
    assert len(events(world, "failover-decided")) == decided


def test_of_a_copy_that_is_mounted_its_own_logs_count() -> None:
    """The copy before had more, which went with it."""
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    send(world, 20)
    world.run(20 * SECOND)
    assert records(world).databases[0].last_log == 20
    world.kill("par2")
    failover(world)
    while not events(world, "failover-mounted"):
        world.run(1)
    (mounted,) = events(world, "failover-mounted")
    assert mounted["to"] == "lyo1"
    assert records(world).databases[0].last_log < 20


def test_an_active_manager_that_is_cut_off_from_all_does_nothing() -> None:
    world = managed()
    world.isolate(MANAGER)
    sent = send(world)
    world.run(HOUR)
    assert events(world, "failover-decided") == []
    world.heal()
    world.run(HOUR)
    sent += send(world)
    assert world.shows("par2") == sent


def test_a_copy_that_lives_and_is_cut_off_from_active_manager_is_fenced_and_nothing_is_lost() -> (
    None
):
    """par1 is cut off too, and goes on delivering to par2."""
    world = managed()
    send(world)
    world.isolate("par1", "par2")
    send(world, 3)
    world.run(5 * MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    send(world, 3)
    assert len(world.shows("par2")) == 7
    send(world, 2, "lyo2")
    world.heal()
    world.run(HOUR)
    assert status(world, "par2")[:2] == ("passive", 1)
    assert_all_are_there_once(world, "lyo1")
    assert world.shows("par2") == world.shows("lyo1")


def test_a_copy_that_went_its_own_way_is_given_all_that_the_other_one_took_meanwhile() -> None:
    """Its last log is later than all that it lacks, and of another branch."""
    world = managed()
    send(world)
    world.isolate("par1", "par2")
    world.run(5 * MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    elsewhere = send(world, 2, "lyo2")
    assert set(elsewhere) <= set(world.shows("lyo1"))
    world.run(30 * MINUTE)
    send(world, 2)
    world.kill("lyo1")
    world.run(5 * MINUTE)
    world.heal()
    world.run(HOUR)
    assert status(world, "par2")[:2] == ("active", 2)
    assert_all_are_there_once(world, "par2")


def test_a_partition_of_a_day_loses_nothing_either() -> None:
    """Longer than the 12 h after which others stand in for par1."""
    world = managed()
    world.isolate("par1", "par2")
    for _ in range(26):
        send(world)
        world.run(HOUR)
    world.heal()
    world.run(2 * HOUR)
    assert_all_are_there_once(world, "lyo1")


def test_a_copy_found_active_under_a_later_epoch_is_taken_for_what_it_is() -> None:
    world = managed()
    send(world)
    mount(world, "lyo1", 3)
    world.run(10 * MINUTE)
    send(world)
    assert {row.server for row in world.of("DELIVER")[1:]} == {"lyo1"}
    assert events(world, "failover-mounted")[0]["epoch"] == 3


def test_a_silent_primary_is_stood_in_for_after_twelve_hours_counted_on_disk() -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 2)
    world.run(5 * MINUTE)
    world.kill("par1")
    failover(world)
    world.run(6 * HOUR)
    world.kill(MANAGER)
    world.run(HOUR)
    world.start(MANAGER)
    world.run(SILENCE_MS - 8 * HOUR)
    assert events(world, "safety-net-broadcast") == []
    assert world.shows("lyo1") == []
    world.run(2 * HOUR)
    (broadcast,) = events(world, "safety-net-broadcast")
    assert (broadcast["server"], broadcast["to"]) == ("par1", "lyo1,lyo2,par2")
    assert sorted(world.shows("lyo1")) == sorted(sent)


def test_a_primary_that_falls_silent_midway_is_asked_until_it_has_given_all() -> None:
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 3)
    failover(world)
    world.kill("par1")
    world.run(HOUR)
    world.start("par1")
    world.run(HOUR)
    assert sorted(world.shows("lyo1")) == sorted(sent)
    assert events(world, "safety-net-broadcast") == []
    assert len(events(world, "failover-over")) == 1


def test_a_primary_that_has_taken_it_on_and_then_falls_silent_is_stood_in_for() -> None:
    """What it had made of its copies by then reached nobody."""
    world = managed()
    world.cut_service("par2", "lyo1", "replication")
    sent = send(world, 3)
    world.run(5 * MINUTE)
    for other in ("par2", "lyo1", "lyo2"):
        world.cut[("par1", other)] = "refuse"
    failover(world)
    world.run(SECOND)
    (request,) = world.hosts["par1"].disk.requests.values()
    assert request.resubmitted == 3
    world.kill("par1")
    world.run(SILENCE_MS + HOUR)
    assert len(events(world, "safety-net-broadcast")) == 1
    assert sorted(world.shows("lyo1")) == sorted(sent)


def test_nobody_is_asked_for_longer_than_safety_nets_hold() -> None:
    world = managed()
    world.kill("par1")
    failover(world)
    world.run(5 * 24 * HOUR)
    assert [e["server"] for e in events(world, "safety-net-given-up")] == ["par1"]


def lossy(world: World) -> None:
    world.cut_service("par2", "lyo1", "replication")
    send(world, 3)
    world.run(20 * SECOND)


@pytest.mark.parametrize("killed", [MANAGER, "lyo1", "par2", "par1"])
@pytest.mark.parametrize("effects", range(0, 60, 3))
def test_whoever_is_killed_in_the_middle_of_a_failover_it_is_taken_up_again_once(
    killed: str, effects: int
) -> None:
    world = managed()
    send(world)
    lossy(world)
    world.hosts[killed].fuse = effects
    session = world.connect(MANAGER, "par1")
    world.say(MANAGER, on.FailoverRequested(session, "DB1", "lyo1"))
    world.run(20 * SECOND)
    come_back(world, killed)
    world.run(30 * MINUTE)
    known = records(world)
    server = known.databases[0].server
    assert status(world, server)[0] == "active"
    assert_all_are_there_once(world, server)
    again = [(r.server, r.context, r.custom["CopyInternalId"]) for r in world.of("RESUBMIT")]
    assert len(again) == len(set(again))
    asked = [sorted(world.hosts[server].disk.requests) for server in SERVERS]
    assert asked == [asked[0]] * len(SERVERS)
    assert bool(asked[0]) == bool(known.failovers)
    assert all(failover.state is FailoverState.OVER for failover in known.failovers)
    assert not known.askings


def come_back(world: World, killed: str) -> None:
    world.hosts[killed].fuse = None
    if world.hosts[killed].node is None:
        world.start(killed)


def records(world: World) -> on.ManagerOpened:
    """What Active Manager would find if it started now."""
    host = world.hosts[MANAGER]
    assert isinstance(host, ManagerHost)
    return host.manager.start(False)


@pytest.mark.parametrize("effects", range(0, 80, 3))
def test_an_active_manager_killed_in_a_switchover_finishes_it_or_gives_it_up(effects: int) -> None:
    world = managed()
    send(world, 2)
    world.hosts[MANAGER].fuse = effects
    switchover_if_it_lives(world)
    world.run(20 * SECOND)
    come_back(world, MANAGER)
    world.run(10 * MINUTE)
    send(world)
    world.run(10 * MINUTE)
    server = records(world).databases[0].server
    assert status(world, server)[0] == "active"
    assert_all_are_there_once(world, server)


def switchover_if_it_lives(world: World) -> None:
    session = world.connect(MANAGER, "par1")
    world.say(MANAGER, on.SwitchoverRequested(session, "DB1", "lyo1"))


def test_a_full_disk_of_active_manager_holds_a_failover_up_and_loses_nothing() -> None:
    world = managed()
    lossy(world)
    disk = world.hosts[MANAGER].disk
    disk.is_full = True
    assert failover(world).code == 451
    disk.is_full = False
    assert failover(world).code == 250
    disk.is_full = True
    world.run(MINUTE)
    disk.is_full = False
    world.run(30 * MINUTE)
    assert_all_are_there_once(world, "lyo1")
