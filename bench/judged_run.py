"""The run that the measurements of the evaluation judge: a simulated one of 232 messages, whose
record has the lines that one on containers has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.planning.resolve import default_seed, resolve
from lab.run.outcome import RunOptions
from lab.run.simulated import run_simulated
from lab.validation.library import load_scenario

SCENARIO = "primary-loses-its-queue-database"
ROUNDS = 3


@contextmanager
def judged_run() -> Iterator[Path]:
    """Its folder, as long as the context lasts."""
    checked, mistakes = load_scenario(SCENARIO)
    assert checked is not None, mistakes
    plan = resolve(checked.scenario, checked.topology, default_seed(SCENARIO))
    with TemporaryDirectory(prefix="shadowlab-bench-") as folder:
        options = RunOptions(runs=Path(folder) / "runs")
        yield run_simulated(plan, options, Unjudged, lambda line: None).folder


class Unjudged:
    """A run that is judged later."""

    def __init__(self, folder: Path) -> None:
        pass

    def judge(self) -> int:
        return 0

    def abandon(self) -> None:
        pass
