"""A task of a campaign, on whatever executor it lands: some runs, each simulated and judged there.

It leaves nothing behind but the folders of runs that somebody will look at, so a task that was lost
is simply done again.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from lab.campaigns.run import Result, Run, carry


class Task(Protocol):
    """It goes to an executor by pickle."""

    def runs(self) -> Iterator[Run]: ...


@dataclass(frozen=True, slots=True)
class Done:
    """What a task did. `crashes`: (what the run is called, server, the last line of its traceback);
    `bugs`: (what the run is called, traceback) of runs that could not be simulated at all.
    """

    results: tuple[Result, ...]
    cpu_seconds: float
    crashes: tuple[tuple[str, str, str], ...] = ()
    bugs: tuple[tuple[str, str], ...] = ()


def carry_out(task: Task) -> Done:
    """Raises OSError."""
    began = time.process_time()
    done = [(run.called, carry(run)) for run in task.runs()]
    return Done(
        results=tuple(each.result for _, each in done),
        cpu_seconds=time.process_time() - began,
        crashes=tuple((called, *crash) for called, each in done for crash in each.crashes),
        bugs=tuple((called, each.bug) for called, each in done if each.bug),
    )
