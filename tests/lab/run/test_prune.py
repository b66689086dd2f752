"""Old runs go; the latest of a scenario, what is under way and what lies elsewhere stay."""

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab.cli.__main__ import main
from lab.run.prune import prunable

NOW = datetime(2026, 1, 31, 8, tzinfo=UTC)
RUNS = Path("runs")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two scenarios with four runs each, a day after another, and three sweeps of one."""
    monkeypatch.chdir(tmp_path)
    for scenario in ("one", "two"):
        for day in (27, 28, 29, 30):
            run(scenario, day)
        (RUNS / scenario / "latest").symlink_to(f"202601{30}T080000Z-7")
    (RUNS / "latest").symlink_to("one/latest")
    for day in (1, 2, 3):
        folder = RUNS / f"one/sweeps/0-{day}-abc"
        folder.mkdir(parents=True)
        (folder / "sweep.json").write_text("{}")
        at = datetime(2026, 1, day, tzinfo=UTC).timestamp()
        os.utime(folder / "sweep.json", (at, at))
    return tmp_path


def run(scenario: str, day: int, ended: bool = True) -> Path:
    folder = RUNS / scenario / f"202601{day:02}T080000Z-7"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    if ended:
        (folder / "host.json").write_text("{}")
        (folder / "verdict.json").write_text('{"verdict": "pass"}')
    return folder


def named(keep: int, older_than: timedelta | None = None) -> list[str]:
    return [
        str(folder.relative_to(RUNS)).removesuffix("T080000Z-7").replace("202601", "")
        for folder in prunable(RUNS, keep, older_than, NOW)
    ]


def test_all_but_the_newest_of_each_scenario_and_sweep_go_the_oldest_first() -> None:
    assert named(3) == ["one/27", "two/27"]
    assert named(2) == ["one/sweeps/0-1-abc", "one/27", "two/27", "one/28", "two/28"]


def test_what_is_younger_than_asked_stays() -> None:
    found = named(1, timedelta(days=3))
    assert found == ["one/sweeps/0-1-abc", "one/sweeps/0-2-abc", "one/27", "two/27"]


def test_the_latest_of_a_scenario_stays_whatever_is_asked() -> None:
    assert not any("30" in name or "0-3" in name for name in named(0, timedelta(0)))


def test_the_run_that_latest_leads_to_stays_even_if_others_are_newer() -> None:
    (RUNS / "two/latest").unlink()
    (RUNS / "two/latest").symlink_to("20260127T080000Z-7")
    assert "two/27" not in named(1)
    assert "two/28" in named(1)


def test_a_run_under_way_stays_and_one_that_was_killed_goes() -> None:
    (RUNS / "one/20260129T080000Z-7/host.json").unlink()
    young = datetime(2026, 1, 29, 9, tzinfo=UTC)
    paths = prunable(RUNS, 1, None, young)
    assert RUNS / "one/20260129T080000Z-7" not in paths
    assert RUNS / "one/20260129T080000Z-7" in prunable(RUNS, 1, None, NOW)


def test_a_run_that_is_being_judged_stays() -> None:
    judged = RUNS / "one/20260129T080000Z-7"
    (RUNS / "one/latest").unlink()
    young = datetime(2026, 1, 30, 9, tzinfo=UTC)
    (judged / "verdict.json").unlink()
    assert judged not in prunable(RUNS, 1, None, datetime(2026, 1, 29, 9, tzinfo=UTC))
    (judged / "host.json").write_text('{"cause": "no engine"}')
    assert judged in prunable(RUNS, 1, None, young)


def test_what_cannot_be_removed_is_said_and_the_rest_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    really = shutil.rmtree

    def rmtree(folder: Path) -> None:
        if folder.parent.name == "one":
            raise PermissionError(13, "Permission denied", str(folder))
        really(folder)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    assert main(["prune", "--keep", "3"]) == 3
    said = capsys.readouterr()
    assert said.out.splitlines() == ["runs/two/20260127T080000Z-7"]
    assert "1 folder could not be removed: runs/one/20260127T080000Z-7" in said.err
    assert not (RUNS / "two/20260127T080000Z-7").exists()


def test_nothing_behind_a_link_goes(here: Path) -> None:
    elsewhere = here / "elsewhere"
    (RUNS / "two").rename(elsewhere)
    (RUNS / "two").symlink_to(elsewhere)
    (RUNS / "one/20260126T080000Z-7").symlink_to(elsewhere / "20260127T080000Z-7")
    assert main(["prune", "--keep", "1"]) == 0
    assert len(list(elsewhere.iterdir())) == 5
    assert (RUNS / "one/20260126T080000Z-7").is_symlink()


def test_a_dry_run_names_what_would_go_and_removes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(RUNS.rglob("*"))
    assert main(["prune", "--keep", "3", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == ["runs/one/20260127T080000Z-7", "runs/two/20260127T080000Z-7"]
    assert said.err == "2 folders, 0.0 MB would go\n"
    assert sorted(RUNS.rglob("*")) == before


def test_what_is_named_is_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--keep", "3"]) == 0
    assert not (RUNS / "one/20260127T080000Z-7").exists()
    assert len(list((RUNS / "one").glob("2026*"))) == 3


def test_a_span_that_is_none_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prune", "--older-than", "soon"]) == 4
    assert capsys.readouterr().err.startswith("shadowlab: --older-than: 'soon' ")
