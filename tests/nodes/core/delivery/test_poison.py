"""A message that fails for what it is holds nobody up, and is never lost in silence."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from nodes.core.delivery.doubts import Broke, Doubts
from nodes.core.interface import effects as fx
from nodes.core.model.message import ForkState
from tests.nodes.core.world import HOUR, MINUTE, OUTSIDE, World

BAD = "<bad@x>"
GOOD = [f"<good{number}@x>" for number in range(5)]


class Fragile(World):
    """The server outside loses the connection whenever `BAD` is offered; or says `answer`."""

    def __init__(self, answer: tuple[int, str] | None = None, **sections: Any) -> None:
        self.answer = answer
        self.offered: list[str] = []
        super().__init__(**sections)

    def _transmit(self, host: Any, e: fx.Transmit) -> None:
        peer, _ = host.peers[e.session]
        is_bad = peer == "ext1" and self._header(host, e.body).message_id == BAD
        if is_bad:
            self.offered.append(BAD)
        if is_bad and self.answer is None:
            self.lose(host, e.session)
        elif is_bad and self.answer is not None:
            self.refuse_with = {"ext1": self.answer}
            super()._transmit(host, e)
            self.refuse_with = {}
        else:
            super()._transmit(host, e)


def arrived(world: World) -> list[str]:
    return [message_id for message_id, _ in world.external]


def with_six(world: World) -> None:
    """They wait for the next hop, the bad one first."""
    world.cut[("par1", "ext1")] = "refuse"
    for message_id in (BAD, *GOOD):
        world.send("par1", OUTSIDE, message_id=message_id)
    world.heal()
    world.run(2 * MINUTE)


def states(world: World) -> list[ForkState]:
    return [f.state for m in world.hosts["par1"].disk.messages.values() for f in m.forks]


@pytest.mark.parametrize("answer", [None, (451, "4.3.0 not this one"), (421, "4.4.2 bad")])
def test_five_behind_one_that_always_fails_are_delivered(answer: tuple[int, str] | None) -> None:
    world = Fragile(answer)
    with_six(world)
    assert sorted(arrived(world)) == GOOD


@pytest.mark.parametrize("answer", [None, (451, "4.3.0 not this one")])
def test_one_that_comes_later_does_not_wait_for_the_retry_of_one_that_always_fails(
    answer: tuple[int, str] | None,
) -> None:
    world = Fragile(answer, TransportService={"PoisonMessageDetectionEnabled": False})
    with_six(world)
    world.run(3 * HOUR)
    before_ms = world.now_ms
    world.send("par1", OUTSIDE, message_id="<later@x>")
    assert "<later@x>" in arrived(world)
    assert world.now_ms == before_ms


@pytest.mark.parametrize("code", [100, 354])
def test_an_answer_that_is_neither_yes_nor_no_acknowledges_nothing(code: int) -> None:
    world = Fragile((code, "go on"))
    with_six(world)
    assert states(world) == [ForkState.QUEUED]


def steady_traffic(world: World, for_ms: int) -> None:
    """A message each half a second."""
    for number in range(for_ms // 500):
        world.send("par1", OUTSIDE, message_id=f"<more{number}@x>")
        world.run(500)


def go_on_to_poison(world: World) -> None:
    with_six(world)
    steady_traffic(world, 5 * MINUTE)


def test_at_the_threshold_it_goes_to_the_poison_queue_and_is_not_tried_again() -> None:
    world = Fragile()
    go_on_to_poison(world)
    (row,) = world.of("POISONMESSAGE")
    assert (row.message_id, row.source, row.recipients) == (BAD, "POISONMESSAGE", (OUTSIDE,))
    assert states(world) == [ForkState.POISON]
    tried = len(world.offered)
    world.run(100 * HOUR)
    assert len(world.offered) == tried
    assert not world.of("FAIL")


def test_the_shadow_of_a_poison_message_is_kept_also_over_a_restart() -> None:
    world = Fragile()
    go_on_to_poison(world)
    world.kill("par1")
    world.start("par1")
    tried = len(world.offered)
    world.run(10 * HOUR)
    assert len(world.offered) == tried
    assert states(world) == [ForkState.POISON]
    discarded = {row.message_id for row in world.of("HADISCARD")}
    assert BAD not in discarded
    assert discarded


def test_nothing_is_poison_where_the_next_hop_breaks_every_session() -> None:
    world = Fragile()
    transmit = World._transmit

    def lose_all(host: Any, e: fx.Transmit) -> None:
        if host.peers[e.session][0] == "ext1":
            world.offered.append("one")
            world.lose(host, e.session)
        else:
            transmit(world, host, e)

    world._transmit = lose_all  # type: ignore[method-assign]
    with_six(world)
    world.run(HOUR)
    assert not world.of("POISONMESSAGE")
    assert len(world.offered) < 60
    world._transmit = lambda host, e: transmit(world, host, e)  # type: ignore[method-assign]
    world.run(HOUR)
    assert sorted(arrived(world)) == sorted([BAD, *GOOD])


def test_a_message_alone_in_its_queue_is_tried_as_the_ladder_says_and_expires() -> None:
    world = Fragile()
    world.send("par1", OUTSIDE, message_id=BAD)
    world.run(9 * MINUTE)
    assert len(world.offered) == 6  # at once, four glitches, one transient failure
    world.run(50 * HOUR)
    assert not world.of("POISONMESSAGE")
    assert world.of("FAIL")[0].message_id == BAD


class Flaky(World):
    """The link outside loses what is sent over it, for as long as it is `down`."""

    down = False

    def _transmit(self, host: Any, e: fx.Transmit) -> None:
        if self.down and host.peers[e.session][0] == "ext1":
            self.lose(host, e.session)
        else:
            super()._transmit(host, e)


def test_a_message_that_meets_each_failure_of_its_link_is_no_poison() -> None:
    world = Flaky()
    world.down = True
    world.send("par1", OUTSIDE, message_id=BAD)
    for number in range(4):
        world.run(30_000)
        world.down = False
        world.send("par1", OUTSIDE, message_id=f"<more{number}@x>")
        world.run(20_000)
        world.down = True
    world.down = False
    world.run(HOUR)
    assert not world.of("POISONMESSAGE")
    assert BAD in arrived(world)


# ------------------------------------------------------------------ whose fault it is


AT_ONCE = Broke(offered_ms=1000, lost_ms=1500)


def test_one_that_fails_alone_may_be_at_fault_and_two_are_not() -> None:
    doubts = Doubts(2)
    assert doubts.is_its_own(1, AT_ONCE)
    assert doubts.is_its_own(1, AT_ONCE)
    assert not doubts.is_its_own(2, AT_ONCE)
    assert not doubts.is_its_own(1, AT_ONCE)


@pytest.mark.parametrize(("threshold", "broke"), list(product(range(4), [AT_ONCE, None])), ids=str)
def test_each_time_that_others_are_acknowledged_around_it_counts(
    threshold: int, broke: Broke | None
) -> None:
    doubts, found = Doubts(threshold), []
    doubts.acknowledged(2, 900)
    for _ in range(3):
        doubts.is_its_own(1, broke)
        found.append(doubts.acknowledged(2, 1600))
    expected: list[int | None] = [None, None, None]
    if broke and threshold:
        expected = [1 if n % threshold == 0 else None for n in (1, 2, 3)]
    assert found == expected


@pytest.mark.parametrize(
    ("worked_ms", "offered_ms", "lost_ms", "works_ms", "is_poison"),
    [
        (0, 1000, 2000, 3000, True),
        (0, 1001, 2000, 3000, False),  # nothing shows that the next hop worked before
        (0, 1000, 2001, 3000, False),  # it may have failed meanwhile
        (0, 1000, 2000, 3001, False),  # it may have failed, and works again
        (None, 1000, 2000, 3000, False),
    ],
)
def test_no_strike_where_it_may_have_been_the_network(
    worked_ms: int | None, offered_ms: int, lost_ms: int, works_ms: int, is_poison: bool
) -> None:
    doubts = Doubts(1)
    if worked_ms is not None:
        doubts.acknowledged(2, worked_ms)
    assert doubts.is_its_own(1, Broke(offered_ms, lost_ms))
    assert (doubts.acknowledged(2, works_ms) == 1) == is_poison


def test_a_delivery_after_all_wipes_the_slate() -> None:
    doubts = Doubts(2)
    doubts.acknowledged(2, 900)
    for _ in range(5):
        doubts.is_its_own(1, AT_ONCE)
        assert doubts.acknowledged(2, 1600) is None
        assert doubts.acknowledged(1, 1700) is None
