"""Writes the folder of a sweep as the lab does, with the results of runs from `run_builder`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_eval.sweep.result import Result, result_of
from tests.spark_eval.runs.run_builder import Run

SCENARIO = "calm"


def write_sweep(
    root: Path,
    runs: Mapping[int, Run],
    *,
    per_batch: int = 2,
    seeds: int | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """`runs` by seed, all judged; `seeds` where more were asked than there are runs; `more` stands
    in sweep.json too.
    """
    first = min(runs)
    folder = root / "sweep"
    (folder / "results").mkdir(parents=True)
    count = len(runs) if seeds is None else seeds
    asked = {
        "version": 1, "scenario": SCENARIO, "first_seed": first, "seeds": count,
        "per_batch": per_batch, **(more or {}),
    }  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(asked), encoding="utf-8")
    for seed, run in runs.items():
        result = judged(seed, run, asked.get("settings"))
        number = (seed - first) // per_batch
        with (folder / "results" / f"batch={number:05d}.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(result)}\n")
    return folder


def judged(seed: int, run: Run, settings: Any = None) -> Result:
    """As a campaign has it judged, by the bytes of its files."""
    run.name, run.plan["seed"] = f"{SCENARIO}-{seed}", seed
    files = {file: text.encode() for file, text in run.texts().items()}
    return result_of(run.name, seed, files, settings)
