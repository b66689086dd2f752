"""One defect under some seeds of its scenario, simulated; or a sound node under the same.

A process of its own enters the defect, so nothing of it is left elsewhere. The records of the runs
become one Parquet file, as in a sweep. A node that spins is given up after a time of the processor.
"""

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from defects.catalogue import BY_NAME
from defects.defect import Context
from lab.campaigns.sweep.task import Lines, files_of
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan

LONGEST_S = 120.0
SOUND = "sound"


@dataclass(frozen=True, slots=True)
class DefectTask:
    """`defect` is a name of the catalogue, or SOUND; the plans are of one scenario. `file` is
    written.
    """

    defect: str
    plans: tuple[Plan, ...]
    file: Path

    def runs(self) -> dict[str, Plan]:
        """By what a run is called in the record and in the results."""
        return {f"{self.defect}/{plan.scenario}/{plan.seed}": plan for plan in self.plans}


@dataclass(frozen=True, slots=True)
class Done:
    """Runs and what ended them, a line each: `crashes` of a node, `bugs` where nothing could be
    simulated at all.
    """

    crashes: tuple[tuple[str, str], ...]
    bugs: tuple[tuple[str, str], ...]


class _TooLong(BaseException):
    """No Exception: what guards a process against its node's mistakes must let it through."""


def carry_out(task: DefectTask) -> Done:
    """Raises OSError."""
    lines = Lines()
    crashes: list[tuple[str, str]] = []
    bugs: list[tuple[str, str]] = []
    for run, plan in task.runs().items():
        try:
            record = _simulated(plan, task.defect)
        except _TooLong:
            bugs.append((run, f"not over after {LONGEST_S:.0f} s: a node spins"))
        except Exception:
            bugs.append((run, _last_line(traceback.format_exc())))
        else:
            crashes += [(run, said) for said in _crashes(record)]
            for file, texts in files_of(plan, record):
                lines.add(run, plan.seed, file, texts)
    lines.write(task.file)
    return Done(tuple(crashes), tuple(bugs))


def _simulated(plan: Plan, defect: str) -> RecordInMemory:
    with _broken(defect), _at_most(LONGEST_S):
        return simulate(plan, keeps_inputs=False)


def _broken(defect: str) -> Context:
    return nullcontext() if defect == SOUND else BY_NAME[defect].broken()


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Of the processor; in the main thread of a process."""

    def over(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _crashes(record: RecordInMemory) -> list[str]:
    return [f"{server}: {_last_line(said[0])}" for server, said in record.crashes.items()]


def _last_line(said: str) -> str:
    return said.strip().splitlines()[-1]
