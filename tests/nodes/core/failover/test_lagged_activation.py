"""Active Manager and lagged copies: never by itself; on request as they stand, or as the database
was at a moment (TP-6, SN-5, SN-20).
"""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.interface import inputs as on
from tests.nodes.core.copies.copies import ask, events, status
from tests.nodes.core.failover.test_active_manager import (
    assert_all_are_there_once,
    failover,
    managed,
    resubmitted,
    send,
    switchover,
)
from tests.nodes.core.world import HOUR, MANAGER, MINUTE, World


def lagged(*servers: str) -> World:
    """The last copy is an hour behind."""
    return managed(*servers, lag="1h")


def activate(world: World, server: str = "lyo1", before_ms: int | None = None) -> Any:
    return ask(world, MANAGER, lambda s: on.LaggedCopyRequested(s, "DB1", server, before_ms))


def test_the_mail_of_the_whole_lag_comes_back_once() -> None:
    world = lagged()
    early = send(world)
    world.run(90 * MINUTE)
    late = send(world, 2)
    world.run(30 * MINUTE)
    reply = activate(world)
    assert (reply.code, reply.lines) == (250, ("2.0.0 1 lyo1",))
    world.run(10 * MINUTE)
    assert status(world, "lyo1")[:2] == ("active", 1)
    assert_all_are_there_once(world, "lyo1")
    assert set(late) <= set(resubmitted(world))
    assert early[0] in world.shows("lyo1")


def test_from_a_point_in_time_on_everything_comes_back() -> None:
    world = lagged()
    early = send(world)
    world.run(30 * MINUTE)
    moment = world.now_ms
    world.run(MINUTE)
    late = send(world, 2)
    activate(world, before_ms=moment)
    assert world.shows("lyo1")[:1] == early
    world.run(10 * MINUTE)
    assert_all_are_there_once(world, "lyo1")
    assert set(late) <= set(resubmitted(world))
    (mounted,) = events(world, "failover-mounted")
    assert mounted["before"] != ""


def test_a_point_in_time_survives_a_restart_of_active_manager() -> None:
    world = lagged()
    early = send(world)
    world.run(10 * MINUTE)
    moment = world.now_ms
    world.run(MINUTE)
    send(world)
    world.cut_service(MANAGER, "lyo1", "management")
    activate(world, before_ms=moment)
    world.kill(MANAGER)
    world.heal()
    world.start(MANAGER)
    world.run(MINUTE)
    assert [e["last_log"] for e in events(world, "database-mounted", "lyo1")] == [2]
    assert world.shows("lyo1")[:1] == early


@pytest.mark.parametrize("ask_for", [failover, switchover])
def test_a_lagged_copy_is_no_target_of_a_failover_or_switchover(ask_for: Any) -> None:
    world = lagged()
    reply = ask_for(world, "lyo1")
    assert (reply.code, reply.lines) == (550, ("5.5.1 Copy of the mailbox database is lagged",))


def test_a_copy_that_does_not_lag_is_not_activated_as_a_lagged_one() -> None:
    world = managed()
    assert activate(world).lines == ("5.5.1 Copy of the mailbox database is not lagged",)
    assert activate(world, "par1").code == 550


def test_a_lagged_copy_is_not_chosen_on_request() -> None:
    assert failover(lagged(), None).code == 451


def test_active_manager_activates_no_lagged_copy_by_itself() -> None:
    world = lagged()
    send(world)
    world.run(2 * HOUR)
    world.kill("par2")
    world.run(10 * MINUTE)
    assert events(world, "failover-decided") == []
    assert [e["database"] for e in events(world, "failover-impossible")] == ["DB1"]


def test_a_copy_that_has_replayed_later_logs_ends_it() -> None:
    world = lagged()
    send(world)
    world.run(2 * HOUR)
    activate(world, before_ms=world.now_ms - 3 * HOUR)
    world.run(MINUTE)
    (given_up,) = events(world, "failover-given-up")
    assert "has replayed later logs" in given_up["reason"]
    assert status(world, "par2")[0] == "active"
