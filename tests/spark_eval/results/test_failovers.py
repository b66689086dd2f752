"""Rows of failovers, of what came back, and of operations; and their counts."""

from __future__ import annotations

from typing import Any

from spark_eval.results.sums import sums_of
from tests.spark_eval.results.made import Made, made, of
from tests.spark_eval.runs.failover_runs import (
    MANAGER,
    MOUNTED,
    NEW,
    OLD,
    asked_too_late,
    before,
    lossy,
    resubmit,
    with_two_copies,
)
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, empty, user

MOVED = "250 2.0.0 1 lyo-mbx1"


def safety_net_of(made_of: Made) -> dict[str, Any]:
    """As verdict.json counts it."""
    return sums_of(made_of.messages, made_of.run).numbers(made_of.run)["safety_net"]


def test_a_transition_counts_what_it_asked_for_and_what_came() -> None:
    told = lossy()
    row = made(told.run).one("transitions")
    assert of(row, "database", "epoch", "from", "to") == ("DB1", 1, OLD, NEW)
    assert of(row, "kind", "cause") == ("failover", "silent: connection refused")
    assert of(row, "mounted_ms", "operation", "known_to_all_ms") == (
        MOUNTED, None, MOUNTED + 4 * SECOND,
    )  # fmt: skip
    # two recipients of one message
    assert of(row, "lossless", "lost_deliveries") == (False, 2)
    # a margin before the first that was lost
    lost_ms, vague_ms = 18 * MINUTE + 2 * SECOND - 50, 900 + 15 * SECOND
    assert row["inside_from_ms"] == lost_ms - 5 * MINUTE + vague_ms
    counts = ("requests", "expected", "resubmitted", "missing", "unknown", "excused", "outside")
    assert of(row, *counts) == (4, 2, 2, 0, 0, 0, 0)


def test_what_did_not_come_back_is_missing_and_says_why() -> None:
    told = before()
    made_of = made(told.run)
    assert of(made_of.one("transitions"), "requests", "expected", "missing") == (0, 2, 2)
    (near, lost) = made_of.tables["resubmissions"]
    names = ("database", "message_id", "inside", "lost")
    assert of(near, *names) == ("DB1", told.near.message_id, True, False)
    assert of(lost, *names) == ("DB1", told.lost.message_id, True, True)
    assert of(lost, "server", "epoch", "status", "resubmitted_ms") == (
        "par-mbx1", 1, "violated", None,
    )  # fmt: skip
    assert lost["reason"].endswith("lost with that copy, and never resubmitted for DB1:1")
    assert len(lost["refs"]) == 1


def test_what_could_not_be_asked_for_in_time_is_unknown_or_excused() -> None:
    """Nobody sees one of two messages."""
    row = made(asked_too_late()).one("transitions")
    assert of(row, "expected", "missing", "unknown", "excused") == (2, 0, 1, 1)


def test_a_server_that_never_learnt_of_it_leaves_the_others() -> None:
    run = lossy().run
    run.lifecycle["lyo-mbx2"] = [
        row for row in run.lifecycle["lyo-mbx2"] if row["event"] != "active-copy"
    ]
    assert made(run).one("transitions")["known_to_all_ms"] == MOUNTED + 3 * SECOND


def test_what_came_back_says_when() -> None:
    told = lossy()
    (near, lost) = made(told.run).tables["resubmissions"]
    assert of(near, "resubmitted_ms", "stood_in", "status") == (
        MOUNTED + 20 * SECOND, None, "holds",
    )  # fmt: skip
    assert of(lost, "brought_ms", "resubmitted_ms") == (
        18 * MINUTE + 2 * SECOND, MOUNTED + 30 * SECOND,
    )  # fmt: skip
    assert len(lost["refs"]) == 2


def test_a_shadow_safety_net_that_stood_in_is_named() -> None:
    told = before()
    resubmit(told.run, told.lost, lost=True)
    (row,) = (r for r in told.run.tracking["par-mbx1"] if r["event-id"] == "RESUBMIT")
    told.run.tracking["par-mbx1"].remove(row)
    row["custom"]["SafetyNet"] = "shadow"
    told.run.tracking["lyo-mbx2"].append(row)
    made_of = made(told.run)
    (_, lost) = made_of.tables["resubmissions"]
    counts = safety_net_of(made_of)
    assert of(counts, "from_primary", "from_shadow") == (0, 1)
    assert of(lost, "resubmitted_ms", "stood_in") == (MOUNTED + 20 * SECOND, "lyo-mbx2")


def test_what_nothing_called_for_is_outside() -> None:
    told = lossy()
    resubmit(told.run, told.kept, lost=False)
    made_of = made(told.run)
    assert of(made_of.one("transitions"), "expected", "resubmitted", "outside") == (2, 3, 1)
    assert safety_net_of(made_of) == {
        "requests": 4, "expected": 2, "resubmitted": 3, "missing": 0, "outside": 1,
        "from_primary": 3, "from_shadow": 0, "at_risk": [],
    }  # fmt: skip


def test_an_operation_has_its_answer_and_the_transition_that_it_led_to() -> None:
    run = lossy().run
    asked = {"id": "o1", "kind": "switchover", "at_ms": MOUNTED - MINUTE,
             "database": "DB1", "to": NEW}  # fmt: skip
    run.plan["operations"] = [asked]
    for phase, more in (("applied", {"reply": MOVED}), ("evidence", {"took_effect": True})):
        at_ms = MOUNTED - 30 * SECOND
        run.operations.append({"operation": "o1", "phase": phase, "at_ms": at_ms, **more})
    made_of = made(run)
    assert made_of.one("operations") == {
        "operation": "o1",
        "kind": "switchover",
        "what": f"switchover of DB1 to {NEW}",
        "database": "DB1",
        "to": NEW,
        "planned_ms": MOUNTED - MINUTE,
        "asked_ms": MOUNTED - 30 * SECOND,
        "took_effect": True,
        "reason": MOVED,
    }
    assert made_of.one("transitions")["operation"] == "o1"


def test_where_nobody_can_ask_safety_nets_there_are_no_tables_of_them() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    made_of = made(run)
    assert not {"transitions", "resubmissions", "operations"} & set(made_of.tables)
    assert not any(safety_net_of(made_of).values())
    assert made(with_two_copies()).tables["transitions"] == []


def test_a_server_that_mounts_a_copy_is_marked() -> None:
    rows = made(lossy().run).tables["timeline_events"]
    (row,) = (row for row in rows if row["kind"] == "copy activated")
    assert of(row, "lane", "at_ms", "detail", "count") == (NEW, MOUNTED, "DB1", 1)
    back = [row for row in rows if row["kind"] == "resubmitted"]
    assert [of(row, "lane", "count", "detail") for row in back] == [("par-mbx1", 2, "DB1")]
    assert MANAGER not in {row["lane"] for row in rows}
