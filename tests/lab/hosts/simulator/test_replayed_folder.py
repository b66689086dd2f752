"""A run folder of a simulated run is replayed to the same bytes, and has the files of one on
containers.
"""

from pathlib import Path

import pytest

from lab.program.errors import ScenarioError
from lab.replay.run import read_simulated, replay
from lab.run.outcome import RunOptions
from lab.run.simulated import run_simulated
from tests.lab.hosts.simulator.plans import plan


class Unjudged:
    """No Spark: the bytes of the record are what is looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def judge(self) -> int:
        return 0

    def abandon(self) -> None:
        pass


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
