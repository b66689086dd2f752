"""Simulated runs as lines of their files, and as one Parquet file of lines, as a sweep writes them.

A run is kept as a mapping of files to lines, so that a test spoils a copy of it by changing a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lab.campaigns.sweep.task import Lines, files_of
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan
from tests.lab.hosts.simulator.plans import plan

Files = dict[str, list[str]]


def recorded(scenario: str, seed: int) -> Files:
    """The record of a simulated run, without the inputs of cores."""
    return recorded_of(plan(scenario, seed))


def recorded_of(asked: Plan) -> Files:
    record = simulate(asked, keeps_inputs=False)
    return {file: list(lines) for file, lines in files_of(asked, record)}


def write_lines(path: Path, runs: Mapping[str, Files]) -> None:
    """One batch of a sweep, complete. `path` is its Parquet file, in a folder of its own."""
    lines = Lines()
    for seed, (run, files) in enumerate(runs.items()):
        for file, texts in files.items():
            lines.add(run, seed, file, texts)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines.write(path)
    (path.parent / "_SUCCESS").touch()


def write_folder(path: Path, files: Files) -> Path:
    """A run folder as the lab writes it."""
    for file, texts in files.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path
