"""What a message may have: MaxReceiveSize, a Message-Id that fits a line, MaxHopCount hops,
MaxRecipientsPerMessage and MaxRecipientEnvelopeLimit recipients, MaxSendSize.
"""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface.inputs import MessageOffered, OutboxRequested, RecipientOffered
from nodes.core.interface.replies import r250_queued_for_delivery
from nodes.core.model.message import Envelope, Header
from tests.nodes.core.world import MINUTE, OUTSIDE, USER1, USER2, World


def answer(
    size_bytes: int, message_id: str = "<m@outside.example>", hops: int = 0, **transport: str
) -> Any:
    """The reply to a message of that size and Message-Id, after so many hops."""
    world = World(TransportConfig=transport) if transport else World()
    session = world.connect("par1")
    envelope, header = Envelope("a@outside.example", (USER1,)), Header(message_id, None, "")
    world.hosts["par1"].bodies["in:1"] = header
    world.say("par1", MessageOffered(session, envelope, header, size_bytes, "in:1", hops))
    return world.hosts["par1"].replies[session][-1]


@pytest.mark.parametrize(("size_bytes", "code"), [(1024, 250), (1025, 552)])
def test_a_message_larger_than_max_receive_size_is_refused(size_bytes: int, code: int) -> None:
    assert answer(size_bytes, MaxReceiveSize="1KB").code == code


@pytest.mark.parametrize(("length", "code"), [(998, 250), (999, 552)])
def test_a_message_id_longer_than_a_line_is_refused(length: int, code: int) -> None:
    assert answer(100, "<" + "i" * (length - 2) + ">").code == code
    assert answer(100, "<" + r"\xff" * (length - 2) + ">").code == code


@pytest.mark.parametrize(("hops", "code"), [(60, 250), (61, 554)])
def test_a_message_that_more_servers_have_seen_than_max_hop_count_is_refused(
    hops: int, code: int
) -> None:
    assert answer(100, hops=hops).code == code


@pytest.mark.parametrize(("limit", "hops", "code"), [(2, 2, 250), (2, 3, 554), (0, 60, 250)])
def test_a_message_that_more_servers_of_ours_have_seen_than_max_local_hop_count_is_refused(
    limit: int, hops: int, code: int
) -> None:
    world = World(ReceiveConnector={"MaxLocalHopCount": limit})
    session, header = world.connect("par1"), Header("<m@outside.example>", None, "")
    world.hosts["par1"].bodies["in:1"] = header
    offered = MessageOffered(
        session, Envelope("a@outside.example", (USER1,)), header, 100, "in:1", hops, hops
    )
    world.say("par1", offered)
    assert world.hosts["par1"].replies[session][-1].code == code


def offered_recipients(peer: str | None, *, into_outbox: bool = False) -> list[int]:
    """What is said of three recipients of one message, of which two may be."""
    world = World(ReceiveConnector={"MaxRecipientsPerMessage": 2})
    session = world.connect("par2", peer)
    if into_outbox:
        world.say("par2", OutboxRequested(session, "DB1"))
    for taken in range(3):
        world.say("par2", RecipientOffered(session, USER1, taken))
    return [reply.code for reply in world.hosts["par2"].replies[session][-3:]]


def test_recipients_beyond_max_recipients_per_message_are_refused_for_now() -> None:
    assert offered_recipients(None) == [250, 250, 452]


def test_max_recipients_per_message_is_for_clients_of_the_receive_connector_alone() -> None:
    assert offered_recipients("par1") == [250, 250, 250]
    assert offered_recipients(None, into_outbox=True) == [250, 250, 250]


def given_up(world: World) -> list[str]:
    return [row.status for row in world.of("FAIL")]


@pytest.mark.parametrize(("limit", "status"), [(2, ""), (1, "550 5.5.3 RESOLVER.ADR.RecipLimit")])
def test_a_message_to_more_than_max_recipient_envelope_limit_is_given_up(
    limit: int, status: str
) -> None:
    world = World(TransportConfig={"MaxRecipientEnvelopeLimit": limit})
    world.send("par1", USER1, USER2, sender=USER1)
    world.run(MINUTE)
    assert given_up(world) == ([status] if status else [])
    assert len(world.of("DSN")) == len(given_up(world))
    assert len(world.mailboxes.get(USER2, [])) == (0 if status else 1)


@pytest.mark.parametrize(("sender", "is_ours"), [(USER1, True), ("a@partner.example", False)])
def test_what_a_mailbox_sends_beyond_max_send_size_is_given_up(sender: str, is_ours: bool) -> None:
    world = World(TransportConfig={"MaxSendSize": "1KB"})
    world.send("par1", USER2, sender=sender, size_bytes=1024)
    world.send("par1", USER2, sender=sender, size_bytes=1025, message_id="<large@x>")
    world.run(MINUTE)
    assert given_up(world) == ["550 5.2.3 RESOLVER.RST.SendSizeLimit.Org"] * is_ours
    assert len(world.mailboxes.get(USER2, [])) == (1 if is_ours else 2)


def test_a_loop_that_the_next_server_notices_is_told_to_the_sender() -> None:
    """Given up at once, however long it might still be tried (RFC 5321 section 6.3)."""
    world = World()
    world.refuse_with["ext1"] = (554, "5.4.6 Hop count exceeded - possible mail loop")
    world.send("par1", OUTSIDE, message_id="<loop@outside.example>")
    world.run(MINUTE)
    told = [row.event for row in world.rows if row.server == "par1"]
    assert told.index("FAIL") < told.index("DSN")


def test_what_came_without_a_message_id_has_the_same_one_on_every_server() -> None:
    world = World()
    session = world.connect("par1")
    header = Header("", None, "")
    world.hosts["par1"].bodies["in:1"] = header
    envelope = Envelope("a@outside.example", (USER1, USER2))
    world.say("par1", MessageOffered(session, envelope, header, 100, "in:1"))
    world.run(MINUTE)
    rows = {(row.server, row.event): row.message_id for row in world.rows}
    assert {event for _, event in rows} >= {"HARECEIVE", "RECEIVE", "SEND", "DELIVER"}
    (message_id,) = set(rows.values())
    assert message_id.endswith("@lab.example>")


def test_a_reply_shows_both_ends_of_a_long_message_id() -> None:
    (said,) = r250_queued_for_delivery("<" + "i" * 996 + ">", 1, "mbx1.example").lines
    assert said.startswith("2.6.0 <iii")
    assert "iii> [InternalId=1" in said
    assert "..." in said
    assert len(said) < 400
