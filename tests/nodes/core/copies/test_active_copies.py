"""A mailbox database fails over: what is on its way goes to the copy that is active now."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface import inputs as on
from tests.nodes.core.world import MINUTE, SERVERS, USER1, World


def name_copy(world: World, at: str, server: str = "lyo1", epoch: int = 1) -> Any:
    """Another server of the organisation names the active copy of DB1; the reply."""
    session = world.connect(at, next(name for name in SERVERS if name != at))
    return world.say(at, on.ActiveCopyNamed(session, "DB1", server, epoch))[-1]


def test_mail_goes_to_the_copy_that_is_active_now() -> None:
    world = World()
    for server in SERVERS:
        assert name_copy(world, server).code == 250
    world.send("par1", USER1)
    world.send("lyo1", USER1)
    assert [row.server for row in world.of("DELIVER")] == ["lyo1", "lyo1"]


def test_a_copy_that_is_not_active_any_more_refuses_and_the_message_goes_to_the_one_that_is() -> (
    None
):
    world = World()
    name_copy(world, "par2")
    name_copy(world, "lyo1")
    world.send("par1", USER1)
    assert world.of("DEFER")[0].context.startswith("432")
    assert world.of("DELIVER") == []
    name_copy(world, "par1")
    assert [row.server for row in world.of("DELIVER")] == ["lyo1"]


def test_a_delivery_announced_before_the_move_and_offered_after_it_is_refused() -> None:
    world = World()
    session = world.connect("par2", "par1")
    assert world.say("par2", on.DeliveryRequested(session, "DB1", "net-1"))[-1].code == 250
    name_copy(world, "par2")
    assert world.offer("par2", session, USER1)[-1].code == 432
    assert world.mailboxes == {}


def test_what_waited_for_a_dead_copy_is_sent_to_the_new_one_at_once() -> None:
    world = World()
    world.kill("par2")
    world.send("par1", USER1)
    world.run(30 * MINUTE)
    name_copy(world, "lyo1")
    named_ms = world.now_ms
    name_copy(world, "par1")
    assert world.of("DELIVER")[0].at_ms == named_ms


def in_flight(world: World) -> tuple[str, str]:
    """A message of par1 is in the mailbox at par2, the acknowledgement is under way: the session
    of par1 that waits for it, and the Message-Id.
    """
    world.send("par1", USER1)
    world.lose_reply_from = {"par2"}
    world.send("par1", USER1)
    message_id = world.of("RECEIVE")[-1].message_id
    (session,) = (s for s, (peer, _) in world.hosts["par1"].peers.items() if peer == "par2")
    assert len(world.mailboxes[USER1]) == 2
    return session, message_id


def test_an_acknowledgement_of_the_copy_before_is_worth_nothing() -> None:
    world = World()
    session, message_id = in_flight(world)
    world.lose_mailbox(USER1)
    name_copy(world, "lyo1")
    name_copy(world, "par1")
    assert USER1 not in world.mailboxes
    world.say("par1", on.TransmissionAnswered(session, 250, "2.6.0 Queued mail for delivery"))
    world.run(MINUTE)
    assert world.mailboxes[USER1] == [message_id]
    assert world.of("DELIVER", "lyo1")[0].message_id == message_id


def test_new_mail_does_not_wait_for_an_answer_of_the_copy_before() -> None:
    world = World()
    in_flight(world)
    name_copy(world, "lyo1")
    name_copy(world, "par1")
    world.send("par1", USER1)
    assert len(world.of("DELIVER", "lyo1")) == 1


def test_everything_brought_to_the_copy_before_was_acknowledged_before_the_time_in_the_answer() -> (
    None
):
    world = World()
    world.send("par1", USER1)
    (row,) = world.of("SEND", "par1")
    reply = name_copy(world, "par1")
    assert reply.lines == (f"2.0.0 {row.at_ms + 1}",)
    world.run(MINUTE)
    assert name_copy(world, "par1") == reply


def test_what_was_learnt_survives_a_restart() -> None:
    world = World()
    reply = name_copy(world, "par1")
    name_copy(world, "lyo1")
    world.kill("par1")
    world.start("par1")
    world.send("par1", USER1)
    assert [row.server for row in world.of("DELIVER")] == ["lyo1"]
    assert name_copy(world, "par1") == reply


def test_what_cannot_be_stored_is_not_learnt_and_can_be_said_again() -> None:
    world = World()
    world.hosts["par1"].disk.is_full = True
    assert name_copy(world, "par1").code == 451
    world.hosts["par1"].disk.is_full = False
    world.send("par1", USER1)
    assert [row.server for row in world.of("DELIVER")] == ["par2"]
    assert name_copy(world, "par1").code == 250


@pytest.mark.parametrize(
    ("server", "epoch", "code"),
    [("lyo2", 1, 554), ("lyo2", 0, 554), ("ext1", 3, 554), ("nobody", 3, 554), ("lyo2", 2, 250)],
)
def test_only_a_later_epoch_of_a_server_of_the_organisation_counts(
    server: str, epoch: int, code: int
) -> None:
    world = World()
    name_copy(world, "par1", "lyo1", 1)
    assert name_copy(world, "par1", server, epoch).code == code


def test_a_stranger_names_no_copy_and_nobody_names_one_of_a_database_that_is_not_there() -> None:
    world = World()
    session = world.connect("par1")
    asked = on.ActiveCopyNamed(session, "DB1", "lyo1", 1)
    assert world.say("par1", asked)[-1].lines[0].startswith("5.7.1")
    inside = world.connect("par1", "lyo2")
    assert world.say("par1", on.ActiveCopyNamed(inside, "DB9", "lyo1", 1))[-1].code == 550
    assert world.hosts["par1"].disk.copies == {}
