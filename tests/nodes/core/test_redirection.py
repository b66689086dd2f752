"""Redirect-Message: delivery queues are drained to another server, and shadow queues are not."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.delivery.delivery_queue import DeliveryQueue
from nodes.core.delivery.redirecting import Redirecting
from nodes.core.interface import inputs as on
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import (
    HOUR,
    MINUTE,
    OUTSIDE,
    SERVERS,
    START_MS,
    USER1,
    USER2,
    World,
)


def redirect(world: World, server: str = "par1", to: str = "lyo1") -> Any:
    """As an administrator who is logged in there asks for it; the reply."""
    session = world.connect(server, server)
    return world.say(server, on.RedirectRequested(session, to))[-1]


def waiting(*recipients: str, count: int = 1, cut: str = "refuse") -> World:
    """Mail waits at par1, which reaches neither the database nor the server outside."""
    world = World()
    for peer in ("par2", "lyo2", "ext1"):
        world.cut[("par1", peer)] = cut
    for _ in range(count):
        world.send("par1", *recipients)
    world.run(MINUTE // 2)
    assert not world.of("SEND", "par1")
    return world


def events(world: World, server: str = "par1") -> list[tuple[str, Any]]:
    said = [(event, fields) for name, event, fields in world.lifecycle if name == server]
    return [(e, f["count"]) for e, f in said if e.startswith("redirection-")]


def queued(world: World, server: str) -> int:
    return len(world.hosts[server].disk.messages)


def test_what_waits_goes_to_the_other_server_which_delivers_it() -> None:
    world = waiting(USER1, USER2, OUTSIDE, count=30)
    assert redirect(world).code == 250
    world.run(MINUTE)
    assert len(world.mailboxes[USER1]) == len(world.mailboxes[USER2]) == 30
    assert len(world.external) == 30
    sent = world.of("SEND", "par1")
    assert {row.custom["Fork"] for row in sent} == {"redirect:lyo1"}
    assert queued(world, "par1") == 0
    assert events(world) == [("redirection-begun", 90), ("redirection-completed", 90)]


def test_the_other_server_makes_it_redundant_anew_and_categorises_it() -> None:
    world = waiting(USER1)
    redirect(world)
    world.run(MINUTE)
    [taken] = world.of("RECEIVE", "lyo1")
    [made] = world.of("HAREDIRECT", "lyo1")
    assert world.rows.index(made) < world.rows.index(taken)
    [sent] = world.of("SEND", "lyo1")
    assert sent.custom["Fork"] == "database:DB1"


def test_the_shadow_message_of_what_was_redirected_is_let_go() -> None:
    world = waiting(USER1)
    assert len(world.of("HAREDIRECT", "par1")) == 1
    redirect(world)
    world.run(10 * MINUTE)
    assert {row.custom["PrimaryServer"] for row in world.of("HADISCARD")} == {"par1", "lyo1"}
    assert not any(host.disk.shadows for host in world.hosts.values())


def test_shadow_messages_stay_where_they_are() -> None:
    world = World()
    for peer in SERVERS:
        world.cut[("lyo1", peer)] = "refuse" if peer in ("par2", "lyo2") else ""
    world.cut.pop(("lyo1", "par1"))
    for _ in range(8):
        world.send("lyo1", USER1)
    holder = next(h for h in world.hosts.values() if h.disk.shadows)
    held = dict(holder.disk.shadows)
    other = next(name for name in SERVERS if name not in (holder.name, "lyo1"))
    assert redirect(world, holder.name, other).code == 250
    world.run(MINUTE // 2)
    assert holder.disk.shadows == held
    assert not world.of("SEND", holder.name)


def test_new_mail_is_refused_until_nothing_of_it_is_left() -> None:
    world = waiting(USER1)
    world.cut[("par1", "lyo1")] = "silent"
    redirect(world)
    said = world.send("par1", USER1)[-1]
    assert (said.code, said.lines) == (451, ("4.3.2 Service not active",))
    session = world.connect("par1", "lyo2")
    assert world.offer("par1", session, USER1)[-1].code == 451
    world.cut.pop(("par1", "lyo1"))
    world.run(30 * MINUTE)
    assert world.send("par1", USER1)[-1].code == 250


def test_shadow_messages_and_deliveries_into_mailboxes_are_taken_meanwhile() -> None:
    world = World()
    world.cut[("par2", "lyo2")] = "refuse"
    world.send("par2", USER2)
    world.cut[("par2", "lyo1")] = "silent"
    redirect(world, "par2", "lyo1")
    assert world.send("par2", USER1)[-1].code == 451
    world.send("par1", USER1)
    world.run(1000)
    assert len(world.mailboxes[USER1]) == 1
    assert world.hosts["par2"].disk.shadows or world.of("HARECEIVE")


def test_what_is_on_its_way_is_waited_for_and_then_redirected() -> None:
    world = World()
    world.cut[("par1", "par2")] = "silent"
    world.send("par1", USER1)
    redirect(world)
    assert world.send("par1", USER1)[-1].code == 451
    world.run(30 * MINUTE)
    [sent] = world.of("SEND", "par1")
    assert sent.custom["Fork"] == "redirect:lyo1"
    assert len(world.of("DEFER", "par1")) == 1
    assert events(world)[-1] == ("redirection-completed", 1)


@pytest.mark.parametrize("reason", ["out of reach", "refuses"])
def test_what_the_other_server_does_not_take_is_delivered_as_usual(reason: str) -> None:
    world = waiting(USER1, USER2, count=30)
    if reason == "refuses":
        world.refuse_with["lyo1"] = (451, "4.3.0 no")
    else:
        world.cut[("par1", "lyo1")] = "refuse"
    redirect(world)
    assert events(world) == [("redirection-begun", 60), ("redirection-given-up", 0)]
    assert world.of("DEFER", "par1")[-1].custom["Fork"] == "redirect:lyo1"
    world.heal()
    world.refuse_with.clear()
    world.run(30 * MINUTE)
    forks = [row.custom["Fork"] for row in world.of("SEND", "par1")]
    assert forks.count("redirect:lyo1") <= 1  # by a session that stood
    assert len(world.mailboxes[USER1]) == len(world.mailboxes[USER2]) == 30


def test_what_was_set_aside_is_redirected_too() -> None:
    """Its failure may have been its own, so it waited apart."""
    world = World()
    world.refuse_recipient[OUTSIDE] = (451, "4.2.0 later")
    other = "carol@partner.example"
    world.send("par1", OUTSIDE, other)
    world.run(1000)
    assert len(world.of("DEFER", "par1")) == 1
    world.refuse_recipient.clear()
    redirect(world)
    world.run(1000)
    assert [row.custom["Fork"] for row in world.of("SEND", "par1")][-1] == "redirect:lyo1"
    assert events(world)[-1] == ("redirection-completed", 1)


def test_what_expires_meanwhile_is_waited_for_no_longer() -> None:
    world = waiting(USER1)
    world.cut[("par1", "lyo1")] = "silent"
    world.run(2 * 24 * HOUR - 5 * MINUTE)
    redirect(world)
    world.run(HOUR)
    assert events(world)[-1][0] in ("redirection-completed", "redirection-given-up")
    assert world.send("par1", USER1)[-1].code == 250


def test_what_comes_into_a_new_queue_meanwhile_goes_there_too() -> None:
    """As a message that this server was making redundant when it was asked."""
    world = World()
    world.cut[("par1", "par2")] = "silent"
    world.send("par1", USER1)
    world.hosts["par1"].held_commits = []
    world.cut[("par1", "ext1")] = "refuse"
    world.send("par1", OUTSIDE)
    redirect(world, to="lyo2")
    [commit] = world.hosts["par1"].held_commits
    world.hosts["par1"].held_commits = None
    world.commit_now("par1", commit)
    world.run(1000)
    assert [row.custom["Fork"] for row in world.of("SEND", "par1")] == ["redirect:lyo2"]


def test_what_will_never_pass_is_given_up_and_not_redirected() -> None:
    queues: dict[NextHop, DeliveryQueue] = {}
    redirecting = Redirecting(queues)
    unreachable = NextHop(DeliveryType.UNREACHABLE, "ROUTING.SizeLimit")
    to = NextHop(DeliveryType.REDIRECTED, "lyo1")
    redirecting.begin(to, {(1, NextHop.into("DB1"))}, lambda redirected: None)
    assert redirecting.hop_of(NextHop.into("DB1")) == to
    assert redirecting.hop_of(unreachable) == unreachable


def test_after_a_restart_it_is_over_and_nothing_is_lost() -> None:
    world = waiting(USER1, count=3)
    world.cut[("par1", "lyo1")] = "silent"
    redirect(world)
    world.kill("par1")
    world.heal()
    world.start("par1")
    assert world.send("par1", USER1)[-1].code == 250
    world.run(30 * MINUTE)
    assert len(world.mailboxes[USER1]) == 4
    assert not any(row.custom["Fork"] == "redirect:lyo1" for row in world.of("SEND", "par1"))


def test_safety_net_does_not_give_back_what_another_server_delivers() -> None:
    world = waiting(USER1)
    redirect(world)
    world.run(MINUTE)
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", START_MS, world.now_ms)
    for server in SERVERS:
        session = world.connect(server, "lyo2")
        world.say(server, on.ResubmitRequested(session, demand))
    world.run(MINUTE)
    assert [row.server for row in world.of("RESUBMIT")] == ["lyo1"]


def test_nothing_to_redirect_is_over_at_once() -> None:
    world = World()
    assert redirect(world).code == 250
    assert events(world) == [("redirection-begun", 0), ("redirection-completed", 0)]
    assert world.send("par1", USER1)[-1].code == 250


@pytest.mark.parametrize("to", ["par1", "ext1", "nobody"])
def test_only_another_mailbox_server_can_be_named(to: str) -> None:
    assert redirect(World(), to=to).code == 550


def test_a_second_one_waits_for_the_first() -> None:
    world = waiting(USER1)
    world.cut[("par1", "lyo1")] = "silent"
    redirect(world)
    assert redirect(world, to="lyo2").code == 503


def test_strangers_redirect_nothing() -> None:
    world = waiting(USER1)
    session = world.connect("par1")
    assert world.say("par1", on.RedirectRequested(session, "lyo1"))[-1].code == 550
    assert events(world) == []
