"""Mail from an Outbox: durable there, then Transport's, then gone from there (SR-8, SR-15)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface import inputs as on
from nodes.core.model.message import Envelope, Header
from nodes.store.mailbox import outbox
from tests.nodes.core.copies.copies import ask, world_of
from tests.nodes.core.world import MANAGER, MINUTE, OUTSIDE, SECOND, USER1, USER2, World

SERVER, DATABASE = "par2", "DB1"
REJECTS = {"RejectMessageOnShadowFailure": True}


def submit(
    world: World,
    *recipients: str,
    sender: str = USER1,
    server: str = SERVER,
    message_id: str = "<m@x>",
) -> list[Any]:
    """As a client does; the replies so far."""
    session, host = world.connect(server), world.hosts[server]
    if world.say(server, on.OutboxRequested(session, DATABASE))[-1].code != 250:
        return host.replies[session]
    body, header = f"in:{session}", Header(message_id, world.now_ms, "hello")
    host.bodies[body], host.contents[body] = header, b"content"
    envelope = Envelope(sender, recipients or (USER2,))
    return world.say(server, on.MessageOffered(session, envelope, header, 7, body))


def waiting(world: World) -> list[str]:
    """Message-Ids in the Outbox of the database."""
    database = world.hosts[SERVER].database(DATABASE)
    return [item.header.message_id for item in outbox.items(database.connection)]


def cut_off(world: World) -> None:
    for peer in world.hosts:
        world.cut[(SERVER, peer)] = "refuse"


def events(world: World) -> list[str]:
    return [row.event for row in world.rows if row.server == SERVER and row.message_id == "<m@x>"]


def test_an_item_is_made_redundant_submitted_and_leaves_the_outbox() -> None:
    world = World()
    assert submit(world, USER2, OUTSIDE)[-1].code == 250
    world.run(MINUTE)
    assert events(world)[:4] == ["NOTIFYMAPI", "HAREDIRECT", "RECEIVE", "SUBMIT"]
    assert waiting(world) == []
    assert world.mailboxes[USER2] == ["<m@x>"]
    assert world.external == [("<m@x>", (OUTSIDE,))]


def test_what_is_rejected_stays_in_the_outbox_and_is_tried_again() -> None:
    world = World(TransportConfig=REJECTS)
    cut_off(world)
    assert submit(world)[-1].code == 250
    world.run(3 * MINUTE)
    assert waiting(world) == ["<m@x>"]
    assert events(world).count("SUBMITDEFER") >= 2
    assert "SUBMIT" not in events(world)
    world.cut.clear()
    world.run(2 * MINUTE)
    assert waiting(world) == []
    assert events(world).count("SUBMIT") == 1
    assert world.mailboxes[USER2] == ["<m@x>"]


def test_without_rejection_it_is_submitted_unprotected() -> None:
    world = World()
    cut_off(world)
    submit(world)
    world.run(MINUTE)
    assert events(world)[:4] == ["NOTIFYMAPI", "HAREDIRECTFAIL", "RECEIVE", "SUBMIT"]


def test_no_more_items_are_submitted_at_a_time_than_max_concurrent_mailbox_submissions() -> None:
    """The others follow in their turn, when Transport has answered."""
    world = World(TransportService={"MaxConcurrentMailboxSubmissions": 2})
    for peer in world.hosts:
        world.cut[(SERVER, peer)] = "silent"
    for number in range(5):
        submit(world, message_id=f"<m{number}@x>")
    offered = [row.message_id for row in world.of("NOTIFYMAPI", SERVER)]
    assert len(offered) == 5
    world.run(25 * MINUTE)
    tried = world.of("HAREDIRECTFAIL", SERVER)
    assert [row.message_id for row in tried[:2]] == offered[:2]
    assert tried[1].at_ms < tried[2].at_ms
    world.cut.clear()
    world.run(15 * MINUTE)
    submitted = [row.message_id for row in world.of("SUBMIT", SERVER)]
    assert sorted(submitted) == sorted(offered)
    assert waiting(world) == []


def test_a_server_that_starts_goes_on_with_its_outbox() -> None:
    world = World(TransportConfig=REJECTS)
    cut_off(world)
    submit(world)
    world.run(MINUTE // 2)
    world.kill(SERVER)
    world.cut.clear()
    world.start(SERVER)
    world.run(MINUTE // 2)
    assert waiting(world) == []
    assert world.mailboxes[USER2] == ["<m@x>"]


def test_a_database_that_is_not_active_here_has_no_outbox_here() -> None:
    world = World()
    [reply] = submit(world, server="par1")
    assert reply.code == 432


@pytest.mark.parametrize("sender", [USER2, "alice@partner.example", ""])
def test_whose_mailbox_it_is_not_may_not_submit_from_it(sender: str) -> None:
    world = World()
    assert submit(world, sender=sender)[-1].code == 550
    assert waiting(world) == []


def test_a_message_without_message_id_has_one_of_its_own_from_the_outbox_on() -> None:
    world = World()
    submit(world, message_id="")
    world.run(MINUTE)
    [shown] = world.mailboxes[USER2]
    assert shown.startswith("<")
    assert len({row.message_id for row in world.of("NOTIFYMAPI") + world.of("SUBMIT")}) == 1


def test_what_another_copys_server_submitted_meanwhile_is_tried_here_no_more() -> None:
    """The copy is active elsewhere and here again, all within the wait of what was put off."""
    world = world_of(SERVER, "lyo1", managed=True, TransportConfig=REJECTS)
    world.run(20 * SECOND)
    for peer in ("par1", "lyo1", "lyo2"):
        world.cut_service(SERVER, peer, "smtp")
    submit(world)
    for server in ("lyo1", SERVER):
        asked = ask(world, MANAGER, lambda s, to=server: on.SwitchoverRequested(s, DATABASE, to))
        assert asked.code == 250
        world.run(5 * SECOND)
    assert [row.server for row in world.of("SUBMIT")] == ["lyo1"]
    world.run(10 * MINUTE)
    assert events(world).count("SUBMITDEFER") == 1
    assert waiting(world) == []
