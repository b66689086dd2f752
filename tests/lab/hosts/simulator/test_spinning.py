"""A node that goes round in circles ends, and says in which."""

from __future__ import annotations

import json
from collections.abc import Callable
from unittest.mock import patch

import pytest

from lab.hosts.simulator.record import Record
from lab.hosts.simulator.simulation import Simulation
from lab.hosts.simulator.spinning import (
    IN_A_MINUTE,
    IN_AN_INSTANT,
    MINUTE_US,
    InputBounds,
    SpinningError,
)
from nodes.core.interface.inputs import DeadlineReached, StopRequested
from nodes.core.node import Node
from tests.lab.hosts.simulator.plans import plan

ONE = plan("one-message-in", 7)


def test_what_comes_at_one_moment_is_bounded() -> None:
    bounds = InputBounds(0)
    for _ in range(IN_AN_INSTANT):
        bounds.note(DeadlineReached(), 5)
    with pytest.raises(SpinningError, match="5000 inputs in one instant; of the last 60: 60 Dead"):
        bounds.note(DeadlineReached(), 5)


def test_what_comes_in_a_minute_is_bounded() -> None:
    bounds = InputBounds(0)
    for number in range(IN_A_MINUTE):
        bounds.note(DeadlineReached(), 7 * MINUTE_US + number)
    with pytest.raises(SpinningError, match="20000 inputs in one lab minute; "):
        bounds.note(StopRequested(), 8 * MINUTE_US - 1)


def test_the_next_minute_and_the_next_moment_count_anew() -> None:
    bounds = InputBounds(0)
    for minute in range(3):
        for number in range(IN_A_MINUTE):
            bounds.note(DeadlineReached(), minute * MINUTE_US + number)


def test_more_mail_may_mean_more_work() -> None:
    bounds = InputBounds(10)
    for _ in range(IN_AN_INSTANT + 1):
        bounds.note(DeadlineReached(), 5)


def test_the_last_inputs_are_named_in_order() -> None:
    bounds = InputBounds(0)
    for happened in (StopRequested(), DeadlineReached(), DeadlineReached()):
        bounds.note(happened, 5)
    assert bounds.last_inputs() == "StopRequested DeadlineReached"


def simulated(due_ms: Callable[[Simulation], int]) -> Record:
    """With nodes whose next deadline is always that one, epoch ms."""
    simulation = Simulation(ONE)
    with patch.object(Node, "next_deadline_ms", lambda node: due_ms(simulation)):
        return simulation.run()


def past(simulation: Simulation) -> int:
    return 0


def about_to_come(simulation: Simulation) -> int:
    return simulation.world.origin_ms + simulation.world.now_ms() + 1


@pytest.mark.parametrize("due_ms", [past, about_to_come])
def test_a_node_that_wakes_itself_for_ever_has_crashed(
    due_ms: Callable[[Simulation], int],
) -> None:
    record = simulated(due_ms)
    assert record.exit_codes["par-mbx1"] == 70
    assert "SpinningError" in record.crashes["par-mbx1"][0]
    *_, last = map(json.loads, record.file("logs/par-mbx1/lifecycle.jsonl"))
    assert last["event"] == "crashed"
    assert last["last_inputs"].endswith("DeadlineReached")
