"""How long a sender may stay (SR-6): absolute, idle, and never cutting off an answer that is being
made.
"""

from __future__ import annotations

from typing import Any

from nodes.core.interface.inputs import SessionActive
from tests.nodes.core.world import MINUTE, SECOND, USER1, World


def codes(world: World, session: str) -> list[int]:
    replies: list[Any] = world.hosts["par1"].replies[session]
    return [reply.code for reply in replies]


def test_a_sender_that_trickles_is_cut_when_its_time_is_up() -> None:
    world = World()
    session = world.connect("par1")
    for _ in range(10):
        world.run(MINUTE - SECOND)
        world.say("par1", SessionActive(session))
    assert codes(world, session) == []
    world.run(11 * SECOND)
    assert codes(world, session) == [421]


def test_a_sender_that_says_nothing_is_cut_after_the_inactivity_time_out() -> None:
    world = World()
    session = world.connect("par1")
    world.run(5 * MINUTE - SECOND)
    assert codes(world, session) == []
    world.run(2 * SECOND)
    assert codes(world, session) == [421]


def test_waiting_for_our_answer_is_not_the_clients_inactivity() -> None:
    world = World()
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "silent"
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.run(6 * MINUTE)
    assert codes(world, session) == [250]
    world.run(4 * MINUTE - SECOND)
    assert codes(world, session) == [250, 250]
    assert world.of("HAREDIRECTFAIL")[0].custom["Outcome"] == "accepted"


def test_with_rejection_on_silent_servers_the_451_goes_out_before_the_session_closes() -> None:
    world = World(TransportConfig={"RejectMessageOnShadowFailure": True})
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "silent"
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.run(11 * MINUTE)
    assert codes(world, session) == [250, 451, 421]


def test_a_sender_lost_after_its_shadow_was_made_finds_its_message_kept_and_delivered() -> None:
    world = World()
    world.hosts["par1"].held_commits = []
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.lose(world.hosts["par1"], session)
    world.settle()
    held = world.hosts["par1"].held_commits
    world.hosts["par1"].held_commits = None
    assert held is not None
    for number in held:
        world.commit_now("par1", number)
    assert len(world.mailboxes[USER1]) == 1
    assert codes(world, session) == [250]


def lost_while_shadow_servers_are_silent(world: World) -> None:
    for peer in ("lyo1", "lyo2", "par2"):
        world.cut[("par1", peer)] = "silent"
    session = world.connect("par1")
    world.offer("par1", session, USER1)
    world.run(MINUTE)
    world.lose(world.hosts["par1"], session)
    world.run(9 * MINUTE)
    world.cut.clear()
    world.run(12 * MINUTE)  # a delivery that hangs ends, and is tried again


def test_a_message_whose_sender_is_lost_before_the_attempts_have_failed_is_kept() -> None:
    world = World()
    lost_while_shadow_servers_are_silent(world)
    (failure,) = world.of("HAREDIRECTFAIL")
    assert failure.custom["Outcome"] == "accepted"
    assert len(world.mailboxes[USER1]) == 1


def test_nothing_is_kept_of_it_where_mail_without_a_shadow_is_to_be_rejected() -> None:
    world = World(TransportConfig={"RejectMessageOnShadowFailure": True})
    lost_while_shadow_servers_are_silent(world)
    (failure,) = world.of("HAREDIRECTFAIL")
    assert failure.custom["Outcome"] == "rejected"
    assert USER1 not in world.mailboxes
    assert not world.of("RECEIVE")
