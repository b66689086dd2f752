"""What a node has set itself to do later: every time-out that still counts comes, in order, and
those that were cancelled are forgotten long before they are due.
"""

from __future__ import annotations

from nodes.core.engine.work import FEW_TIMERS, Work

HOUR_MS = 3_600_000


def test_cancelled_time_outs_are_forgotten_before_they_are_due() -> None:
    work = Work(lambda event: None)
    for number in range(50 * FEW_TIMERS):
        work.at(HOUR_MS + number, lambda: None).cancel()
    assert len(work._timers) <= FEW_TIMERS


def test_what_still_waits_is_done_in_its_order_among_many_that_are_cancelled() -> None:
    work, done = Work(lambda event: None), list[int]()
    for number in range(3 * FEW_TIMERS):
        due_ms = HOUR_MS - number // 7
        work.at(due_ms, lambda number=number: done.append(number))  # type: ignore[misc]
        for _ in range(5):
            work.at(due_ms, lambda: done.append(-1)).cancel()
    work.now_ms = HOUR_MS
    work.run_due()
    assert done == sorted(done, key=lambda number: (-(number // 7), number))
    assert len(done) == 3 * FEW_TIMERS
    assert work.next_deadline_ms() is None
