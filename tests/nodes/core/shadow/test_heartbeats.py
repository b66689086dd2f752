"""Heartbeats do not wait for each other, and each that fails is logged (SM-2, SM-7, SM-18)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from nodes.core.model.lab_time import iso
from nodes.core.shadow.shadow_queue import MOST_HANGING
from tests.nodes.core.world import HOUR, MINUTE, SECOND, START_MS, World

TIME_OUT = 10 * MINUTE
"""ConnectionInactivityTimeOut; a session that par1 hears of is ended by par1 sooner."""
ENDS = {"opening": TIME_OUT, "asking": 5 * MINUTE}
EVERY_FIVE_SECONDS = {"TransportConfig": {"ShadowHeartbeatFrequency": "00:00:05"}}


def holding(**sections: Any) -> tuple[World, str]:
    """par1 cannot deliver its message to par2; who holds the shadow of it."""
    world = World(**sections)
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1")
    return world, world.of("HARECEIVE")[0].server


def until(world: World, minutes: float) -> None:
    world.run(START_MS + round(minutes * MINUTE) - world.now_ms)


def hangs(world: World, holder: str, how: str) -> None:
    """From here on heartbeats do: at the connection itself, or once they have asked."""
    if how == "opening":
        world.cut[(holder, "par1")] = "silent"
    else:
        world.lose_reply_from.add("par1")


def hangs_no_more(world: World, holder: str) -> None:
    """New ones do not; what was swallowed stays so."""
    world.cut.pop((holder, "par1"), None)
    world.lose_reply_from.clear()


def said(world: World, holder: str, what: str) -> list[tuple[int, str]]:
    rows = [(at, text) for at, who, text in world.connectivity if who == holder]
    return [(at, text) for at, text in rows if text.startswith(what)]


def failures(world: World, holder: str) -> int:
    """As the lifecycle log has them, which are those of the connectivity log."""
    rows = said(world, holder, "XQDISCARD failed;Peer=par1")
    events = [fields for who, event, fields in world.lifecycle
              if (who, event) == (holder, "shadow-heartbeat-failed")]  # fmt: skip
    assert [event["event_id"] for event in events] == [22004] * len(rows)
    return len(rows)


HOW = pytest.mark.parametrize("how", ["opening", "asking"])


@HOW
def test_a_new_queue_database_behind_a_black_hole_promotes_within_a_heartbeat_of_its_end(
    how: str,
) -> None:
    world, holder = holding()
    until(world, 10)
    world.kill("par1")
    until(world, 12)
    hangs(world, holder, how)
    until(world, 16)
    world.hosts["par1"].new_queue_database()
    world.start("par1")
    until(world, 17)
    assert not world.of("RESUBMIT")
    hangs_no_more(world, holder)
    until(world, 19)
    assert [row.context for row in world.of("RESUBMIT")] == ["database-id-changed"]


@HOW
def test_discards_come_while_a_heartbeat_hangs_which_ends_by_its_time_out(how: str) -> None:
    world, holder = holding()
    until(world, 3)
    hangs(world, holder, how)
    del world.cut[("par1", "par2")]
    until(world, 5)
    (begun_ms, _) = said(world, holder, "heartbeat")[-1]
    hangs_no_more(world, holder)
    until(world, 7)
    assert len(world.of("HADISCARD")) == 1
    assert failures(world, holder) == 0
    world.run(ENDS[how])
    ((ended_ms, row),) = said(world, holder, "XQDISCARD failed")
    assert ended_ms == begun_ms + ENDS[how]
    assert row.endswith(f";Asked={iso(begun_ms)}")
    assert failures(world, holder) == 1
    assert not world.of("RESUBMIT")


@HOW
def test_every_heartbeat_is_opened_in_its_turn_while_all_of_them_hang(how: str) -> None:
    world, holder = holding()
    until(world, 3)
    hangs(world, holder, how)
    until(world, 30)
    begun = [at for at, _ in said(world, holder, "heartbeat")]
    assert {later - earlier for earlier, later in pairwise(begun)} == {2 * MINUTE}
    assert len(begun) == 15


@HOW
def test_whatever_hangs_when_the_span_is_over_is_logged_as_failed_once(how: str) -> None:
    world, holder = holding()
    until(world, 3)
    (contact_ms, _) = said(world, holder, "XQDISCARD contact")[-1]
    hangs(world, holder, how)
    due_ms = contact_ms + 3 * HOUR
    world.run(due_ms + ENDS[how] - 1 - world.now_ms)
    assert not world.of("RESUBMIT")
    world.run(1)
    assert [row.context for row in world.of("RESUBMIT")] == ["resubmit-time-span"]
    world.run(ENDS[how])
    tried = [at for at, _ in said(world, holder, "heartbeat") if at > contact_ms]
    assert failures(world, holder) == len(tried)
    assert [at for at, _ in said(world, holder, "XQDISCARD failed")] == [
        at + ENDS[how] for at in tried
    ]


def test_a_heartbeat_that_is_refused_once_the_span_is_over_promotes_beside_those_that_hang() -> (
    None
):
    world, holder = holding()
    until(world, 3)
    hangs(world, holder, "opening")
    world.run(3 * HOUR)
    world.cut[(holder, "par1")] = "refuse"
    world.run(2 * MINUTE)
    assert [row.context for row in world.of("RESUBMIT")] == ["resubmit-time-span"]


def test_a_late_answer_is_contact_when_it_comes_and_its_row_says_when_it_was_asked() -> None:
    world, holder = holding()
    until(world, 3)
    world.stall(holder, "par1")
    world.run(2 * MINUTE)
    (asked_ms, _) = said(world, holder, "heartbeat")[-1]
    world.stall_no_more()
    hangs(world, holder, "asking")
    until(world, 11.5)
    world.let_go()
    (heard_ms, row) = said(world, holder, "XQDISCARD contact")[-1]
    assert heard_ms == START_MS + 11 * MINUTE + 30 * SECOND
    assert row.endswith(f";Asked={iso(asked_ms)}")
    assert heard_ms > asked_ms + 7 * MINUTE
    world.run(2 * MINUTE)
    assert len([at for at, _ in said(world, holder, "heartbeat") if at > heard_ms]) == 1
    world.run(heard_ms + 3 * HOUR + ENDS["asking"] - 1 - world.now_ms)
    assert not world.of("RESUBMIT")
    world.run(1)
    assert len(world.of("RESUBMIT")) == 1


def test_a_late_answer_does_not_put_off_the_next_heartbeat() -> None:
    world, holder = holding()
    until(world, 3)
    world.stall(holder, "par1")
    until(world, 9)
    (last_ms, _) = said(world, holder, "heartbeat")[-1]
    world.run(last_ms + 2 * MINUTE - SECOND - world.now_ms)
    world.let_go()
    world.run(SECOND)
    assert said(world, holder, "heartbeat")[-1][0] == last_ms + 2 * MINUTE


def test_a_late_answer_that_comes_once_the_span_is_over_keeps_it_from_promoting() -> None:
    world, holder = holding()
    until(world, 3)
    hangs(world, holder, "opening")
    world.run(3 * HOUR - 5 * MINUTE)
    hangs_no_more(world, holder)
    world.stall(holder, "par1")
    world.run(2 * MINUTE)
    world.stall_no_more()
    hangs(world, holder, "opening")
    world.run(5 * MINUTE)
    world.let_go()
    world.run(HOUR)
    assert not world.of("RESUBMIT")


def test_after_a_restart_nothing_is_waited_for_and_the_span_is_where_it_stood() -> None:
    world, holder = holding()
    until(world, 3)
    (contact_ms, _) = said(world, holder, "XQDISCARD contact")[-1]
    hangs(world, holder, "opening")
    until(world, 20)
    failed = failures(world, holder)
    world.kill(holder)
    world.start(holder)
    world.run(0)
    assert said(world, holder, "heartbeat")[-1][0] == world.now_ms
    world.run(TIME_OUT - 1)
    assert failures(world, holder) == failed
    world.run(1)
    assert failures(world, holder) == failed + 1
    world.run(contact_ms + 3 * HOUR + TIME_OUT - 1 - world.now_ms)
    assert not world.of("RESUBMIT")
    world.run(1)
    assert len(world.of("RESUBMIT")) == 1


@HOW
def test_no_more_than_so_many_hang_and_each_heartbeat_is_opened_all_the_same(how: str) -> None:
    world, holder = holding(**EVERY_FIVE_SECONDS)
    until(world, 1)
    (contact_ms, _) = said(world, holder, "XQDISCARD contact")[-1]
    hangs(world, holder, how)
    for _ in range(30 * 12):
        world.run(5 * SECOND)
        begun = [at for at, _ in said(world, holder, "heartbeat") if at > contact_ms]
        assert begun[-1] > world.now_ms - 5 * SECOND
        assert len(begun) - failures(world, holder) <= MOST_HANGING
    waits = [at - asked_ms(row) for at, row in said(world, holder, "XQDISCARD failed")]
    assert max(waits) == ENDS[how]
    assert sum(wait == ENDS[how] for wait in waits) > MOST_HANGING
    hangs_no_more(world, holder)
    world.run(5 * SECOND)
    assert said(world, holder, "XQDISCARD contact")[-1][0] > world.now_ms - 5 * SECOND


def asked_ms(row: str) -> int:
    """Of a row of this hour."""
    minutes, seconds = row.split("Asked=")[1][14:23].split(":")
    return START_MS + int(minutes) * MINUTE + round(float(seconds) * SECOND)


def test_where_so_many_hang_the_span_is_still_over_after_one_time_out() -> None:
    world, holder = holding(**EVERY_FIVE_SECONDS)
    until(world, 1)
    (contact_ms, _) = said(world, holder, "XQDISCARD contact")[-1]
    hangs(world, holder, "opening")
    world.run(contact_ms + 3 * HOUR + TIME_OUT - 1 - world.now_ms)
    assert not world.of("RESUBMIT")
    world.run(1)
    assert len(world.of("RESUBMIT")) == 1


@pytest.mark.parametrize("most", [1, 20])
def test_heartbeats_that_hang_keep_no_mail_waiting_nor_mail_them(most: int) -> None:
    limit = {"MaxPerDomainOutboundConnections": most}
    world, holder = holding(TransportService=limit)
    until(world, 3)
    hangs(world, holder, "opening")
    until(world, 7)
    hangs_no_more(world, holder)
    world.send(holder, message_id="<mail@x>")
    assert [row.message_id for row in world.of("SEND", holder)] == ["<mail@x>"]
