"""An answer counts from when it was asked for, not from when it comes (SM-7, SM-16, SR-10)."""

from __future__ import annotations

from nodes.core.shadow.discard_questions import DiscardQuestions
from tests.nodes.core.world import MINUTE, SECOND, World

SHADOW_SERVERS = ("lyo1", "lyo2")


def asked_in_vain(world: World) -> None:
    """par1 has undelivered messages, shadowed in Lyon; both holders have asked, and the answers are
    under way.
    """
    world.cut[("par1", "par2")] = "refuse"
    for _ in range(4):
        world.send("par1")
    world.run(30 * SECOND)
    for server in SHADOW_SERVERS:
        world.stall(server, "par1")
    world.run(4 * MINUTE)


def back_with_a_new_queue_database(world: World) -> list[str]:
    """Ids of what par1 takes then."""
    world.kill("par1")
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    taken = [f"<new{number}@x>" for number in range(4)]
    for message_id in taken:
        world.send("par1", message_id=message_id)
    return taken


def stalled_world() -> World:
    """Heartbeats ask, and what they are answered is held back."""
    world = World(TransportConfig={"ShadowHeartbeatFrequency": "00:00:20"})
    asked_in_vain(world)
    return world


def test_a_late_answer_promotes_nothing_that_came_after_its_question() -> None:
    world = stalled_world()
    taken = back_with_a_new_queue_database(world)
    held_of = {r.message_id: r.server for r in world.of("HARECEIVE") if r.message_id in taken}
    assert held_of.keys() == set(taken)
    world.let_go()
    world.run(5 * MINUTE)
    assert not {row.message_id for row in world.of("RESUBMIT")} & set(taken)


def test_what_was_made_under_the_old_database_id_is_promoted_all_the_same() -> None:
    world = stalled_world()
    old = {row.message_id for row in world.of("HARECEIVE")}
    back_with_a_new_queue_database(world)
    world.let_go()
    world.run(MINUTE)
    assert {row.message_id for row in world.of("RESUBMIT")} == old


def test_a_late_answer_does_not_undo_what_a_later_question_was_answered() -> None:
    world = stalled_world()
    back_with_a_new_queue_database(world)
    world.stall_no_more()
    for server in SHADOW_SERVERS:
        for _ in range(4):  # one of these needs a session to par1, and asks in it first
            world.send(server)
        assert asked_since(world, server)
    world.let_go()
    for server in SHADOW_SERVERS:
        assert asked_since(world, server)


def asked_since(world: World, server: str) -> bool:
    contact = world.hosts[server].disk.contacts["par1"]
    return contact.database_id == world.hosts["par1"].disk.database_id


def test_an_answer_is_outdated_where_a_later_question_brought_another_database_id() -> None:
    questions = DiscardQuestions()
    early, late = questions.ask(0, 0), questions.ask(0, 0)
    assert not questions.hear(late, "new")
    assert questions.hear(early, "old")
    assert questions.database_id == "new"


def test_an_answer_that_overtakes_a_later_one_is_not_outdated() -> None:
    questions = DiscardQuestions()
    early, late = questions.ask(0, 0), questions.ask(0, 0)
    assert not questions.hear(early, "old")
    assert not questions.hear(late, "new")
    assert not questions.hear(questions.ask(0, 0), "new")
