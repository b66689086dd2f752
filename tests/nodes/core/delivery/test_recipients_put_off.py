"""A next hop takes some recipients of a message and puts off others: those it took have their end,
those it put off are the only ones that it is asked to take again (RFC 5321 section 4.5.4.1).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from nodes.core.model.message import ForkState, PrimaryMessage
from tests.nodes.core.world import HOUR, MINUTE, USER1, Row, World

ANNE, BOB, CARL = (f"{name}@partner.example" for name in ("anne", "bob", "carl"))
ALL = (ANNE, BOB, CARL)
BUSY, NOBODY = (451, "4.2.1 mailbox busy"), (550, "5.1.1 who?")
MESSAGE = "<one@x>"
DAY = 24 * HOUR


def offered(said: dict[str, tuple[int, str]], **sections: Any) -> World:
    """One message for all three, while the server outside says that."""
    world = World(**sections)
    world.refuse_recipient = dict(said)
    world.send("par1", *ALL, message_id=MESSAGE)
    return world


def got(world: World) -> dict[str, int]:
    """How many copies each recipient outside has."""
    everybody = [r for message_id, rs in world.external if message_id == MESSAGE for r in rs]
    return {recipient: everybody.count(recipient) for recipient in everybody}


def rows(world: World, event: str) -> list[Row]:
    return [row for row in world.of(event) if row.message_id == MESSAGE]


def queued(world: World) -> list[tuple[str, ...]]:
    """Recipients that wait, as the disk has it."""
    messages = world.hosts["par1"].disk.messages.values()
    return [f.recipients for m in messages for f in m.forks if f.state is ForkState.QUEUED]


def kept(world: World) -> list[PrimaryMessage]:
    kept = world.hosts["par1"].disk.kept.values()
    return [message for message in kept if message.header.message_id == MESSAGE]


def restarts(world: World) -> None:
    world.kill("par1")
    world.start("par1")


@pytest.mark.parametrize("again", [False, True], ids=["same life", "after a kill"])
def test_only_the_recipient_that_was_put_off_is_tried_again(again: bool) -> None:
    world = offered({BOB: BUSY})
    assert queued(world) == [(BOB,)]
    if again:
        restarts(world)
    world.run(30 * MINUTE)
    assert got(world) == {ANNE: 1, CARL: 1}
    world.refuse_recipient.clear()
    world.run(30 * MINUTE)
    assert got(world) == {ANNE: 1, BOB: 1, CARL: 1}
    assert [row.recipients for row in rows(world, "SEND")] == [(ANNE, CARL), (BOB,)]
    assert {row.recipients for row in rows(world, "DEFER")} == {(BOB,)}
    assert rows(world, "DEFER")[0].context == "451 4.2.1 mailbox busy"


def test_who_was_refused_for_good_is_reported_at_once_and_not_tried_again() -> None:
    world = offered({ANNE: NOBODY, BOB: BUSY})
    assert [(row.recipients, row.server) for row in rows(world, "FAIL")] == [((ANNE,), "par1")]
    assert len(world.of("DSN")) == 1
    world.refuse_recipient.clear()
    world.run(HOUR)
    assert got(world) == {BOB: 1, CARL: 1}
    assert len(world.of("DSN")) == 1
    (message,) = kept(world)
    assert [(f.recipients, f.state) for f in message.forks] == [
        ((BOB,), ForkState.DONE),
        ((ANNE,), ForkState.EXPIRED),
        ((CARL,), ForkState.DONE),
    ]


@pytest.mark.parametrize("again", [False, True], ids=["same life", "after a kill"])
def test_the_shadow_is_released_when_the_last_recipient_is_done_and_no_sooner(again: bool) -> None:
    world = offered({BOB: BUSY})
    if again:
        restarts(world)
    world.run(30 * MINUTE)
    assert not rows(world, "HADISCARD")
    world.refuse_recipient.clear()
    world.run(30 * MINUTE)
    (row,) = rows(world, "HADISCARD")
    (notified,) = world.hosts[row.server].disk.kept_shadows.values()
    (message,) = kept(world)
    times = sorted(fork.done_ms or 0 for fork in message.forks)
    shadow, delivered_ms = notified
    assert delivered_ms == times[-1]
    assert world.hosts[row.server].disk.first_delivered[shadow.internal_id] == times[0]
    assert times[1] - times[0] >= 30 * MINUTE


@pytest.mark.parametrize("again", [False, True], ids=["same life", "after a kill"])
def test_only_the_recipient_that_waited_expires(again: bool) -> None:
    """With a DSN about it alone; the message is delivered, and goes to the Safety Net."""
    world = offered({BOB: BUSY})
    if again:
        restarts(world)
    world.run(2 * DAY + HOUR)
    assert [row.recipients for row in rows(world, "FAIL")] == [(BOB,)]
    assert [row.context for row in world.of("DSN")] == ["delayed", ""]
    (message,) = kept(world)
    assert [(f.recipients, f.state) for f in message.forks] == [
        ((BOB,), ForkState.EXPIRED),
        ((ANNE, CARL), ForkState.DONE),
    ]
    assert got(world) == {ANNE: 1, CARL: 1}
    assert len(rows(world, "HADISCARD")) == 1


def test_a_promoted_message_goes_to_all_of_them_again() -> None:
    """Its shadow server does not know whom the primary had reached (SM-9)."""
    world = offered({BOB: BUSY})
    world.kill("par1")
    world.refuse_recipient.clear()
    world.run(5 * HOUR)
    assert got(world) == {ANNE: 2, BOB: 1, CARL: 2}


def test_a_commit_that_fails_is_made_good_in_order() -> None:
    world = World()
    world.refuse_recipient = {BOB: BUSY}
    world.cut[("par1", "ext1")] = "refuse"
    world.send("par1", *ALL, message_id=MESSAGE)
    world.hosts["par1"].disk.is_full = True
    world.heal()
    world.run(2 * MINUTE)
    assert (got(world), queued(world)) == ({ANNE: 1, CARL: 1}, [ALL])
    world.refuse_recipient.clear()
    world.run(30 * MINUTE)
    assert got(world) == {ANNE: 1, BOB: 1, CARL: 1}
    world.hosts["par1"].disk.is_full = False
    world.run(5 * MINUTE)
    (message,) = kept(world)
    assert [f.recipients for f in message.forks] == [(BOB,), (ANNE, CARL)]


def test_it_is_tried_again_after_message_retry_interval_each_time() -> None:
    world = offered({BOB: BUSY}, TransportService={"MessageRetryInterval": "7m"})
    world.run(22 * MINUTE)
    times = [row.at_ms for row in rows(world, "DEFER")]
    assert [later - earlier for earlier, later in pairwise(times)] == [7 * MINUTE] * 3


@pytest.mark.parametrize(
    ("reply", "waits_ms"),
    [
        ((451, "4.3.0 not now"), 7 * MINUTE),
        ((421, "4.3.2 closing"), MINUTE),
        ((432, "4.2.0 STOREDRIVER; mailbox database is not active on this server"), MINUTE),
    ],
)
def test_only_an_answer_to_the_message_makes_it_wait_by_itself(
    reply: tuple[int, str], waits_ms: int
) -> None:
    world = World(TransportService={"MessageRetryInterval": "7m"})
    world.refuse_with = {"ext1": reply}
    world.send("par1", *ALL, message_id=MESSAGE)
    world.run(15 * MINUTE)
    first, second, *_ = (row.at_ms for row in rows(world, "DEFER"))
    assert second - first == waits_ms


def test_many_that_are_put_off_wait_each_by_itself_and_no_queue_does() -> None:
    world = World(TransportService={"MessageRetryInterval": "7m"})
    world.refuse_with = {"ext1": (451, "4.3.0 not now")}
    for number in range(5):
        world.send("par1", *ALL, message_id=f"<put-off{number}@x>")
    world.refuse_with = {}
    world.send("par1", ANNE, message_id="<two@x>")
    assert [message_id for message_id, _ in world.external] == ["<two@x>"]
    world.run(7 * MINUTE)
    assert len(world.external) == 6


def test_one_put_off_recipient_holds_up_no_other_message() -> None:
    world = offered({BOB: BUSY})
    before_ms = world.now_ms
    world.send("par1", ANNE, message_id="<two@x>")
    assert ("<two@x>", (ANNE,)) in world.external
    assert world.now_ms == before_ms


@pytest.mark.parametrize("data", [(451, "4.3.0 not now"), (554, "5.6.0 not this")])
def test_what_is_said_of_one_recipient_counts_for_it_and_the_last_word_for_the_others(
    data: tuple[int, str],
) -> None:
    world = World()
    world.refuse_recipient = {ANNE: NOBODY, BOB: BUSY}
    world.refuse_with = {"ext1": data}
    world.send("par1", *ALL, message_id=MESSAGE)
    refused = {(ANNE,)} if data[0] == 451 else {(ANNE,), (CARL,)}
    assert {row.recipients for row in rows(world, "FAIL")} == refused
    assert queued(world)[0] == ((BOB, CARL) if data[0] == 451 else (BOB,))


def test_a_message_refused_for_everybody_is_reported_once() -> None:
    world = World()
    world.refuse_with = {"ext1": (554, "5.6.0 not this")}
    world.send("par1", *ALL, USER1, message_id=MESSAGE)
    assert [row.recipients for row in rows(world, "FAIL")] == [ALL]
    assert len(world.of("DSN")) == 1
    assert world.mailboxes[USER1] == [MESSAGE]
