"""Content conversion as a step of the categorizer: between recipient resolution and routing, once
by whoever answers for a message, and anew by whoever has it as first received (RT-7, SN-17).
"""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import (
    CONVERTED_BYTES,
    HOUR,
    MINUTE,
    SENT_BYTES,
    START_MS,
    USER1,
    USER2,
    World,
)

STAFF = "staff@lab.example"
BEFORE, AFTER = SENT_BYTES, CONVERTED_BYTES


def world_of(encoder: str = "UseQP", **sections: Any) -> World:
    groups = [{"Name": "staff", "Address": STAFF, "Members": [USER1, USER2]}]
    transport = {"ByteEncoderTypeFor7BitCharsets": encoder}
    return World(TransportConfig=transport, DistributionGroups=groups, **sections)


def sizes(world: World, *events: str) -> list[tuple[str, int]]:
    return [(row.event, row.size_bytes) for row in world.rows if row.event in events]


def test_it_is_converted_between_its_groups_and_its_way() -> None:
    world = world_of()
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    mine = [row for row in world.rows if row.server == "par1"]
    assert [(row.event, row.size_bytes) for row in mine] == [
        *(("HAREDIRECT", BEFORE), ("RECEIVE", BEFORE), ("EXPAND", BEFORE), ("TRANSFER", AFTER)),
        *(("SEND", AFTER), ("SEND", AFTER)),
    ]
    (transfer,) = world.of("TRANSFER")
    assert (transfer.source, transfer.context) == (
        "ROUTING",
        "ByteEncoderTypeFor7BitCharsets:UseQP",
    )
    assert sorted(transfer.recipients) == [USER1, USER2]


def test_the_shadow_message_is_as_first_received() -> None:
    world = world_of()
    world.send("par1", USER1)
    assert sizes(world, "HARECEIVE") == [("HARECEIVE", BEFORE)]


def test_nothing_is_measured_or_converted_unless_the_organisation_says_so() -> None:
    world = world_of("Use7Bit")
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    assert not world.measured
    assert not world.of("TRANSFER")
    assert {size for _, size in sizes(world, "RECEIVE", "SEND", "DELIVER")} == {BEFORE}


def held_at(world: World) -> str:
    """The server that holds the only shadow message, of mail that waits at par1."""
    world.isolate("par2")
    world.send("par1", USER1)
    (held,) = world.of("HARECEIVE")
    return held.server


def test_who_promotes_it_converts_it_anew() -> None:
    world = world_of()
    holder = held_at(world)
    world.kill("par1")
    world.run(4 * HOUR)
    made = [row for row in world.of("TRANSFER") if row.server == holder]
    assert sizes(world, "RESUBMIT") == [("RESUBMIT", BEFORE)]
    assert [row.size_bytes for row in made] == [AFTER]
    kept = world.hosts[holder].disk.messages.values()
    assert [message.size_bytes for message in kept] == [AFTER]


def test_a_promotion_whose_content_cannot_be_read_is_made_later() -> None:
    world = world_of()
    holder = world.hosts[held_at(world)]
    world.unread = 1
    world.kill("par1")
    world.run(4 * HOUR)
    assert not world.unread
    assert [row.server for row in world.of("RESUBMIT")] == [holder.name]
    assert not holder.disk.shadows


def test_a_message_whose_content_cannot_be_read_is_not_taken() -> None:
    world = world_of()
    world.unread = 1
    assert world.send("par1", USER1)[-1].code == 451
    assert not world.hosts["par1"].disk.messages


def asked(world: World, server: str, source: SafetyNetSource, **more: Any) -> None:
    demand = ResubmitDemand("am:1", source, "DB1", START_MS, world.now_ms, **more)
    session = world.connect(server, "lyo2")
    assert world.say(server, on.ResubmitRequested(session, demand))[-1].code == 250
    world.run(5 * MINUTE)


def test_a_primary_safety_net_gives_back_what_is_converted_already() -> None:
    world = world_of()
    world.send("par1", USER1)
    world.run(5 * MINUTE)
    asked(world, "par1", SafetyNetSource.PRIMARY)
    assert sizes(world, "RESUBMIT") == [("RESUBMIT", AFTER)]
    assert len(world.of("TRANSFER")) == 1


def test_what_a_shadow_safety_net_gives_back_is_converted_anew() -> None:
    world = world_of()
    world.send("par1", USER1)
    world.run(5 * MINUTE)
    (held,) = world.of("HARECEIVE")
    asked(world, held.server, SafetyNetSource.SHADOW, primaries=("par1",))
    assert sizes(world, "RESUBMIT") == [("RESUBMIT", BEFORE)]
    assert [row.server for row in world.of("TRANSFER")] == ["par1", held.server]
    assert len(world.measured) == 2


def test_a_resubmission_whose_content_cannot_be_read_is_made_later() -> None:
    world = world_of()
    world.send("par1", USER1)
    world.run(5 * MINUTE)
    (held,) = world.of("HARECEIVE")
    world.unread = 1
    asked(world, held.server, SafetyNetSource.SHADOW, primaries=("par1",))
    assert not world.unread
    assert len(world.of("RESUBMIT")) == 1


@pytest.mark.parametrize("limit", [BEFORE, AFTER])
def test_it_is_routed_by_the_size_that_it_has_then(limit: int) -> None:
    links = [{"Sites": ["paris", "lyon"], "Cost": 10, "MaxMessageSize": f"{limit}B"}]
    alone = {name: {"DatabaseAvailabilityGroup": None} for name in ("lyo1", "lyo2")}
    world = world_of(Policies=alone, SiteLinks=links)
    world.send("par1", USER2)
    world.run(5 * MINUTE)
    assert bool(world.of("FAIL")) == (limit < AFTER)


def test_what_comes_over_converted_is_left_as_it_is() -> None:
    alone = {name: {"DatabaseAvailabilityGroup": None} for name in ("lyo1", "lyo2")}
    world = world_of(Policies=alone)
    world.send("par1", USER2)
    world.run(5 * MINUTE)
    assert sizes(world, "RECEIVE") == [("RECEIVE", BEFORE), ("RECEIVE", AFTER)]
    assert [row.server for row in world.of("TRANSFER")] == ["par1"]
