import json
from pathlib import Path

import pytest

import bench.__main__ as collection
from bench.result import alone, beside


def test_every_measurement_is_found_by_its_module() -> None:
    assert "lab_up" in collection.measurements()
    assert "result" not in collection.measurements()


def test_a_ratio_is_ours_to_theirs_and_ours_where_nothing_lies_beside() -> None:
    assert beside("up", 8.0, 4.0, "s", "bare").ratio == 2.0
    memory = alone("memory", 55.5, "MiB")
    assert (memory.theirs, memory.ratio) == (None, 55.5)


def test_results_are_kept_by_name_and_a_new_one_replaces_the_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(collection, "RESULTS", tmp_path / "results.json")
    collection.keep([beside("up", 8.0, 4.0, "s", "bare"), alone("memory", 1.0, "MiB")])
    collection.keep([beside("up", 6.0, 4.0, "s", "bare")])
    written = json.loads((tmp_path / "results.json").read_text())
    assert [(row["name"], row["ours"]) for row in written] == [("memory", 1.0), ("up", 6.0)]
    assert set(written[0]) == {"name", "ours", "theirs", "ratio", "unit", "against"}
