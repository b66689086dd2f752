"""The run folder: whole files, whole lines, and links to the newest."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

from lab.run_folder import JsonLines, RunFolder

STARTED = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)


def test_the_folder_is_named_by_start_and_seed(tmp_path: Path) -> None:
    assert RunFolder.create(tmp_path, "calm", 7, STARTED).path == (
        tmp_path / "calm" / "20260301T123005Z-7"
    )


def test_the_run_id_names_scenario_start_and_seed(tmp_path: Path) -> None:
    run_id = RunFolder.create(tmp_path, "calm", 7, STARTED).run_id
    assert run_id.rpartition("-")[0] == "calm-20260301T123005Z-7"


def test_latest_moves_to_the_newer_run(tmp_path: Path) -> None:
    for seed in (1, 2):
        folder = RunFolder.create(tmp_path, "calm", seed, STARTED)
        folder.point_latest()
    assert (tmp_path / "calm" / "latest").resolve() == folder.path
    assert (tmp_path / "latest").resolve() == folder.path


def test_a_file_is_written_whole_and_nothing_else_stays(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "calm", 1, STARTED)
    folder.write_json("manifest.json", {"version": 1})
    assert [path.name for path in folder.path.iterdir()] == ["manifest.json"]


def test_lines_of_many_threads_are_whole(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "faults.jsonl")

    def write(name: int) -> None:
        for _ in range(50):
            lines.append({"n": name})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    rows = [json.loads(line) for line in (tmp_path / "faults.jsonl").read_text().splitlines()]
    assert len(rows) == 400
