"""What verdict.json counts, and that parts of a run add up."""

from __future__ import annotations

from spark_eval.results.sums import Sums, sums_of
from spark_eval.results.timeline import timeline_rows
from tests.spark_eval.results.made import Made, made
from tests.spark_eval.results.test_shadows import promoted
from tests.spark_eval.runs.failover_runs import lossy
from tests.spark_eval.runs.run_builder import MINUTE, SECOND, SPAN, Run, empty, user

DUE = 8 * MINUTE + SPAN


def _counts(run: Run, name: str) -> dict[str, object]:
    made_of = made(run)
    return sums_of(made_of.messages, made_of.run).numbers(made_of.run)[name]


def test_deliveries_are_counted_by_what_became_of_them() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1), user(2)])
    run.show(run.deliver(2 * MINUTE, [user(1)]), 3 * MINUTE)
    run.accept(4 * MINUTE, [user(3)])
    again = run.deliver(5 * MINUTE, [user(1), user(2)])
    run.log("par-mbx2", "DUPLICATEDELIVER", "STOREDRIVER", 6 * MINUTE, again)
    run.attempt(run.submit(7 * MINUTE, [user(1)]), "par-mbx1", 1, "failed", "451 no", 2)
    run.attempt(run.submit(8 * MINUTE, [user(1)]), "par-mbx1", 1, "unknown", None, 2)
    run.submit(9 * MINUTE, [user(1)])
    assert _counts(run, "delivery") == {
        "expected": 6, "delivered": 5, "lost": 1, "excused": 0, "visible_duplicates": 1,
        "promised_duplicates": 0, "suppressed_duplicates": 2, "rejected": 1, "in_doubt": 1,
        "single_copies": 0,
    }  # fmt: skip


def test_duplicates_that_no_window_hides_are_counted_apart() -> None:
    run = empty()
    run.plan["topology"]["databases"][0]["duplicate_detection_window_ms"] = 5 * MINUTE
    message = run.deliver(MINUTE, [user(1)])
    for at_ms in (3 * MINUTE, 9 * MINUTE):
        run.show(message, at_ms)
    run.mailboxes["DB1"][-1]["submitted_ms"] += 1000
    other = run.deliver(20 * MINUTE, [user(2)])
    run.show(other, 26 * MINUTE)
    counts = _counts(run, "delivery")
    assert (counts["visible_duplicates"], counts["promised_duplicates"]) == (3, 2)


def test_what_both_custodians_lost_is_excused() -> None:
    run = empty()
    run.accept(MINUTE, [user(1)])
    run.kill("par-mbx1", 2 * MINUTE, 20 * MINUTE, new_database=True)
    run.kill("lyo-mbx1", 3 * MINUTE, 20 * MINUTE, new_database=True, fault="f2")
    counts = _counts(run, "delivery")
    assert (counts["lost"], counts["excused"]) == (0, 1)


def test_promotions_are_counted_with_their_delays() -> None:
    run = promoted(empty(), DUE + 30 * SECOND)
    run.promote(run.accept(9 * MINUTE, [user(2)]), DUE + 40 * SECOND, "resubmit-time-span")
    run.promote(run.accept(9 * MINUTE, [user(3)]), 30 * MINUTE, "resubmit-time-span")
    late = run.accept(9 * MINUTE, [user(4)])
    run.promote(late, DUE + 40 * MINUTE, "resubmit-time-span")
    spurious = run.accept(9 * MINUTE, [user(5)], shadow="lyo-mbx2", primary="par-mbx2")
    run.promote(spurious, 30 * MINUTE, "database-id-changed")
    run.accept(9 * MINUTE, [user(6)])
    assert _counts(run, "promotion") == {
        "expected": 5, "observed": 5, "missing": 1, "spurious": 1, "early": 1, "late": 1,
        "delay_seconds": {"min": -480.0, "median": 35.0, "max": 2400.0},
    }  # fmt: skip


def test_a_run_without_promotions_has_no_delays() -> None:
    run = empty()
    run.deliver(MINUTE, [user(1)])
    assert _counts(run, "promotion")["delay_seconds"] == {"min": None, "median": None, "max": None}


def _numbers(sums: Sums, made_of: Made) -> list[object]:
    events = sorted(timeline_rows(sums.timeline, made_of.run), key=str)
    return [sums.numbers(made_of.run), sums.coverage.numbers(), events]


def test_parts_of_a_run_add_up_in_whatever_order() -> None:
    made_of = made(promoted(lossy().run, DUE + 30 * SECOND))
    parts = []
    for message in made_of.messages:
        parts.append(Sums())
        parts[-1].count(message, made_of.run)
    whole = Sums()
    for part in reversed(parts):
        whole.add(part)
    whole.count_run(made_of.run)
    assert len(parts) > 2
    assert _numbers(whole, made_of) == _numbers(sums_of(made_of.messages, made_of.run), made_of)
