"""Who could still have given a message back: sums that a person can add up by hand."""

from __future__ import annotations

from typing import Any

from spark_eval.results.sums import sums_of
from tests.spark_eval.results.made import Made, made, of
from tests.spark_eval.runs.failover_runs import lossy
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, SECOND, Run, empty, user

OUTSIDE = "someone@partner.example"
LOST = "par-mbx1 lost its queue database"
BARE = "accepted without a shadow message"


def _numbers(of_run: Made) -> dict[str, Any]:
    exposure: dict[str, Any] = sums_of(of_run.messages, of_run.run).numbers(of_run.run)["exposure"]
    return exposure


def _stretches(run: Run) -> list[tuple[object, ...]]:
    names = ("from_ms", "to_ms", "in_transit_ms", "servers", "cause")
    return [of(row, *names) for row in made(run).tables["redundancy_exposure"]]


def test_a_message_that_was_on_two_servers_all_along_is_never_exposed() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1), user(2)])
    found = made(run)
    assert found.tables["redundancy_exposure"] == []
    assert _numbers(found) == {
        "watched": 1, "messages": 0, "message_seconds": 0.0, "in_transit_seconds": 0.0,
        "longest_seconds": 0.0, "worst_message": None, "by_cause": [],
    }  # fmt: skip


def test_without_a_shadow_it_is_exposed_from_its_250_to_the_mailbox_of_another_server() -> None:
    run = empty()
    run.finish(run.accept(MINUTE, [user(1)], shadow=None), 10 * MINUTE)
    from_ms, to_ms = MINUTE + 900, 10 * MINUTE - 50
    assert _stretches(run) == [(from_ms, to_ms, to_ms - from_ms, ["par-mbx1"], BARE)]


def test_for_somebody_outside_it_is_exposed_until_he_has_it() -> None:
    run = empty()
    run.finish(run.accept(MINUTE, [OUTSIDE], shadow=None, mail="outbound"), 10 * MINUTE)
    run.tracking["par-mbx1"][-1]["server-hostname"] = "ext1.partner.example"
    ((from_ms, to_ms, *_),) = _stretches(run)
    assert (from_ms, to_ms) == (MINUTE + 900, 10 * MINUTE)


def test_a_stopped_server_counts_until_its_disk_is_lost() -> None:
    run = empty()
    message = run.accept(MINUTE, [user(1)])
    run.kill("par-mbx1", 2 * MINUTE, 30 * MINUTE, new_database=True)
    run.promote(message, 32 * MINUTE, "database-id-changed")
    lost_ms, again_ms = 30 * MINUTE + 2 * SECOND, 32 * MINUTE + 300
    assert _stretches(run) == [(lost_ms, again_ms, again_ms - lost_ms, ["lyo-mbx1"], LOST)]


def test_a_safety_net_that_is_lost_leaves_the_other_one_and_the_mailbox() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    run.kill("par-mbx1", 30 * MINUTE, 40 * MINUTE, new_database=True)
    assert _stretches(run) == []


def test_one_server_with_two_stores_of_it_is_one_custodian() -> None:
    """par-mbx2 has its mailbox and, as its primary server, its Safety Net."""
    run = empty()
    run.deliver(MINUTE, [user(1)], primary="par-mbx2", shadow="par-mbx1")
    run.kill("par-mbx1", 30 * MINUTE, 40 * MINUTE, new_database=True)
    lost_ms = 40 * MINUTE + 2 * SECOND
    assert _stretches(run) == [(lost_ms, 4 * HOUR, 0, ["par-mbx2"], LOST)]


def test_nobody_watches_what_was_in_safety_nets_long_enough() -> None:
    run = empty()
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = HOUR
    run.deliver(MINUTE, [user(1)], primary="par-mbx2", shadow="par-mbx1")
    run.kill("par-mbx1", 30 * MINUTE, 40 * MINUTE, new_database=True)
    ((from_ms, to_ms, *_),) = _stretches(run)
    assert (from_ms, to_ms) == (40 * MINUTE + 2 * SECOND, MINUTE + 2 * SECOND - 50 + HOUR)


def test_what_both_custodians_lost_is_exposed_to_the_end() -> None:
    run = empty()
    run.accept(MINUTE, [user(1)])
    run.kill("par-mbx1", 2 * MINUTE, 10 * MINUTE, new_database=True)
    run.kill("lyo-mbx1", 2 * MINUTE, 20 * MINUTE, new_database=True, fault="f2")
    ((from_ms, to_ms, in_transit_ms, servers, cause),) = _stretches(run)
    assert (from_ms, to_ms, servers) == (10 * MINUTE + 2 * SECOND, 4 * HOUR, ["lyo-mbx1"])
    assert (in_transit_ms, cause) == (4 * HOUR - 10 * MINUTE - 2 * SECOND, LOST)


def test_what_a_failover_lost_is_in_both_safety_nets_meanwhile() -> None:
    assert _stretches(lossy().run) == []


def test_what_is_shorter_than_a_row_may_be_late_is_no_stretch() -> None:
    run = empty()
    run.finish(run.accept(MINUTE, [user(1)], shadow=None), MINUTE + 20 * SECOND)
    assert _stretches(run) == []


def test_what_was_not_acknowledged_is_not_watched() -> None:
    run = empty()
    sent = run.submit(MINUTE, [user(1)])
    run.attempt(sent, "par-mbx1", MINUTE, "failed", "451 4.4.0 no", MINUTE + 900)
    assert _numbers(made(run))["watched"] == 0


def test_sums_are_message_seconds_by_cause_the_longest_first() -> None:
    """By hand: 9 min less 950 ms, twice, and 119,700 ms; together 1,197.8 s."""
    run = empty()
    for at_ms in (MINUTE, 3 * MINUTE):
        sent = run.accept(at_ms, [user(1)], primary="lyo-mbx2", shadow=None)
        run.finish(sent, at_ms + 9 * MINUTE)
    message = run.accept(20 * MINUTE, [user(1)])
    run.kill("par-mbx1", 21 * MINUTE, 30 * MINUTE, new_database=True)
    run.promote(message, 32 * MINUTE + 1400, "database-id-changed")
    bare, lost = 539.05, 119.7
    assert _numbers(made(run)) == {
        "watched": 3,
        "messages": 3,
        "message_seconds": 1197.8,
        "in_transit_seconds": 1197.8,
        "longest_seconds": bare,
        "worst_message": "<m000001.calm.7@outside.example>",
        "by_cause": [
            {"cause": BARE, "messages": 2, "message_seconds": 2 * bare,
             "in_transit_seconds": 2 * bare, "longest_seconds": bare},
            {"cause": LOST, "messages": 1, "message_seconds": lost,
             "in_transit_seconds": lost, "longest_seconds": lost},
        ],
    }  # fmt: skip
