"""What a message from outside may have: MaxReceiveSize, and a Message-Id that fits a line."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface.inputs import MessageOffered
from nodes.core.interface.replies import r250_queued_for_delivery
from nodes.core.model.message import Envelope, Header
from tests.nodes.core.world import USER1, World


def answer(size_bytes: int, message_id: str = "<m@outside.example>", **transport: str) -> Any:
    """The reply to a message of that size and Message-Id."""
    world = World(TransportConfig=transport) if transport else World()
    session = world.connect("par1")
    envelope, header = Envelope("a@outside.example", (USER1,)), Header(message_id, None, "")
    world.hosts["par1"].bodies["in:1"] = header
    world.say("par1", MessageOffered(session, envelope, header, size_bytes, "in:1"))
    return world.hosts["par1"].replies[session][-1]


@pytest.mark.parametrize(("size_bytes", "code"), [(1024, 250), (1025, 552)])
def test_a_message_larger_than_max_receive_size_is_refused(size_bytes: int, code: int) -> None:
    assert answer(size_bytes, MaxReceiveSize="1KB").code == code


@pytest.mark.parametrize(("length", "code"), [(998, 250), (999, 552)])
def test_a_message_id_longer_than_a_line_is_refused(length: int, code: int) -> None:
    assert answer(100, "<" + "i" * (length - 2) + ">").code == code


def test_a_reply_shows_both_ends_of_a_long_message_id() -> None:
    (said,) = r250_queued_for_delivery("<" + "i" * 996 + ">", 1, "mbx1.example").lines
    assert said.startswith("2.6.0 <iii")
    assert "iii> [InternalId=1" in said
    assert "..." in said
    assert len(said) < 400
