"""Lab time stands until it is set going, runs at its speed, and turns into wall time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodes.shell.clock import ClockSettings, NodeClock

ORIGIN_MS = 1_767_600_000_000
SECOND_NS = 1_000_000_000


class Monotonic:
    """A monotonic clock that stands where a test puts it."""

    def __init__(self) -> None:
        self.now_ns = 5 * SECOND_NS

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def monotonic() -> Monotonic:
    return Monotonic()


def clock(
    folder: Path, monotonic: Monotonic, *, speed: float = 60.0, skew_ms: int = 0
) -> NodeClock:
    return NodeClock(ClockSettings(ORIGIN_MS, speed, skew_ms, folder / "start.json"), monotonic)


def start(folder: Path, zero_ns: int) -> None:
    (folder / "start.json").write_text(json.dumps({"monotonic_zero_ns": zero_ns}))


def test_time_stands_at_the_origin_while_there_is_no_start_file(
    tmp_path: Path, monotonic: Monotonic
) -> None:
    lab = clock(tmp_path, monotonic)
    monotonic.now_ns += 3600 * SECOND_NS
    assert (lab.now_ms(), lab.is_set_going) == (ORIGIN_MS, False)
    assert lab.wall_delay_s(ORIGIN_MS + 1) is None


def test_time_stands_until_the_start_has_come(tmp_path: Path, monotonic: Monotonic) -> None:
    start(tmp_path, 6 * SECOND_NS)
    lab = clock(tmp_path, monotonic)
    assert lab.is_set_going
    assert lab.now_ms() == ORIGIN_MS
    assert lab.wall_delay_s(ORIGIN_MS + 60_000) == 2.0


def test_time_runs_at_its_speed(tmp_path: Path, monotonic: Monotonic) -> None:
    start(tmp_path, 0)
    assert clock(tmp_path, monotonic).now_ms() == ORIGIN_MS + 300_000


def test_skew_moves_a_node_and_its_deadlines_alike(tmp_path: Path, monotonic: Monotonic) -> None:
    start(tmp_path, 0)
    lab = clock(tmp_path, monotonic, skew_ms=-1000)
    assert lab.now_ms() == ORIGIN_MS + 299_000
    assert lab.wall_delay_s(lab.now_ms() + 60_000) == pytest.approx(1.0)


def test_a_deadline_is_never_found_due_too_early(tmp_path: Path, monotonic: Monotonic) -> None:
    start(tmp_path, 0)
    lab = clock(tmp_path, monotonic, speed=37.3)
    for deadline_ms in range(lab.now_ms() + 1, lab.now_ms() + 2000, 7):
        delay_s = lab.wall_delay_s(deadline_ms)
        assert delay_s is not None
        monotonic.now_ns += round(delay_s * SECOND_NS) + 1000
        assert lab.now_ms() >= deadline_ms


def test_a_deadline_that_has_passed_is_due_now(tmp_path: Path, monotonic: Monotonic) -> None:
    start(tmp_path, 0)
    assert clock(tmp_path, monotonic).wall_delay_s(ORIGIN_MS) == 0.0


def test_a_start_file_is_seen_when_it_comes(tmp_path: Path, monotonic: Monotonic) -> None:
    lab = clock(tmp_path, monotonic)
    start(tmp_path, 4 * SECOND_NS)
    lab.look_for_start()
    assert lab.now_ms() == ORIGIN_MS + 60_000


@pytest.mark.parametrize("text", ["{}", "[]", '{"monotonic_zero_ns": "soon"}'])
def test_a_start_file_without_a_zero_is_refused(
    text: str, tmp_path: Path, monotonic: Monotonic
) -> None:
    (tmp_path / "start.json").write_text(text)
    with pytest.raises(ValueError, match="monotonic_zero_ns"):
        clock(tmp_path, monotonic)


@pytest.mark.parametrize("step_ms", [7_200_000, -7_200_000])
def test_a_step_of_the_wall_clock_changes_the_date_and_no_deadline(
    step_ms: int, tmp_path: Path, monotonic: Monotonic
) -> None:
    start(tmp_path, 0)
    lab = clock(tmp_path, monotonic)
    now_ms, delay_s = lab.now_ms(), lab.wall_delay_s(lab.now_ms() + 60_000)
    lab.skew(step_ms)
    assert (lab.now_ms(), lab.wall_delay_s(now_ms + 60_000)) == (now_ms, delay_s)
    assert (lab.date_ms(), lab.ahead_ms) == (now_ms + step_ms, step_ms)
    monotonic.now_ns += SECOND_NS
    assert lab.now_ms() == now_ms + 60_000
    lab.skew(0)
    assert lab.date_ms() == lab.now_ms()


def test_a_node_that_starts_under_skew_goes_by_it_until_it_ends(
    tmp_path: Path, monotonic: Monotonic
) -> None:
    start(tmp_path, 0)
    lab = clock(tmp_path, monotonic, skew_ms=-300_000)
    lab.skew(0)
    assert lab.now_ms() == ORIGIN_MS
    assert lab.date_ms() == ORIGIN_MS + 300_000
    assert lab.lab_ms() == 300_000


def test_a_stamp_is_one_moment_on_two_clocks(tmp_path: Path) -> None:
    start(tmp_path, 0)
    ticks = iter(range(10, 20))
    lab = clock(tmp_path, Monotonic())
    lab.mono_ns = lambda: next(ticks) * SECOND_NS
    lab.skew(1_000)
    assert lab.stamp() == (ORIGIN_MS + 601_000, 10 * SECOND_NS)
