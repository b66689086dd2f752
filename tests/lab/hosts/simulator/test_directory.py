"""Active Directory is always there: who runs reads a change at once, who is down at its start."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.campaigns.run import files_of
from lab.hosts.simulator.simulation import simulate
from lab.plan.faults import Pause
from lab.replay.node import replay_node
from lab.replay.node_record import read_lives
from nodes.core.config.units import MINUTE_MS
from tests.lab.hosts.simulator.plans import plan
from tests.scenarios.recorded import write_folder

PAUSED, KILLED, RUNS = "lyo-mbx1", "par-mbx1", "lyo-mbx2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A group changes at 14 minutes, while one server is paused."""
    asked = plan("members-changed", 1)
    pause = Pause("f9", "pause", 13 * MINUTE_MS, 16 * MINUTE_MS, PAUSED)
    record = simulate(replace(asked, faults=(*asked.faults, pause)))
    files = {file: list(lines) for file, lines in files_of(asked, record)}
    return write_folder(tmp_path_factory.mktemp("run"), files)


def inputs(folder: Path, server: str) -> list[dict[str, object]]:
    lines = (folder / "logs" / server / "inputs.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def read_at(folder: Path, server: str) -> list[tuple[float, bool]]:
    """In minutes since the start, and whether a life began with it."""
    heard = inputs(folder, server)
    origin_ms = int(str(heard[0]["now_ms"]))
    return [
        (round((int(str(each["now_ms"])) - origin_ms) / MINUTE_MS, 2), bool(each["at_start"]))
        for each in heard
        if each["input"] == "DirectoryRead"
    ]


def test_a_server_that_runs_reads_it_at_once_and_one_that_is_paused_when_it_goes_on(
    folder: Path,
) -> None:
    assert read_at(folder, RUNS) == [(14, False)]
    assert read_at(folder, PAUSED) == [(16, False)]


def test_a_server_that_starts_reads_it_before_it_opens_its_database(folder: Path) -> None:
    (first, again) = read_at(folder, KILLED)
    assert first == (14, False)
    assert again[0] > 17
    assert again[1]
    heard = [each["input"] for each in inputs(folder, KILLED)]
    assert heard[heard.index("DirectoryRead", heard.index("DirectoryRead") + 1) + 1] == (
        "DatabaseOpened"
    )


@pytest.mark.parametrize("server", [PAUSED, KILLED, RUNS])
def test_it_is_an_input_like_any_other_so_that_nodes_replay_alike(
    folder: Path, server: str
) -> None:
    lives = read_lives(folder / "logs" / server)
    begins = ["DatabaseOpened", "DirectoryRead"] if server == KILLED else ["DatabaseOpened"]
    assert [type(each.heard[0].happened).__name__ for each in lives] == begins
    outcome = replay_node(folder, server)
    assert outcome.divergence is None
    assert outcome.lives == (2 if server == KILLED else 1)
