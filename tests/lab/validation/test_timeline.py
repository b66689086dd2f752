"""Faults over time: which cannot hold together, and the story that a plan tells."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.plan.faults import Fault, Kill, Pause, PowerLoss, Restart, Stop
from lab.plan.link_faults import Cut, Slow, Throttle
from lab.plan.topology import LinkName
from lab.plan.when import When
from lab.planning.collisions import collision
from lab.planning.moments import moments, wall_seconds
from tests.lab.planning.test_resolve import plan_of

A, B, C = (LinkName("a", name, "smtp") for name in ("b", "c", "d"))


def cut(start_ms: int, end_ms: int, *links: LinkName) -> Cut:
    return Cut("f1", "cut", start_ms, end_ms, "refuse", links)


def kill(start_ms: int, end_ms: int, server: str = "a") -> Kill:
    return Kill("f1", "kill", start_ms, end_ms, server, "same-queue-database")


def of_links(kind: str, start_ms: int, end_ms: int, *links: LinkName) -> Fault:
    if kind == "slow":
        return Slow("f1", "slow", start_ms, end_ms, 500, 100, links)
    if kind == "throttle":
        return Throttle("f1", "throttle", start_ms, end_ms, 10_240, links)
    return cut(start_ms, end_ms, *links)


def of_server(kind: str, start_ms: int, end_ms: int, server: str = "a") -> Fault:
    if kind == "pause":
        return Pause("f1", "pause", start_ms, end_ms, server)
    if kind == "stop":
        return Stop("f1", "stop", start_ms, end_ms, server)
    if kind == "power_loss":
        return PowerLoss("f1", "power_loss", start_ms, end_ms, server)
    if kind == "restart":
        return Restart("f1", "restart", start_ms, start_ms, server)
    return kill(start_ms, end_ms, server)


windows = st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda w: (w[0], w[0] + w[1]))
some_links = st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=3, unique=True)
cuts = st.builds(lambda window, links: cut(*window, *links), windows, some_links)
kills = st.builds(
    lambda window, server: kill(window[0], window[1], server), windows, st.sampled_from("ab")
)


def is_cut_at(fault: Cut, moment_ms: int) -> set[LinkName]:
    return set(fault.links) if fault.start_ms <= moment_ms < fault.end_ms else set()


@given(cuts, cuts)
def test_cuts_collide_when_a_link_would_be_cut_twice_at_some_moment(one: Cut, two: Cut) -> None:
    earlier, later = sorted((one, two), key=lambda fault: fault.start_ms)
    twice = any(is_cut_at(one, at_ms) & is_cut_at(two, at_ms) for at_ms in range(61))
    assert bool(collision(earlier, later)) == twice


@given(kills, kills)
def test_kills_collide_when_a_server_is_not_back_before_the_next(one: Kill, two: Kill) -> None:
    earlier, later = sorted((one, two), key=lambda fault: fault.start_ms)
    down = [set(range(fault.start_ms, fault.end_ms + 1)) for fault in (one, two)]
    assert bool(collision(earlier, later)) == (one.server == two.server and bool(down[0] & down[1]))


@given(cuts, kills)
def test_a_cut_and_a_kill_may_hold_together(one: Cut, two: Kill) -> None:
    pair: list[Fault] = [one, two]
    assert collision(*sorted(pair, key=lambda fault: fault.start_ms)) == ""


@pytest.mark.parametrize("one", ["kill", "power_loss", "pause", "stop", "restart"])
@pytest.mark.parametrize("two", ["kill", "power_loss", "pause", "stop", "restart"])
def test_a_server_that_is_away_can_have_nothing_else_done_to_it(one: str, two: str) -> None:
    earlier, later = of_server(one, 0, 10), of_server(two, 5, 15)
    assert collision(earlier, later).startswith("a is ") == (one != "restart")
    assert collision(earlier, of_server(two, 11, 20)) == ""
    assert collision(earlier, of_server(two, 5, 15, server="b")) == ""


@pytest.mark.parametrize("one", ["cut", "slow", "throttle"])
@pytest.mark.parametrize("two", ["cut", "slow", "throttle"])
def test_a_link_carries_one_fault_at_a_time(one: str, two: str) -> None:
    assert collision(of_links(one, 0, 10, A, B), of_links(two, 5, 15, B)).endswith("already")
    assert collision(of_links(one, 0, 10, A), of_links(two, 5, 15, B)) == ""


def test_every_kind_of_fault_is_told_with_its_end() -> None:
    faults = (
        of_links("slow", 1, 2, A),
        of_links("throttle", 3, 4, A),
        of_server("pause", 5, 6),
        of_server("stop", 7, 8),
        of_server("restart", 9, 9),
        of_server("power_loss", 11, 12),
    )
    told = moments(replace(plan_of(), faults=faults))
    assert [moment.what for moment in told if moment.what.startswith("f1")] == [
        "f1: slow (latency 500ms, jitter 100ms)",
        "f1: healed",
        "f1: throttle (10KiB/s)",
        "f1: healed",
        "f1: pause a",
        "f1: resume a",
        "f1: stop a",
        "f1: start a",
        "f1: restart a",
        "f1: cut the power of a",
        "f1: start a with what is durable",
    ]


def test_a_fault_at_a_place_is_told_from_the_earliest_to_the_latest_it_can_be() -> None:
    when = When("a", "before-shadow-250", 22, 40, 5)
    told = moments(replace(plan_of(), faults=(replace(of_server("pause", 10, 45), when=when),)))
    assert [(moment.at_ms, moment.what) for moment in told if moment.what.startswith("f1")] == [
        (
            10,
            "f1: from now on, when a is at before-shadow-250 for the 22nd time:"
            " pause a for 00:00:00.005",
        ),
        (45, "f1: resume a by now, if it began"),
    ]


def test_a_heal_and_the_next_cut_may_fall_together() -> None:
    assert collision(cut(0, 10, A), cut(10, 20, A)) == ""


def test_the_story_of_a_plan_is_told_in_order_with_its_links() -> None:
    told = moments(plan_of())
    assert [moment.at_ms for moment in told] == sorted(moment.at_ms for moment in told)
    assert [moment.what for moment in told][1:] == [
        "f1: kill par-mbx1",
        "f2: cut (stall)",
        "f1: start par-mbx1 with its new queue database",
        "f2: healed",
        "end of the workload",
        "end of the run",
    ]
    assert [len(moment.links) for moment in told if moment.links] == [2]


def test_wall_time_is_lab_time_over_speed() -> None:
    plan = plan_of()
    assert wall_seconds(plan) == 31
    slow = replace(plan, clock=replace(plan.clock, speed=1.0))
    assert wall_seconds(slow) == 31 * 60
