"""Simulated runs as lines of their files.

A run is kept as a mapping of files to lines, so that a test spoils a copy of it by changing a line.
"""

from __future__ import annotations

from pathlib import Path

from lab.campaigns.run import files_of
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


def write_folder(path: Path, files: Files) -> Path:
    """A run folder as the lab writes it."""
    for file, texts in files.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path
