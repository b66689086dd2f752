"""A server whose wall clock was wrong is judged as if it had been right: by the monotonic clock."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spark_eval.judging.judged import JudgedRun
from tests.spark_eval.runs.evaluated import evaluated, rows_of
from tests.spark_eval.runs.faulty_runs import back_after_span, back_in_time, new_database
from tests.spark_eval.runs.run_builder import HOUR, MINUTE, ORIGIN, Run, iso, mono

SERVER = "lyo-mbx1"
FROM, TO = 7 * MINUTE, 45 * MINUTE
SKEWS = {"ahead": 2 * HOUR, "behind": -2 * HOUR}
BASES: dict[str, Callable[[], Run]] = {
    "span": lambda: back_after_span().run,
    "database": lambda: new_database().run,
}
TABLES = ("messages", "deliveries", "shadows", "promotions", "discards", "claims", "delays",
          "promotion_delays", "timeline_events")  # fmt: skip


def measured(run: Run) -> Run:
    """Its host says where the zero of the monotonic clock is."""
    run.host["monotonic_zero_ns"] = mono(0)
    return run


def stepped(run: Run, skew_ms: int) -> Run:
    """The clock of `SERVER` is off from `FROM` to `TO`; its process goes on by the steady one."""
    for row in [*run.tracking[SERVER], *run.contacts[SERVER], *run.lifecycle[SERVER]]:
        if FROM <= row["at_ms"] < TO:
            row["at_ms"] += skew_ms
            row["date"] = iso(row["at_ms"])
            if "description" in row:
                row["description"] = _asked_later(row["description"], skew_ms)
    return run


def _asked_later(description: str, skew_ms: int) -> str:
    """The clock that dates a row says when its question was asked as well."""

    def later(asked: re.Match[str]) -> str:
        right = datetime.fromisoformat(asked[0]) - ORIGIN
        return iso(right // timedelta(milliseconds=1) + skew_ms)

    return re.sub(r"(?<=;Asked=)[^;]+", later, description)


def restarted(skew_ms: int, hold_ms: int, *, is_empty: bool) -> Run:
    """par-mbx1 returns at 20 min under a wrong clock, and keeps and tells times by it. `is_empty`:
    the Safety Nets, at the end.
    """
    faulty = back_in_time()
    run, start = faulty.run, 20 * MINUTE
    for row in [*run.tracking["par-mbx1"], *run.lifecycle["par-mbx1"]]:
        if row["at_ms"] >= start:
            row["at_ms"] += skew_ms
    (told,) = [
        row
        for row in run.rows(SERVER, "HADISCARD")
        if row["message-id"] == faulty.queued.message_id
    ]
    told["custom"]["DeliveredAt"] = iso(faulty.queued.done_ms + skew_ms)
    run.plan["settings"]["TransportConfig"]["SafetyNetHoldTime"] = hold_ms
    if is_empty:
        run.queues = {server: [] for server in run.queues}
    return run


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, JudgedRun]:
    root = tmp_path_factory.mktemp("skewed")
    runs = {name: base() for name, base in BASES.items()}
    runs |= {
        f"{name}-{way}": stepped(base(), skew)
        for name, base in BASES.items()
        for way, skew in SKEWS.items()
    }
    for name, skew in {"restarted": 0, **{f"restarted-{w}": s for w, s in SKEWS.items()}}.items():
        runs[name] = restarted(skew, HOUR, is_empty=True)
        runs[f"{name}-and-late"] = restarted(skew, 3 * HOUR, is_empty=False)
    found = {}
    for name, run in runs.items():
        run.name = name
        found[name] = evaluated(measured(run).write(root))
    return found


def _verdict(run: JudgedRun) -> dict[str, Any]:
    """verdict.json but for the run's name, the clocks, and on which line of a log a row stands."""
    content = json.loads((run.folder.path / "verdict.json").read_text())
    for claim in content["claims"]:
        for example in claim["examples"]:
            del example["refs"]
    return {name: value for name, value in content.items() if name not in ("run", "clocks_off")}


def _rows(run: JudgedRun, table: str) -> list[str]:
    own = ("run", "ref", "refs")
    return sorted(
        str({name: value for name, value in row.items() if name not in own})
        for row in rows_of(run, table)
    )


@pytest.mark.parametrize("way", SKEWS)
@pytest.mark.parametrize("base", BASES)
def test_verdict_claims_and_numbers_are_those_of_right_clocks(
    judged: dict[str, JudgedRun], base: str, way: str
) -> None:
    assert _verdict(judged[f"{base}-{way}"]) == _verdict(judged[base])
    assert judged[base].verdict.verdict == "pass"


@pytest.mark.parametrize("table", TABLES)
def test_tables_hold_the_same_rows(judged: dict[str, JudgedRun], table: str) -> None:
    straight = _rows(judged["span"], table)
    assert straight
    assert _rows(judged["span-behind"], table) == straight


@pytest.mark.parametrize("way", SKEWS)
def test_times_that_a_server_kept_go_by_the_life_that_kept_them(
    judged: dict[str, JudgedRun], way: str
) -> None:
    assert _verdict(judged[f"restarted-{way}"]) == _verdict(judged["restarted"])
    assert judged["restarted"].results["held_long_enough"].status == "holds"


@pytest.mark.parametrize("way", SKEWS)
def test_a_hold_time_is_judged_no_finer_than_the_clocks_it_went_by_agree(
    judged: dict[str, JudgedRun], way: str
) -> None:
    held = {name: run.results["held_long_enough"] for name, run in judged.items()}
    assert held["restarted-and-late"].status == "violated"
    assert held[f"restarted-{way}-and-late"].violations == 0


def test_the_report_says_whose_clock_was_off_by_how_much(judged: dict[str, JudgedRun]) -> None:
    assert judged["span"].clocks_off == ()
    [entry] = judged["span-behind"].clocks_off
    assert (entry["server"], entry["least_ms"], entry["most_ms"]) == (
        SERVER, -2 * HOUR, -2 * HOUR,
    )  # fmt: skip
    assert FROM <= entry["from_ms"] <= entry["to_ms"] <= TO
    pages = {name: _page(judged[name].folder.path) for name in ("span", "span-behind")}
    assert "<td>2 h 0 min behind</td>" in pages["span-behind"]
    assert "clock was seen to be off" not in pages["span"]


def _page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")
