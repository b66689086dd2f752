"""Activity is said by lab time, and not too often."""

from __future__ import annotations

from nodes.shell.smtp.activity import Activity


def test_activity_is_told_once_in_a_twentieth_of_the_time_out() -> None:
    lab_ms, told = [1_000], list[int]()
    activity = Activity(600_000, lambda: lab_ms[0], lambda: told.append(lab_ms[0]))
    for step_ms in (0, 29_999, 1, 1, 29_998, 1):
        lab_ms[0] += step_ms
        activity.seen()
    assert told == [31_000, 61_000]
