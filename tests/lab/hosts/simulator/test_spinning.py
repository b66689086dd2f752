"""A node that goes round in circles ends, and says in which."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest

from lab.hosts.node_config import node_config
from lab.hosts.simulator.process import Process
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import Simulation
from lab.hosts.simulator.spinning import (
    AT_LEAST,
    HOUR_US,
    IN_A_MINUTE,
    IN_AN_HOUR,
    IN_AN_INSTANT,
    MINUTE_US,
    SpinningError,
    StepBounds,
    allowance,
)
from nodes.core.interface.effects import Effect, HangUp, LogLifecycle
from nodes.core.interface.inputs import DeadlineReached, Input, StopRequested
from nodes.core.node import Node
from tests.lab.hosts.simulator.plans import plan

ONE = plan("one-message-in", 7)


def given(times: int, now_us: Callable[[int], int]) -> StepBounds:
    bounds = StepBounds(AT_LEAST)
    for number in range(times):
        bounds.given(DeadlineReached(), now_us(number))
    return bounds


def test_what_comes_at_one_moment_is_bounded() -> None:
    bounds = given(IN_AN_INSTANT, lambda _: 5)
    said = "more than 5000 steps in one instant; of the last 60: 60 DeadlineReached"
    with pytest.raises(SpinningError, match=said):
        bounds.given(DeadlineReached(), 5)


def test_what_comes_in_a_minute_is_bounded() -> None:
    bounds = given(IN_A_MINUTE, lambda number: 7 * MINUTE_US + number)
    with pytest.raises(SpinningError, match="more than 20000 steps in one lab minute; "):
        bounds.given(StopRequested(), 8 * MINUTE_US - 1)


def test_what_comes_in_an_hour_is_bounded() -> None:
    bounds = given(IN_AN_HOUR, lambda number: HOUR_US + number * 100_000)
    with pytest.raises(SpinningError, match="more than 25000 steps in one lab hour; "):
        bounds.given(StopRequested(), 2 * HOUR_US - 1)


def test_what_is_done_counts_as_what_is_given() -> None:
    bounds = given(IN_AN_INSTANT - 1, lambda _: 5)
    bounds.did(HangUp("s1"), 5)
    with pytest.raises(SpinningError, match="of the last 60: 58 DeadlineReached, 2 HangUp"):
        bounds.did(HangUp("s2"), 5)


def test_the_next_hour_the_next_minute_and_the_next_moment_count_anew() -> None:
    given(3 * IN_AN_INSTANT, lambda number: number // IN_AN_INSTANT)
    given(IN_AN_HOUR, lambda number: number // IN_AN_INSTANT * MINUTE_US)
    given(2 * IN_AN_HOUR, lambda number: number // IN_AN_INSTANT * HOUR_US // 5)


def test_more_mail_more_servers_and_shorter_intervals_may_mean_more_work() -> None:
    quiet = allowance(ONE, node_config(ONE, ONE.topology.servers[0]))
    message = replace(ONE.messages[0], retry_ms=1_000)
    more = [
        replace(ONE, messages=ONE.messages * 10),
        replace(ONE, messages=(message,)),
        replace(ONE, topology=replace(ONE.topology, servers=ONE.topology.servers * 2)),
    ]
    for plan_of_more in more:
        allowed = allowance(plan_of_more, node_config(ONE, ONE.topology.servers[0]))
        assert allowed.in_an_hour > quiet.in_an_hour


def test_the_last_inputs_are_named_in_order() -> None:
    bounds = StepBounds(AT_LEAST)
    for happened in (StopRequested(), DeadlineReached(), DeadlineReached()):
        bounds.given(happened, 5)
    assert bounds.last_inputs() == "StopRequested DeadlineReached"


def run_with_deadlines(due_ms: Callable[[Simulation], int]) -> RecordInMemory:
    """Nodes whose next deadline is always that one, epoch ms."""
    simulation = Simulation(ONE)
    with patch.object(Node, "next_deadline_ms", lambda node: due_ms(simulation)):
        return simulation.run()


def every(away_ms: int) -> Callable[[Simulation], int]:
    return lambda simulation: simulation.world.origin_ms + simulation.world.now_ms() + away_ms


def crash_of(record: RecordInMemory) -> str:
    assert record.exit_codes["par-mbx1"] == 70
    *_, last = map(json.loads, record.file("logs/par-mbx1/lifecycle.jsonl"))
    assert last["event"] == "crashed"
    assert last["last_inputs"].endswith("DeadlineReached")
    return record.crashes["par-mbx1"][0]


@pytest.mark.parametrize(
    ("due_ms", "span"),
    [(lambda _: 0, "lab minute"), (every(1), "lab hour"), (every(10), "lab hour")],
    ids=["past", "every ms", "every 10 ms"],
)
def test_a_node_that_wakes_itself_for_ever_has_crashed(
    due_ms: Callable[[Simulation], int], span: str
) -> None:
    said = crash_of(run_with_deadlines(due_ms))
    assert "SpinningError: more than" in said
    assert f"steps in one {span}; of the last 60: " in said


def test_a_node_that_answers_itself_at_one_moment_has_crashed() -> None:
    handle, do = Node.handle, Process._do

    def handle_and_do(node: Node, happened: Input, now_ms: int) -> list[Effect]:
        return [*handle(node, happened, now_ms), LogLifecycle("again")]

    def do_and_give(process: Process, effect: Effect) -> None:
        do(process, effect)
        if effect == LogLifecycle("again"):
            process.give(DeadlineReached())

    with patch.object(Node, "handle", handle_and_do), patch.object(Process, "_do", do_and_give):
        said = crash_of(Simulation(ONE).run())
    assert "steps in one instant; of the last 60: 30 " in said
