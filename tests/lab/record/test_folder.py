"""The run folder: whole files, whole lines, and links to the newest."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

from lab.record.folder import JsonLines, RunFolder, point_latest

STARTED = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)


def test_the_folder_is_named_by_start_and_seed(tmp_path: Path) -> None:
    assert RunFolder.create(tmp_path, "calm", 7, STARTED).path == (
        tmp_path / "calm" / "20260301T123005Z-7"
    )


def test_the_run_id_names_scenario_start_and_seed(tmp_path: Path) -> None:
    run_id = RunFolder.create(tmp_path, "calm", 7, STARTED).run_id
    assert run_id.rpartition("-")[0] == "calm-20260301T123005Z-7"


def judged(root: Path, second: int, verdict: bool = True) -> Path:
    """A run folder that began in that second, with a verdict or without."""
    folder = RunFolder.create(root, "calm", 7, STARTED.replace(second=second))
    if verdict:
        folder.write_json("verdict.json", {"verdict": "pass"})
    return folder.path


def test_latest_moves_to_the_newer_run_with_a_verdict(tmp_path: Path) -> None:
    for second in (1, 2):
        folder = judged(tmp_path, second)
        point_latest(folder)
        assert (tmp_path / "calm" / "latest").resolve() == folder
        assert (tmp_path / "latest").resolve() == folder


def test_latest_does_not_go_back_to_a_run_that_began_earlier(tmp_path: Path) -> None:
    earlier, later = judged(tmp_path, 1), judged(tmp_path, 2)
    point_latest(later)
    point_latest(earlier)
    assert (tmp_path / "calm" / "latest").resolve() == later


def test_latest_leaves_a_later_run_that_has_no_verdict(tmp_path: Path) -> None:
    earlier, later = judged(tmp_path, 1), judged(tmp_path, 2, verdict=False)
    (tmp_path / "calm" / "latest").symlink_to(later.name)
    (tmp_path / "latest").symlink_to("latest")
    point_latest(earlier)
    assert (tmp_path / "calm" / "latest").resolve() == earlier
    assert (tmp_path / "latest").resolve() == earlier


def test_a_folder_that_somebody_called_latest_stays(tmp_path: Path) -> None:
    folder = judged(tmp_path, 1)
    (tmp_path / "calm" / "latest").mkdir()
    point_latest(folder)
    assert (tmp_path / "calm" / "latest").is_dir()
    assert (tmp_path / "latest").resolve() == folder


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
