"""The same plan gives the same bytes, in any process and under any hash seed.

SHADOWLAB_FUZZ / 500 is the number of seeds of each scenario, 1 at least (`make fuzz`: 20).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.program.errors import ScenarioError
from lab.replay.run import read_simulated, replay
from lab.run.outcome import RunOptions
from lab.run.simulated import run_simulated
from tests.lab.hosts.simulator.digests import digest
from tests.lab.hosts.simulator.plans import SCENARIOS, plan

SEEDS_EACH = max(1, int(os.environ.get("SHADOWLAB_FUZZ", "300")) // 500)


class Unjudged:
    """No Spark: the bytes of the record are what is looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def judge(self) -> int:
        return 0

    def abandon(self) -> None:
        pass


def printing_digests(hash_seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lab.hosts.simulator.digests", str(SEEDS_EACH)]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def digests() -> list[dict[str, list[str]]]:
    """By scenario, of two processes with hash seeds of their own."""
    side_by_side = [printing_digests(hash_seed) for hash_seed in (1, 2)]
    printed = [process.communicate()[0].splitlines() for process in side_by_side]
    assert [process.returncode for process in side_by_side] == [0, 0]
    lines = [[line.split() for line in each] for each in printed]
    return [{name: [d for n, _, d in each if n == name] for name in SCENARIOS} for each in lines]


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SCENARIOS)
def test_hash_seed_and_process_decide_nothing(
    name: str, digests: list[dict[str, list[str]]]
) -> None:
    first, second = (each[name] for each in digests)
    assert len(set(first)) == SEEDS_EACH
    assert first == second


def test_another_seed_gives_other_bytes() -> None:
    assert digest("calm", 1) != digest("calm", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    options = RunOptions(runs=tmp_path / "runs", scenario="version: 1\n")
    return run_simulated(plan("site-cut", 3), options, Unjudged, lambda line: None).folder


def test_a_folder_is_replayed_to_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    assert replay(folder, again, None) == []


def test_a_byte_that_was_changed_is_found(folder: Path, tmp_path: Path) -> None:
    ledger = folder / "ledger.jsonl"
    lines = ledger.read_text().splitlines()
    lines[4] = lines[4].replace('"', "'", 1)
    ledger.write_text("\n".join(lines) + "\n")
    (folder / "external" / "nobody.jsonl").write_text("")
    again = tmp_path / "again"
    again.mkdir()
    found = replay(folder, again, None)
    assert [(each.file, each.line) for each in found] == [
        ("external/nobody.jsonl", 0),
        ("ledger.jsonl", 5),
    ]


def test_a_run_on_containers_is_not_replayed_as_a_whole(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("simulator", "containers"))
    with pytest.raises(ScenarioError, match="was not simulated"):
        read_simulated(folder)


def test_a_run_folder_has_the_files_of_one_on_containers(folder: Path) -> None:
    for name in (
        "plan.json",
        "manifest.json",
        "host.json",
        "ledger.jsonl",
        "faults.jsonl",
        "logs/par-mbx1/inputs.jsonl",
        "logs/par-mbx1/queues.jsonl",
        "logs/par-mbx1/copies.jsonl",
        "logs/par-mbx1/lifecycle.jsonl",
        "logs/par-mbx1/MSGTRK2026010508-1.LOG",
        "logs/par-mbx1/CONNECTLOG20260105-1.LOG",
        "mailboxes/DB1.jsonl",
        "external/ext1.jsonl",
    ):
        assert (folder / name).is_file(), name
