"""A step of a server's wall clock: its records carry other dates, and nothing else is different."""

import csv
import json
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from lab.clock import parse_origin
from lab.hosts.simulator.event_loop import MS
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.server import SimulatedServer
from lab.hosts.simulator.simulation import Simulation
from lab.plan.faults import Kill
from lab.replay.node import replay_node
from nodes.shell.logs.exchange import TRACKING_FIELDS
from tests.lab.hosts.simulator.plans import plan

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
PLAN = plan("primary-returns-after-promotion", 1)
SKEWED = "lyo-mbx1"
HEALED_MS = 45 * MINUTE_MS
FOLDER = f"logs/{SKEWED}/"


@cache
def run(skew_ms: int, from_ms: int = 8 * MINUTE_MS, *, killed: bool = False) -> RecordInMemory:
    """With the clock of `SKEWED` off by `skew_ms` from then on up to `HEALED_MS`."""
    kill = Kill("k", "kill", 36 * MINUTE_MS, 38 * MINUTE_MS, SKEWED, "same-queue-database")
    one = replace(PLAN, faults=(*PLAN.faults, kill)) if killed else PLAN
    simulation = Simulation(one)
    server = simulation.servers[SKEWED]
    assert isinstance(server, SimulatedServer)
    if skew_ms:
        simulation.world.at(from_ms * MS, _skew, server, skew_ms)
        simulation.world.at(HEALED_MS * MS, _skew, server, 0)
    return simulation.run()


def _skew(server: SimulatedServer, skew_ms: int) -> None:
    server.skew_clock(skew_ms)


def heard(record: RecordInMemory) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in record.file(f"{FOLDER}inputs.jsonl")]
    return [{name: line[name] for name in line if name != "ahead_ms"} for line in lines]


def tracked(record: RecordInMemory) -> list[dict[str, str]]:
    found = []
    for name, lines in record.files.items():
        if name.startswith(f"{FOLDER}MSGTRK"):
            rows = [line for line in lines if not line.startswith("#")]
            found += list(csv.DictReader(rows, TRACKING_FIELDS.split(",")))
    return sorted(found, key=mono_ms)


def mono_ms(row: dict[str, str]) -> float:
    return int(row["custom-data"].rpartition("S:Mono=")[2]) / 1_000_000


def epoch_ms(date: str) -> float:
    return datetime.fromisoformat(date).timestamp() * 1000


def ahead_ms(row: dict[str, str]) -> int:
    origin_ms = parse_origin(PLAN.clock.origin).timestamp() * 1000
    return round(epoch_ms(row["date-time"]) - origin_ms - mono_ms(row))


@pytest.mark.parametrize("skew_ms", [2 * HOUR_MS, -2 * HOUR_MS])
def test_a_step_of_a_servers_clock_moves_nothing_that_servers_do(skew_ms: int) -> None:
    straight, skewed = run(0), run(skew_ms)
    assert heard(skewed) == heard(straight)
    elsewhere = [name for name in straight.files if not name.startswith(FOLDER)]
    assert elsewhere
    assert [skewed.files[name] for name in elsewhere] == [
        straight.files[name] for name in elsewhere
    ]


def test_rows_are_dated_by_the_clock_as_it_stands() -> None:
    rows = tracked(run(-2 * HOUR_MS))
    off = {ahead_ms(row) for row in rows if 8 * MINUTE_MS < mono_ms(row) < HEALED_MS}
    before = {ahead_ms(row) for row in rows if mono_ms(row) < 8 * MINUTE_MS}
    assert off <= {-2 * HOUR_MS, -2 * HOUR_MS - 1}
    assert before <= {0, -1}
    assert off
    assert before


def test_the_last_contact_of_a_promotion_is_told_by_the_clock_that_dates_the_row() -> None:
    def ago(record: RecordInMemory) -> list[float]:
        rows = [row for row in tracked(record) if row["event-id"] == "RESUBMIT"]
        told = [row["custom-data"].partition("S:LastContact=")[2][:24] for row in rows]
        return [epoch_ms(row["date-time"]) - epoch_ms(t) for row, t in zip(rows, told, strict=True)]

    assert ago(run(0))
    assert ago(run(2 * HOUR_MS)) == ago(run(0))


def test_a_server_that_starts_again_under_skew_dates_by_it_and_goes_on_as_before() -> None:
    record = run(5 * MINUTE_MS, 37 * MINUTE_MS, killed=True)
    opened = [line for line in heard(record) if line["input"] == "DatabaseOpened"]
    straight = [line for line in heard(run(0, killed=True)) if line["input"] == "DatabaseOpened"]
    now_ms = [[int(str(line["now_ms"])) for line in each] for each in (opened, straight)]
    assert [a - b for a, b in zip(*now_ms, strict=True)] == [0, 0]
    told = [json.loads(line) for line in record.file(f"{FOLDER}lifecycle.jsonl")]
    off = {row["event"]: row["at_ms"] - row["mono_ns"] // 1_000_000 for row in told}
    assert (off["started"], off["stopped"]) == (5 * MINUTE_MS, 0)


@pytest.mark.parametrize("skew_ms", [2 * HOUR_MS, -2 * HOUR_MS])
def test_what_a_server_with_a_wrong_clock_recorded_can_be_replayed(
    skew_ms: int, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text(PLAN.to_json(), encoding="utf-8")
    run(skew_ms).write(tmp_path)
    replay = replay_node(tmp_path, SKEWED)
    assert replay.divergence is None
    assert replay.inputs == len(heard(run(skew_ms)))
