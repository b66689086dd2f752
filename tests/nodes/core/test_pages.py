"""Notifications, promotions and copies of a Safety Net that come in pages: in small steps,
and whole in the end, whatever a page holds.
"""

from __future__ import annotations

from collections import Counter

import pytest

from nodes.core.interface import inputs as on
from nodes.core.interface.queue_changes import PromoteShadow
from nodes.core.interface.resubmit_changes import AdvanceResubmitRequest
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import MINUTE, START_MS, USER1, World

COUNT = 5
PAGES = pytest.mark.parametrize(
    ("size", "pages"), [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (5, [5]), (50, [5])]
)


def with_pages(name: str, size: int) -> World:
    """Whatever par1 receives has its shadow at lyo1."""
    world = World(TransportService={name: size})
    world.cut[("par1", "lyo2")] = "refuse"
    return world


def send(world: World) -> list[str]:
    """To a mailbox, through par1; the Message-Ids."""
    for _ in range(COUNT):
        world.send("par1", USER1)
    return [row.message_id for row in world.of("RECEIVE")]


def changes_of(world: World, server: str) -> list[tuple[object, ...]]:
    """The changes of each commit of that server from now on."""
    host, seen = world.hosts[server], list[tuple[object, ...]]()
    commit = host.commit

    def commit_seen(number: int, changes: tuple[object, ...]) -> on.Input:
        seen.append(changes)
        return commit(number, changes)

    host.commit = commit_seen  # type: ignore[method-assign]
    return seen


@PAGES
def test_an_answer_has_as_many_notifications_as_it_may_and_the_next_has_the_rest(
    size: int, pages: list[int]
) -> None:
    world = with_pages("DiscardNotificationsPerAnswer", size)
    send(world)
    world.run(2 * MINUTE)
    assert len(world.of("HADISCARD", "lyo1")) == COUNT
    said = [text for _, name, text in world.connectivity if name == "lyo1"]
    told = [
        int(text.partition("Notifications=")[2].partition(";")[0])
        for text in said
        if "XQDISCARD contact" in text
    ]
    assert told == pages


@PAGES
def test_a_page_of_a_promotion_is_one_commit(size: int, pages: list[int]) -> None:
    world = with_pages("PromotionPageSize", size)
    world.cut[("par1", "par2")] = "refuse"
    sent = send(world)
    seen = changes_of(world, "lyo1")
    world.kill("par1")
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    world.run(3 * MINUTE)
    promoted = [sum(isinstance(each, PromoteShadow) for each in changes) for changes in seen]
    assert [count for count in promoted if count] == pages
    assert Counter(world.mailboxes[USER1]) == Counter(sent)


@PAGES
def test_a_page_of_a_safety_net_is_resubmitted_before_the_next_is_read(
    size: int, pages: list[int]
) -> None:
    world = with_pages("SafetyNetPageSize", size)
    sent = send(world)
    world.run(5 * MINUTE)
    world.lose_mailbox(USER1)
    seen = changes_of(world, "par1")
    session = world.connect("par1", "lyo2")
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", START_MS, world.now_ms)
    world.say("par1", on.ResubmitRequested(session, demand))
    world.run(10 * MINUTE)
    advanced = [
        c.count for changes in seen for c in changes if isinstance(c, AdvanceResubmitRequest)
    ]
    assert [count for count in advanced if count] == pages
    assert Counter(world.mailboxes[USER1]) == Counter(sent)
