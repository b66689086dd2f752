"""Every scenario in the simulator reaches the verdict that its file foretells; so does a sweep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.plan import default_seed
from lab.run_outcome import RunOptions
from lab.scenario_files import load_scenario
from lab.simulated_run import run_simulated
from tests.lab.simulator.plans import SCENARIOS, plan
from tests.lab.simulator.test_same_bytes import Unjudged

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All of them simulated, and judged together."""
    root = tmp_path_factory.mktemp("simulated")
    folders = {name: simulated(name, root) for name in SCENARIOS}
    command = [sys.executable, "-m", "spark_eval", *map(str, folders.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    return {n: json.loads((f / "verdict.json").read_text()) for n, f in folders.items()}


def simulated(name: str, root: Path) -> Path:
    options = RunOptions(runs=root)
    seed = default_seed(name)
    return run_simulated(plan(name, seed), options, Unjudged, lambda line: None).folder


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_reaches_the_verdict_that_it_foretells(
    name: str, verdicts: dict[str, Any]
) -> None:
    verdict = verdicts[name]
    assert (verdict["verdict"], verdict["reasons"]) == (verdict["foretold"], [])
    assert verdict["host"] == "simulator"
    assert verdict["delivery"]["expected"] >= 100
    foretold, _ = load_scenario(name)
    assert foretold is not None
    if foretold.scenario.expect.unprotected_loss is None:
        assert verdict["delivery"]["lost"] == 0


def test_a_sweep_judges_every_seed_and_the_same_command_goes_on_where_it_ended(
    tmp_path: Path,
) -> None:
    first = sweep(tmp_path)
    (folder,) = (tmp_path / "runs" / "one-server-at-a-time" / "sweeps").iterdir()
    content = json.loads((folder / "verdict.json").read_text())
    assert first.returncode == 0, first.stdout + first.stderr
    assert "4 pass" in first.stdout
    (folder / "results" / "batch=00001.jsonl").unlink()
    again = sweep(tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads((folder / "verdict.json").read_text()) == content


def sweep(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab.cli", "sweep", "one-server-at-a-time"]
    command += ["--seeds", "4", "--per-batch", "2"]
    here = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=here, capture_output=True, text=True, check=False
    )
