"""What a kill leaves half done is gone on with after the restart, and waits for nobody."""

from __future__ import annotations

import pytest

from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import HOUR, MINUTE, SECOND, START_MS, USER1, World

COUNT = 120  # more than two pages of a promotion
FAILED = "shadow-heartbeat-failed"


def held_at_one_server(world: World) -> str:
    """Messages that par1 cannot deliver; their holder, the only one that could be found."""
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    for _ in range(COUNT):
        world.send("par1")
    world.run(3 * MINUTE)
    return world.of("HARECEIVE")[0].server


def lost_its_queue_database(world: World, server: str) -> None:
    world.kill(server)
    world.hosts[server].new_queue_database()
    world.start(server)


@pytest.mark.parametrize("effects", range(4, 20))
def test_a_promotion_under_way_is_gone_on_with_though_the_primary_is_out_of_reach(
    effects: int,
) -> None:
    world = World()
    holder = held_at_one_server(world)
    lost_its_queue_database(world, "par1")
    world.hosts[holder].fuse = effects
    world.run(2 * MINUTE)
    world.hosts[holder].fuse = None
    world.kill("par1")
    contact = world.hosts[holder].disk.contacts["par1"]
    knows = contact.database_id == world.hosts["par1"].disk.database_id
    if world.hosts[holder].node is None:
        world.start(holder)
    world.run(SECOND)
    held = [key for key in world.hosts[holder].disk.shadows if key.primary == "par1"]
    assert len(held) == (0 if knows else COUNT)


def test_a_promotion_that_the_disk_refused_is_tried_again_though_the_primary_is_out_of_reach() -> (
    None
):
    world = World()
    holder = held_at_one_server(world)
    lost_its_queue_database(world, "par1")
    disk, commits = world.hosts[holder], []
    refuse = disk.commit

    def commit(number: int, changes: tuple[object, ...]) -> object:
        commits.append(number)
        disk.disk.is_full = len(commits) == 2  # the contact is written, a page is not
        return refuse(number, changes)

    disk.commit = commit  # type: ignore[assignment, method-assign]
    world.run(2 * MINUTE)
    world.kill("par1")
    world.run(2 * MINUTE)
    assert not world.hosts[holder].disk.shadows


def test_nothing_is_promoted_after_a_restart_that_came_later_than_the_last_question() -> None:
    """The contact on disk says which database id the primary had; not what it has since."""
    world = World()
    holder = held_at_one_server(world)
    lost_its_queue_database(world, "par1")
    world.cut[(holder, "par1")] = "refuse"
    for _ in range(5):
        world.send("par1")
    world.kill(holder)
    world.start(holder)
    world.run(HOUR)
    assert not world.of("RESUBMIT")


def test_a_span_that_runs_out_on_a_full_disk_is_an_attempt_a_minute_and_promotes_with_room() -> (
    None
):
    world = World()
    holder = held_at_one_server(world)
    world.kill("par1")
    world.hosts[holder].disk.is_full = True
    world.run(4 * HOUR)
    failed = [f for name, event, f in world.lifecycle if (name, event) == (holder, FAILED)]
    assert len(failed) <= 5 * 60
    world.hosts[holder].disk.is_full = False
    world.run(2 * MINUTE)
    assert len(world.of("RESUBMIT")) == COUNT


def went_out_bare(world: World, server: str) -> list[str]:
    """Promoted or resubmitted messages that this server delivered, and of which its log does not
    say what became of their redundancy.
    """
    named = {r.message_id for e in ("HAREDIRECT", "HAREDIRECTFAIL") for r in world.of(e, server)}
    anew = {r.message_id for r in world.of("RESUBMIT", server)}
    anew |= {r.message_id for r in world.of("LOAD", server) if r.context == "delivery"}
    sent = {r.message_id for e in ("SEND", "DELIVER") for r in world.of(e, server)}
    return sorted((anew & sent) - named)


@pytest.mark.parametrize("effects", range(4, 60, 4))
def test_a_promoted_message_is_made_redundant_before_it_goes_out_after_a_restart_too(
    effects: int,
) -> None:
    world = World()
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    for _ in range(3):
        world.send("par1")
    lost_its_queue_database(world, "par1")
    world.hosts["lyo1"].fuse = effects
    world.run(3 * MINUTE)
    world.hosts["lyo1"].fuse = None
    if world.hosts["lyo1"].node is None:
        world.start("lyo1")
    world.run(15 * MINUTE)
    assert len(world.mailboxes[USER1]) == 3
    assert not went_out_bare(world, "lyo1")


@pytest.mark.parametrize("effects", range(2, 40, 3))
def test_a_resubmitted_message_is_made_redundant_before_it_goes_out_after_a_restart_too(
    effects: int,
) -> None:
    world = World()
    for _ in range(3):
        world.send("par1")
    world.run(3 * MINUTE)
    world.rows.clear()
    world.lose_mailbox(USER1)
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", START_MS, world.now_ms)
    session = world.connect("par1", "lyo1")
    world.hosts["par1"].fuse = effects
    world.say("par1", on.ResubmitRequested(session, demand))
    world.hosts["par1"].fuse = None
    if world.hosts["par1"].node is None:
        world.start("par1")
        session = world.connect("par1", "lyo1")
        world.say("par1", on.ResubmitRequested(session, demand))
    world.run(15 * MINUTE)
    assert len(world.mailboxes[USER1]) == 3
    assert not went_out_bare(world, "par1")


def test_a_message_that_is_sent_anew_after_a_restart_grows_old_from_when_it_was_taken() -> None:
    world = World(TransportService={"MessageExpirationTimeout": "06:00:00"})
    world.cut[("lyo1", "par2")] = "refuse"
    world.cut[("par1", "par2")] = world.cut[("par1", "lyo2")] = "refuse"
    world.send("par1")
    for peer in ("lyo2", "par1"):
        world.cut[("lyo1", peer)] = "refuse"
    world.run(3 * HOUR + 10 * MINUTE)
    (promoted,) = world.of("RESUBMIT", "lyo1")
    world.run(5 * HOUR)
    world.kill("lyo1")
    world.start("lyo1")
    world.run(promoted.at_ms + 6 * HOUR + 2 * MINUTE - world.now_ms)
    assert len(world.of("FAIL", "lyo1")) == 1
