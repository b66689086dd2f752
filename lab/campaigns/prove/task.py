"""One defect under some seeds of its scenario, or a sound node under the same.

A process of its own enters the defect, so nothing of it is left elsewhere. A node that spins is
given up after a time of the processor.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import FrameType

from defects.catalogue import BY_NAME
from defects.defect import Context
from lab.campaigns.prove.verdict import violated_in
from lab.campaigns.run import Keeping, Result, Run
from lab.hosts.simulator.record_in_memory import RecordInMemory
from lab.hosts.simulator.simulation import simulate
from lab.plan.plan import Plan

LONGEST_S = 120.0
SOUND = "sound"


@dataclass(frozen=True, slots=True)
class DefectTask:
    """`defect` is a name of the catalogue, or SOUND; the plans are of one scenario."""

    defect: str
    plans: tuple[Plan, ...]
    keeping: Keeping | None = None

    def names(self) -> list[str]:
        """What its runs are called."""
        return [f"{self.defect}/{plan.scenario}/{plan.seed}" for plan in self.plans]

    def runs(self) -> Iterator[Run]:
        for name, plan in zip(self.names(), self.plans, strict=True):
            yield Run(name, name, plan, partial(_simulated, plan, self.defect), self.keeping)


def is_not_caught(claims: tuple[str, ...], result: Result) -> bool:
    """By all that must catch it."""
    return not violated_in(result).issuperset(claims)


class _TooLong(BaseException):
    """No Exception: what guards a process against its node's mistakes must let it through."""


def _simulated(plan: Plan, defect: str, *, keeps_inputs: bool) -> RecordInMemory:
    try:
        with _broken(defect), _at_most(LONGEST_S):
            return simulate(plan, keeps_inputs=keeps_inputs)
    except _TooLong:
        raise TimeoutError(f"not over after {LONGEST_S:.0f} s: a node spins") from None


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
