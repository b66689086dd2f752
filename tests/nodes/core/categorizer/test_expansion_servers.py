"""Groups that one server alone expands: their mail goes there as it is (RT-3)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.config.error import ConfigurationError
from nodes.core.config.groups import expansion_servers
from nodes.core.interface import inputs as on
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from nodes.core.routing.delivery_groups import servers_in_turn
from nodes.core.routing.routing import TOO_LARGE, next_hop
from tests.nodes.core.world import HOUR, MINUTE, START_MS, USER1, USER2, World, config

STAFF, LEADS = "staff@lab.example", "leads@lab.example"
EXPANDER = NextHop(DeliveryType.SERVER_LIST, "lyo1")


def groups_of(**groups: tuple[list[str], str | None]) -> list[dict[str, Any]]:
    return [
        {"Name": name, "Address": f"{name}@lab.example", "Members": members}
        | ({} if server is None else {"ExpansionServer": server})
        for name, (members, server) in groups.items()
    ]


def world_of(**groups: tuple[list[str], str | None]) -> World:
    return World(DistributionGroups=groups_of(**groups))


def expanded(world: World) -> list[tuple[str, str]]:
    return [(row.server, row.related) for row in world.of("EXPAND")]


def seen(world: World) -> dict[str, int]:
    return {who: len(found) for who, found in world.mailboxes.items()}


def resubmitted(world: World, server: str, primary: str) -> list[tuple[str, ...]]:
    """To whom its Shadow Safety Net gives back what it held for a primary server."""
    demand = ResubmitDemand(
        "am:1", SafetyNetSource.SHADOW, "DB1", START_MS, world.now_ms, primaries=(primary,)
    )
    session = world.connect(server, "lyo2")
    assert world.say(server, on.ResubmitRequested(session, demand))[-1].code == 250
    world.run(5 * MINUTE)
    return [row.recipients for row in world.of("RESUBMIT", server)]


def test_mail_for_a_group_is_expanded_at_its_expansion_server_alone() -> None:
    world = world_of(staff=([USER1, USER2], "lyo1"))
    assert world.send("par1", STAFF.upper())[-1].code == 250
    world.run(5 * MINUTE)
    assert seen(world) == {USER1: 1, USER2: 1}
    assert expanded(world) == [("lyo1", STAFF)]
    assert [row.recipients for row in world.of("SEND", "par1")] == [(STAFF,)]
    assert len({row.network_message_id for row in world.rows}) == 1


def test_the_expansion_server_expands_what_it_takes_itself() -> None:
    world = world_of(staff=([USER1], "lyo1"))
    world.send("lyo1", STAFF)
    world.run(5 * MINUTE)
    assert seen(world) == {USER1: 1}
    assert len(world.of("RECEIVE")) == 1


def test_it_makes_the_message_redundant_anew_before_it_says_250() -> None:
    """Within the boundary, too: the first shadow is let go once it has the message."""
    world = world_of(staff=([USER1], "lyo1"))
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    events = [(row.event, row.server) for row in world.rows]
    shadows = [row.server for row in world.of("HAREDIRECT")]
    assert shadows == ["par1", "lyo1"]
    assert events.index(("HAREDIRECT", "lyo1")) < events.index(("SEND", "par1"))
    assert [row.recipients for row in world.of("HARECEIVE")] == [(STAFF,), (STAFF,)]


def test_a_group_within_another_one_goes_on_to_its_own_expansion_server() -> None:
    world = world_of(staff=([USER1, LEADS], None), leads=([USER2, USER1], "lyo1"))
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    assert expanded(world) == [("par1", STAFF), ("lyo1", LEADS)]
    assert seen(world) == {USER1: 1, USER2: 1}
    assert [row.recipients for row in world.of("DUPLICATEDELIVER")] == [(USER1,)]


def test_mail_waits_for_an_expansion_server_that_is_away_in_its_site() -> None:
    world = world_of(staff=([USER1], "lyo1"))
    world.kill("lyo1")
    world.send("par1", STAFF)
    world.run(10 * MINUTE)
    assert not seen(world)
    assert next(row.server for row in world.of("DEFER")) == "lyo2"
    world.start("lyo1")
    world.run(HOUR)
    assert seen(world) == {USER1: 1}
    assert expanded(world) == [("lyo1", STAFF)]


def test_who_promotes_what_a_dead_expansion_server_took_expands_it_in_its_place() -> None:
    world = world_of(staff=([USER1], "lyo1"))
    world.isolate("par2")  # DB1 is there, so that the message waits
    world.send("lyo1", STAFF)
    (held,) = world.of("HARECEIVE")
    world.kill("lyo1")
    world.heal()
    world.run(4 * HOUR)
    assert [row.server for row in world.of("RESUBMIT")] == [held.server]
    assert expanded(world) == [("lyo1", STAFF), (held.server, STAFF)]
    assert seen(world) == {USER1: 1}


def test_who_promotes_what_never_reached_the_expansion_server_sends_it_there() -> None:
    world = world_of(staff=([USER1], "lyo1"))
    world.isolate("lyo1")
    world.send("par1", STAFF)
    world.run(MINUTE)
    holder = world.of("HARECEIVE")[0].server
    world.kill("par1")
    world.run(4 * HOUR)
    assert holder in [row.server for row in world.of("RESUBMIT")]
    assert not seen(world)
    world.heal()
    world.run(HOUR)
    assert {server for server, _ in expanded(world)} == {"lyo1"}
    assert seen(world) == {USER1: 1}


def test_safety_nets_give_back_what_it_delivered_and_not_what_was_sent_there() -> None:
    world = world_of(staff=([USER1], "lyo1"))
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    first, second = world.of("HARECEIVE")
    world.lose_mailbox(USER1)
    assert resubmitted(world, first.server, "par1") == []
    assert resubmitted(world, second.server, "lyo1") == [(USER1,)]
    assert seen(world) == {USER1: 1}


def test_the_way_to_an_expansion_server_is_a_delivery_group_of_one() -> None:
    known = config("par1", DistributionGroups=groups_of(staff=([USER1], "lyo1")))
    assert next_hop(known, STAFF) == EXPANDER
    assert servers_in_turn(known, EXPANDER, None) == ("lyo1", "lyo2")


def test_a_message_too_large_for_the_way_there_goes_nowhere() -> None:
    link = {"Sites": ["paris", "lyon"], "Cost": 10, "MaxMessageSize": "1MB"}
    groups = groups_of(staff=([USER1], "lyo1"))
    known = config("par1", DistributionGroups=groups, SiteLinks=[link])
    assert next_hop(known, STAFF, 2_000_000) == TOO_LARGE


def test_an_expansion_server_that_is_none_is_refused() -> None:
    entries = groups_of(staff=([USER1], "lyo11"))
    with pytest.raises(ConfigurationError, match=r"ExpansionServer: .*lyo11.*is no mailbox server"):
        expansion_servers(entries, ["lyo1", "par1"])
