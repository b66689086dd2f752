"""Mail to distribution groups, from end to end on a fake wire: expanded once by whoever answers for
it, and again by whoever takes it over.
"""

from __future__ import annotations

from typing import Any

from nodes.core.config.groups import DistributionGroup
from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import HOUR, MINUTE, OUTSIDE, START_MS, USER1, USER2, World

STAFF, LEADS = "staff@lab.example", "leads@lab.example"


def world_of(**groups: list[str]) -> World:
    entries = [
        {"Name": name, "Address": f"{name}@lab.example", "Members": members}
        for name, members in groups.items()
    ]
    return World(DistributionGroups=entries)


def expansions(world: World) -> list[tuple[str, str, tuple[str, ...]]]:
    events = ("EXPAND", "DUPLICATEEXPAND")
    return [(row.event, row.related, row.recipients) for row in world.rows if row.event in events]


def change(world: World, server: str, group: str, *members: str, at_start: bool = False) -> None:
    groups = (DistributionGroup(group, members),)
    world.say(server, on.DirectoryRead(groups, at_start))


def seen(world: World) -> dict[str, int]:
    return {who: len(found) for who, found in world.mailboxes.items()}


def test_a_message_to_a_group_reaches_its_members_and_is_acknowledged_once() -> None:
    world = world_of(staff=[USER1, USER2, OUTSIDE])
    assert world.send("par1", STAFF)[-1].code == 250
    world.run(5 * MINUTE)
    assert seen(world) == {USER1: 1, USER2: 1}
    assert [recipients for _, recipients in world.external] == [(OUTSIDE,)]
    assert expansions(world) == [("EXPAND", STAFF, (USER1, USER2, OUTSIDE))]


def test_the_envelope_and_the_shadow_name_the_group_and_the_forks_its_members() -> None:
    world = world_of(staff=[USER1, USER2])
    world.cut_both("par1", "par2")
    world.send("par1", STAFF)
    events = ("RECEIVE", "HAREDIRECT", "HARECEIVE")
    assert [row.recipients for e in events for row in world.of(e)] == [(STAFF,)] * 3
    (message,) = world.hosts["par1"].disk.messages.values()
    assert message.envelope.recipients == (STAFF,)
    assert sorted(who for fork in message.forks for who in fork.recipients) == [USER1, USER2]


def test_nested_groups_and_loops_end_and_nobody_gets_it_twice() -> None:
    world = world_of(staff=[USER1, LEADS], leads=[USER2, USER1, STAFF])
    world.send("par1", STAFF.upper())
    world.run(5 * MINUTE)
    assert seen(world) == {USER1: 1, USER2: 1}
    assert not world.of("DUPLICATEDELIVER")
    assert expansions(world) == [
        ("EXPAND", STAFF, (USER1, LEADS)),
        ("EXPAND", LEADS, (USER2, USER1, STAFF)),
        ("DUPLICATEEXPAND", LEADS, (USER1, STAFF)),
    ]


def test_who_is_named_himself_as_well_came_twice() -> None:
    world = world_of(staff=[USER1.upper(), USER2])
    world.send("par1", STAFF, USER1)
    assert ("DUPLICATEEXPAND", STAFF, (USER1,)) in expansions(world)
    assert seen(world) == {USER1: 1, USER2: 1}


def test_a_group_without_members_takes_mail_that_nobody_gets_and_no_report() -> None:
    world = world_of(staff=[])
    assert world.send("par1", STAFF)[-1].code == 250
    world.run(5 * MINUTE)
    assert not world.hosts["par1"].disk.messages
    assert not world.of("FAIL")
    assert not world.of("DSN")


def test_a_group_of_five_thousand_is_one_recipient_and_many_deliveries() -> None:
    many = [f"user{number:04d}@partner.example" for number in range(5000)]
    world = world_of(staff=[USER1, *many])
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    assert [len(recipients) for _, recipients in world.external] == [5000]
    assert [len(row.recipients) for row in world.of("EXPAND")] == [5001]
    assert [row.recipients for row in world.of("HARECEIVE")] == [(STAFF,)]


def test_a_server_goes_by_what_the_directory_says_now() -> None:
    world = world_of(staff=[USER1])
    change(world, "par1", STAFF, USER2)
    world.send("par1", STAFF)
    assert seen(world) == {USER2: 1}


def test_a_promoted_shadow_is_for_whoever_is_in_the_group_then() -> None:
    """SN-11: the second copy has the envelope as first received."""
    world = world_of(staff=[USER1])
    world.isolate("par2")  # DB1 is there, so that the message waits
    world.send("par1", STAFF)
    (held,) = world.of("HARECEIVE")
    for server in ("par2", "lyo1", "lyo2"):
        change(world, server, STAFF, USER2)
    world.kill("par1")
    world.run(4 * HOUR)
    assert [row.server for row in world.of("RESUBMIT")] == [held.server]
    assert seen(world) == {USER2: 1}
    assert expansions(world)[1:] == [("EXPAND", STAFF, (USER2,))]


def asked(world: World, server: str, source: SafetyNetSource, **more: Any) -> None:
    end_ms = world.now_ms
    demand = ResubmitDemand("am:1", source, "DB1", START_MS, end_ms, **more)
    session = world.connect(server, "lyo2")
    assert world.say(server, on.ResubmitRequested(session, demand))[-1].code == 250
    world.run(5 * MINUTE)


def test_a_primary_safety_net_resubmits_to_the_members_as_first_resolved() -> None:
    world = world_of(staff=[USER1])
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    world.lose_mailbox(USER1)
    change(world, "par1", STAFF, USER2)
    asked(world, "par1", SafetyNetSource.PRIMARY)
    assert seen(world) == {USER1: 1}
    assert len(expansions(world)) == 1


def test_a_shadow_safety_net_resubmits_to_the_members_of_now() -> None:
    """SN-11, in both directions: who joined gets it, and who left does not."""
    other = "db1-user02@lab.example"
    mailboxes = [{"Address": who, "Database": "DB1"} for who in (USER1, other)]
    groups = [{"Name": "staff", "Address": STAFF, "Members": [USER1]}]
    world = World(Mailboxes=mailboxes, DistributionGroups=groups)
    world.send("par1", STAFF)
    world.run(5 * MINUTE)
    (held,) = world.of("HARECEIVE")
    world.lose_mailbox(USER1)
    change(world, held.server, STAFF, other)
    asked(world, held.server, SafetyNetSource.SHADOW, primaries=("par1",))
    assert seen(world) == {other: 1}
    (row,) = world.of("RESUBMIT")
    assert row.recipients == (other,)
    assert expansions(world)[-1] == ("EXPAND", STAFF, (other,))


TARPIT = 5_000


def test_an_unknown_address_is_refused_late_and_a_group_is_not() -> None:
    world = world_of(staff=[USER1])
    session = world.connect("par1")
    assert world.say("par1", on.RecipientOffered(session, STAFF))[-1].code == 250
    world.say("par1", on.RecipientOffered(session, LEADS))
    world.run(TARPIT - 1)
    assert len(world.hosts["par1"].replies[session]) == 1
    world.run(1)
    assert world.hosts["par1"].replies[session][-1].code == 550
