"""The command that sweeps: every seed has its verdict, and an interrupted sweep goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]


def test_a_sweep_judges_every_seed_and_the_same_command_goes_on_where_it_ended(
    tmp_path: Path,
) -> None:
    first = sweep(tmp_path)
    (folder,) = (tmp_path / "runs" / "queue-lost-with-two-messages" / "sweeps").iterdir()
    content = json.loads((folder / "verdict.json").read_text())
    assert first.returncode == 0, first.stdout + first.stderr
    assert "4 pass" in first.stdout
    (folder / "results" / "batch=00001.jsonl").unlink()
    again = sweep(tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert json.loads((folder / "verdict.json").read_text()) == content


def sweep(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab.cli", "sweep", "queue-lost-with-two-messages"]
    command += ["--seeds", "4", "--per-batch", "2"]
    here = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=here, capture_output=True, text=True, check=False
    )
