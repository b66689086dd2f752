"""The lab clock of a server that is started in the middle of a run."""

from __future__ import annotations

import json
import time
from pathlib import Path

from nodes.shell.clock import LabClock

MINUTE_NS = 60_000_000_000


def clock(folder: Path) -> LabClock:
    return LabClock.from_config(
        {
            "Origin": "2026-01-05T08:00:00Z",
            "Speed": 60.0,
            "SkewMs": 0,
            "StartFile": str(folder / "start.json"),
        }
    )


def test_a_server_that_comes_back_finds_lab_time_running(tmp_path: Path) -> None:
    zero_ns = time.monotonic_ns() - MINUTE_NS
    (tmp_path / "start.json").write_text(json.dumps({"monotonic_zero_ns": zero_ns}))
    restarted = clock(tmp_path)
    assert restarted.now_ms() - restarted.origin_ms >= 60 * 60_000


def test_lab_time_stands_still_until_the_lab_starts_it(tmp_path: Path) -> None:
    waiting = clock(tmp_path)
    assert waiting.now_ms() == waiting.origin_ms
    assert waiting.wall_delay_s(waiting.origin_ms + 1) is None
    (tmp_path / "start.json").write_text(json.dumps({"monotonic_zero_ns": 0}))
    assert waiting.now_ms() == waiting.origin_ms
    assert waiting.is_started()
    assert waiting.now_ms() > waiting.origin_ms


def test_before_its_moment_of_start_lab_time_is_the_origin(tmp_path: Path) -> None:
    soon_ns = time.monotonic_ns() + MINUTE_NS
    (tmp_path / "start.json").write_text(json.dumps({"monotonic_zero_ns": soon_ns}))
    waiting = clock(tmp_path)
    assert waiting.now_ms() == waiting.origin_ms
