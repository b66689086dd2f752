"""A server that comes anew has nothing; its copies are of no use until they are seeded (TP-8)."""

from __future__ import annotations

from nodes.core.interface import inputs as on
from tests.nodes.core.copies.copies import ask, events, mount, name_copy, status, world_of
from tests.nodes.core.copies.test_replication import send
from tests.nodes.core.world import MINUTE, World


def replaced(world: World, server: str) -> None:
    world.kill(server)
    world.hosts[server].new_server("DB1")
    world.start(server)


def test_a_new_passive_copy_is_seeded_without_any_new_mail() -> None:
    world = world_of()
    sent = send(world, 3)
    world.run(5 * MINUTE)
    replaced(world, "lyo1")
    world.run(MINUTE)
    assert world.shows("lyo1") == sent
    assert status(world, "lyo1") == ("passive", 0, 3)
    assert [row["state"] for row in events(world, "copy-opened", "lyo1")] == ["passive", "seeding"]
    assert events(world, "copy-seeded-here", "lyo1")[0]["last_log"] == 3


def test_a_new_copy_of_a_database_that_nobody_has_sent_to_is_seeded_too() -> None:
    world = world_of()
    replaced(world, "lyo1")
    world.run(MINUTE)
    assert status(world, "lyo1") == ("passive", 0, 0)


def test_a_new_server_of_the_first_copy_mounts_nothing() -> None:
    """At the start of the organisation it would."""
    world = world_of()
    send(world)
    replaced(world, "par2")
    assert status(world, "par2") == ("seeding", 0, 0)
    assert len(events(world, "database-mounted", "par2")) == 1


def test_a_copy_that_is_to_be_seeded_is_not_mounted() -> None:
    world = world_of()
    send(world, 2)
    world.cut_service("par2", "lyo1", "replication")
    replaced(world, "lyo1")
    refused = mount(world, "lyo1")
    assert (refused.code, "being seeded" in refused.lines[0]) == (451, True)


def test_it_stays_to_be_seeded_when_it_hears_of_a_later_epoch() -> None:
    world = world_of("par2", "lyo1", "lyo2")
    send(world, 2)
    for other in ("par2", "lyo2"):
        world.cut_service(other, "lyo1", "replication")
    replaced(world, "lyo1")
    name_copy(world, "lyo1", "lyo2", 1)
    assert status(world, "lyo1") == ("seeding", 1, 0)


def test_it_takes_no_log_before_its_seed_and_a_log_brings_the_seed() -> None:
    world = world_of()
    sent = send(world, 2)
    world.cut_service("lyo1", "par2", "replication")
    replaced(world, "lyo1")
    sent += send(world)
    assert world.shows("lyo1") == sent
    assert events(world, "copy-seeded", "par2")[0]["server"] == "lyo1"


def test_whoever_is_not_active_sends_no_seed_and_the_next_one_is_asked() -> None:
    world = world_of("par2", "lyo1", "lyo2")
    sent = send(world, 2)
    assert ask(world, "lyo2", lambda session: on.SeedAsked(session, "DB1"), "lyo1").code == 503
    assert ask(world, "par2", lambda session: on.SeedAsked(session, "DB1"), "par1").code == 550
    assert ask(world, "par1", lambda session: on.SeedAsked(session, "DB1"), "lyo1").code == 550
    mount(world, "lyo2")
    replaced(world, "lyo1")
    world.run(MINUTE)
    assert world.shows("lyo1") == sent


def test_active_manager_passes_over_a_copy_that_is_to_be_seeded() -> None:
    """Though it is preferred, and as no mail has come it lacks no log."""
    world = world_of("par2", "lyo1", "lyo2", managed=True)
    for other in ("par2", "lyo2"):
        world.cut_service(other, "lyo1", "replication")
    replaced(world, "lyo1")
    world.run(MINUTE)
    world.kill("par2")
    world.run(5 * MINUTE)
    assert [row["to"] for row in events(world, "failover-decided")] == ["lyo2"]


def test_a_new_server_of_an_active_copy_gives_way_to_another_one_and_is_seeded_from_it() -> None:
    world = world_of("par2", "lyo1", managed=True)
    sent = send(world, 3)
    world.run(MINUTE)
    replaced(world, "par2")
    world.run(5 * MINUTE)
    assert [row["to"] for row in events(world, "failover-decided")] == ["lyo1"]
    assert status(world, "par2")[0] == "passive"
    assert world.shows("par2") == sent
