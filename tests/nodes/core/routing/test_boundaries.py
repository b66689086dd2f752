"""Two boundaries, a DAG in Paris and servers in no DAG in Lyon: what crosses goes to a server there
as mail from outside, and is the next boundary's from then on (SR-1, SR-10, SR-12, SN-12).
"""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface import effects as fx
from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from nodes.core.routing.routing import next_hop
from tests.nodes.core.copies.copies import events as lifecycle
from tests.nodes.core.copies.copies import world_of
from tests.nodes.core.world import MANAGER, MINUTE, OUTSIDE, START_MS, USER1, USER2, World, config
from tests.nodes.next_hops import DAG1, DB1, DB2, LYON

NO_DAG = {"DatabaseAvailabilityGroup": None}
APART = {"lyo1": NO_DAG, "lyo2": NO_DAG}


def two_boundaries() -> World:
    """par1, par2 with DB1 in DAG1; lyo1, lyo2 with DB2 in the site lyon and no DAG."""
    return World(Policies=APART)


def events(world: World, server: str) -> list[str]:
    return [row.event for row in world.rows if row.server == server]


def test_a_recipient_in_another_boundary_is_reached_over_its_delivery_group() -> None:
    inside, outside = config("par1", Policies=APART), config("lyo1", Policies=APART)
    assert [next_hop(inside, user) for user in (USER1, USER2)] == [
        DB1,
        LYON,
    ]
    assert [next_hop(outside, user) for user in (USER1, USER2)] == [
        DAG1,
        DB2,
    ]


def test_mail_that_crosses_is_made_redundant_there_before_it_is_acknowledged() -> None:
    world = two_boundaries()
    world.send("par1", USER2)
    world.run(5 * MINUTE)
    assert [e for e in events(world, "lyo2") if e.startswith(("HAREDIRECT", "REC", "DEL"))] == [
        "HAREDIRECT",
        "RECEIVE",
        "DELIVER",
    ]
    assert events(world, "lyo1") == ["HARECEIVE", "HADISCARD"]
    order = [(row.server, row.event) for row in world.rows]
    assert order.index(("lyo1", "HARECEIVE")) < order.index(("par1", "SEND"))
    assert world.mailboxes[USER2]


def _ids(world: World, *, of: str) -> set[str]:
    return {row.network_message_id for row in world.rows if row.message_id == of}


def test_one_network_message_id_names_all_forks_and_shadows_across_boundaries() -> None:
    """TL-3; each server has an internal id of its own."""
    world = two_boundaries()
    world.send("par1", USER1, USER2, OUTSIDE, message_id="<to-both@x>")
    world.send("par1", USER2, message_id="<another@x>")
    world.run(5 * MINUTE)
    (both,), (other,) = _ids(world, of="<to-both@x>"), _ids(world, of="<another@x>")
    assert both != other
    assert len(world.of("RECEIVE", "lyo2")) == len(world.of("HARECEIVE", "lyo1")) == 2


def test_what_a_server_outside_is_sent_says_nothing_of_the_network_message_id() -> None:
    world, sent = two_boundaries(), []
    carry_out = world._carry_out

    def listen(host: Any, effect: Any) -> None:
        if isinstance(effect, fx.Transmit) and host.peers[effect.session][0] == "ext1":
            sent.append(effect.prologue)
        carry_out(host, effect)

    world._carry_out = listen  # type: ignore[method-assign]
    world.send("par1", OUTSIDE)
    world.run(MINUTE)
    assert sent == [None]


@pytest.mark.parametrize("peer", [None, MANAGER, "ext1"])
def test_nobody_but_a_mailbox_server_is_believed_a_network_message_id(peer: str | None) -> None:
    world = two_boundaries()
    session = world.connect("par1", peer)
    assert world.say("par1", on.ForkAnnounced(session, "net-7"))[-1].code == 550


@pytest.mark.parametrize("peer", ["par2", "lyo1"])
def test_a_network_message_id_is_announced_for_one_message_alone(peer: str) -> None:
    world = two_boundaries()
    session = world.connect("par1", peer)
    assert world.say("par1", on.ForkAnnounced(session, "net-7"))[-1].code == 250
    assert world.say("par1", on.ForkAnnounced(session, "net-8"))[-1].code == 503
    for name in ("<first@x>", "<second@x>"):
        world.offer("par1", session, USER1, message_id=name)
        world.run(MINUTE)
    assert _ids(world, of="<first@x>") == {"net-7"}
    assert "net-7" not in _ids(world, of="<second@x>")


def test_a_network_message_id_is_void_after_a_reset() -> None:
    world = two_boundaries()
    session = world.connect("par1", "lyo1")
    world.say("par1", on.ForkAnnounced(session, "net-7"))
    world.say("par1", on.TransactionReset(session))
    world.offer("par1", session, USER1, message_id="<first@x>")
    world.run(MINUTE)
    assert "net-7" not in _ids(world, of="<first@x>")


def test_a_fork_that_could_not_be_made_redundant_is_not_tried_again_after_a_restart() -> None:
    """It has the network message id of another server, and was promoted by nobody (SM-13)."""
    world = World(
        Policies=APART,
        Databases=[{"Name": "DB2", "Server": "lyo1"}],
        Mailboxes=[{"Address": USER2, "Database": "DB2"}],
    )
    for server in ("par1", "lyo2"):
        world.cut_both(server, "lyo1")
    world.send("par1", USER2)
    world.run(MINUTE)
    world.kill("lyo2")
    world.start("lyo2")
    world.run(MINUTE)
    assert "LOAD" in events(world, "lyo2")
    assert len(world.of("HAREDIRECTFAIL", "lyo2")) == 1


def test_the_boundary_left_discards_its_shadow_and_keeps_its_copy_in_safety_net() -> None:
    world = two_boundaries()
    world.send("par1", USER2)
    world.run(5 * MINUTE)
    assert world.of("HADISCARD", "par2")
    assert len(world.hosts["par1"].disk.kept) == 1
    assert world.of("SEND", "par1")[0].custom["Fork"] == "site:lyon"


def test_recipients_in_one_other_boundary_share_a_fork() -> None:
    user3 = "db3-user01@lab.example"
    homes = (("DB1", "par2", USER1), ("DB2", "lyo2", USER2), ("DB3", "lyo1", user3))
    databases = [{"Name": name, "Server": server} for name, server, _ in homes]
    boxes = [{"Address": user, "Database": name} for name, _, user in homes]
    world = World(Policies=APART, Databases=databases, Mailboxes=boxes)
    world.send("par1", USER1, USER2, user3)
    world.run(MINUTE)
    sent = [(row.custom["Fork"], row.recipients) for row in world.of("SEND", "par1")]
    assert sorted(sent) == [
        ("database:DB1", (USER1,)),
        ("site:lyon", (USER2, user3)),
    ]
    assert set(world.mailboxes) == {USER1, USER2, user3}


def test_another_server_of_the_boundary_takes_it_when_the_first_cannot_be_reached() -> None:
    world = two_boundaries()
    world.cut_both("par1", "lyo2")
    world.send("par1", USER2)
    world.run(MINUTE)
    assert world.of("RECEIVE", "lyo1")
    assert world.mailboxes[USER2]
    assert not world.of("DEFER", "par1")


def test_it_waits_where_no_server_of_the_boundary_can_be_reached() -> None:
    world = two_boundaries()
    world.cut_both("par1", "lyo1")
    world.cut_both("par1", "lyo2")
    world.send("par1", USER2)
    world.run(MINUTE)
    assert USER2 not in world.mailboxes
    world.heal()
    world.run(10 * MINUTE)
    assert len(world.mailboxes[USER2]) == 1


@pytest.mark.parametrize(
    "asked",
    [
        lambda session: on.DeliveryRequested(session, "DB2", "n1"),
        lambda session: on.ShadowRequested(session, "par1", "d1", 1, "n1", None),
    ],
)
def test_verbs_of_the_boundary_are_refused_to_a_server_of_another(asked: Any) -> None:
    world = two_boundaries()
    session = world.connect("lyo2", "par1")
    assert world.say("lyo2", asked(session))[-1].code == 550


def test_what_left_the_boundary_is_not_resubmitted_and_what_stayed_is() -> None:
    world = two_boundaries()
    world.send("par1", USER1, USER2, OUTSIDE, message_id="<mixed@x>")
    world.run(5 * MINUTE)
    for server in ("par1", "par2"):
        demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", START_MS, world.now_ms, ())
        session = world.connect(server, "par2")
        world.say(server, on.ResubmitRequested(session, demand))
    world.run(5 * MINUTE)
    assert [(row.server, row.recipients) for row in world.of("RESUBMIT")] == [("par1", (USER1,))]


@pytest.mark.parametrize("source", list(SafetyNetSource))
def test_a_safety_net_refuses_a_request_for_a_database_of_another_boundary(
    source: SafetyNetSource,
) -> None:
    world = two_boundaries()
    world.send("lyo1", USER1)
    world.run(5 * MINUTE)
    session = world.connect("lyo1", "par1")
    demand = ResubmitDemand("am:1", source, "DB1", START_MS, world.now_ms, ())
    assert world.say("lyo1", on.ResubmitRequested(session, demand))[-1].code == 550
    world.run(5 * MINUTE)
    assert not world.of("RESUBMIT")


def test_active_manager_says_nothing_to_servers_of_another_boundary() -> None:
    world = world_of("par1", "par2", managed=True, Policies=APART)
    said: set[str] = set()
    carry_out = world._carry_out

    def listen(host: Any, effect: Any) -> None:
        if host.name == MANAGER and isinstance(effect, fx.OpenSession):
            said.add(effect.peer)
        carry_out(host, effect)

    world._carry_out = listen  # type: ignore[method-assign]
    session = world.connect(MANAGER, "par1")
    world.say(MANAGER, on.FailoverRequested(session, "DB1", "par2"))
    world.run(30 * MINUTE)
    assert said == {"par1", "par2"}


def test_mail_for_a_copy_that_became_active_elsewhere_finds_it_from_another_boundary() -> None:
    world = world_of("par1", "par2", managed=True, Policies=APART)
    session = world.connect(MANAGER, "par1")
    world.run(MINUTE)
    world.say(MANAGER, on.FailoverRequested(session, "DB1", "par2"))
    world.run(MINUTE)
    world.send("lyo1", USER1, message_id="<later@x>")
    world.run(MINUTE)
    assert world.shows("par2") == ["<later@x>"]


def two_dags() -> World:
    """DB1 on par2 and par1 in DAG1, am1's; DB2 on lyo2 and lyo1 in DAG2."""
    copies = {"DB1": ("par2", "par1"), "DB2": ("lyo2", "lyo1")}
    databases = [
        {
            "Name": name,
            "Server": servers[0],
            "Copies": [
                {"Server": server, "ActivationPreference": number}
                for number, server in enumerate(servers, 1)
            ],
        }
        for name, servers in copies.items()
    ]
    dag2 = {"DatabaseAvailabilityGroup": "DAG2"}
    return World(managed=True, Databases=databases, Policies={"lyo1": dag2, "lyo2": dag2})


def test_active_manager_fails_over_databases_of_its_own_dag_alone() -> None:
    world = two_dags()
    world.run(MINUTE)
    for server in ("par2", "lyo2"):
        world.kill(server)
    world.run(10 * MINUTE)
    decided = lifecycle(world, "failover-decided")
    assert [(each["database"], each["to"]) for each in decided] == [("DB1", "par1")]
    assert {each["database"] for each in lifecycle(world, "copy-silent")} == {"DB1"}
    assert {each["server"] for each in lifecycle(world, "active-copy-told")} == {"par1"}


def test_active_manager_knows_no_database_of_another_dag() -> None:
    world = two_dags()
    session = world.connect(MANAGER, "par1")
    reply = world.say(MANAGER, on.SwitchoverRequested(session, "DB2", "lyo1"))[-1]
    assert (reply.code, lifecycle(world, "failover-decided")) == (550, [])
