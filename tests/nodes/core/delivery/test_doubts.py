"""A message that fails for what it is holds nobody up, and is never lost in silence."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.delivery.doubts import Doubts
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
    world = Fragile(answer)
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


def test_however_often_it_breaks_a_session_amid_others_it_is_tried_again_and_expires() -> None:
    """A network that carries no large mail looks the same, and may be healed."""
    world = Fragile(TransportService={"MessageExpirationTimeout": "30m"})
    with_six(world)
    steady_traffic(world, 20 * MINUTE)
    assert len(world.offered) > 6
    assert states(world).count(ForkState.QUEUED) == 1
    world.run(HOUR)
    assert [row.message_id for row in world.of("FAIL")] == [BAD]
    assert len(world.of("DSN")) == 1


def test_where_the_next_hop_breaks_every_session_the_queue_waits() -> None:
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
    assert world.of("FAIL")[0].message_id == BAD


def test_one_that_fails_alone_may_be_at_fault_and_two_are_not() -> None:
    doubts = Doubts()
    assert doubts.is_its_own(1)
    assert doubts.is_its_own(1)
    assert not doubts.is_its_own(2)
    assert not doubts.is_its_own(1)
    doubts.clear()
    assert doubts.is_its_own(1)
