"""Whole experiments on containers, as a user runs them: each reaches the verdict its file
expects, and the simulator agrees.

All of them are for the night; here are the calm one, judged as for a user, and two that break most,
judged one after the other as in a suite.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import docker
import pytest

from lab.run.judge import Judge

ROOT = Path(__file__).parents[2]
LONGEST_S = 900
ALONE = "calm"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with Judge(tmp_path_factory.mktemp("judge") / "judge.log") as judge:
        yield judge


@pytest.mark.scenario
@pytest.mark.usefixtures("lab_images")
@pytest.mark.timeout(LONGEST_S + 60)
@pytest.mark.parametrize(
    "scenario",
    [ALONE, "primary-loses-its-queue-database", "discard-notifications-survive"],
)
def test_a_scenario_ends_in_pass_with_a_report_and_leaves_nothing_running(
    scenario: str, tmp_path: Path, docker_engine: docker.DockerClient, judge: Judge
) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    asked = {} if scenario == ALONE else judge.environment()
    done = _shadowlab("run", scenario, "--on", "containers", folder=tmp_path, environment=asked)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "runs" / scenario / "latest"
    verdict: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
    assert verdict["verdict"] == "pass"
    assert verdict["delivery"]["expected"] >= 200
    assert verdict["delivery"]["lost"] == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "junit.xml").exists()
    assert not list(folder.rglob("*.key"))
    left: dict[str, Any] = {"label": f"shadowlab.run={verdict['run']}"}
    assert docker_engine.containers.list(all=True, filters=left) == []
    assert docker_engine.networks.list(filters=left) == []
    _expect_the_simulator_to_agree(scenario, folder.resolve(), tmp_path, judge)


def _expect_the_simulator_to_agree(
    scenario: str, on_containers: Path, folder: Path, judge: Judge
) -> None:
    """Judged as in a suite."""
    asked = judge.environment()
    done = _shadowlab("run", scenario, "--on", "simulator", folder=folder, environment=asked)
    assert done.returncode == 0, done.stdout + done.stderr
    latest = str(folder / "runs" / scenario / "latest")
    words = ("compare", str(on_containers), latest)
    done = _shadowlab(*words, folder=folder, environment=asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of its own" not in done.stderr


def _shadowlab(
    *words: str, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command in a folder of its own, with the project's scenarios beside it."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("shadowlab")), *words],
        cwd=folder,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
