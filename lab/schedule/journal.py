"""The record of faults and operations, written ahead: what is intended is on disk before it is
done.

`faults.jsonl` has a line for each phase that a fault goes through, with lab time and the host's
monotonic time beside it; `operations.jsonl` the same of operations, which nobody heals. What is
judged runs from these lines, not from the plan.
"""

import time
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Protocol

from lab.clock import LabClock


class Phase(StrEnum):
    """In this order; `evidence` may be missing for a fault that was cut short.

    The first two are of faults that wait for a place; one that is never reached leads straight to
    evidence, which is none, and to what is trivially healed.
    """

    ARMED = "armed"
    REACHED = "reached"
    INTENDED = "intended"
    APPLIED = "applied"
    EVIDENCE = "evidence"
    HEAL_INTENDED = "heal-intended"
    HEALED = "healed"
    EVIDENCE_HEALED = "evidence-healed"


class Lines(Protocol):
    """Where the lines of the journal go."""

    def append(self, row: Mapping[str, object]) -> None: ...


OF_OPERATIONS = (Phase.INTENDED, Phase.APPLIED, Phase.EVIDENCE)


class Journal:
    """Appends phases; may be used from several threads.

    What concerns one of the `operations`, by id, goes to lines of their own.
    """

    def __init__(
        self,
        lines: Lines,
        clock: LabClock,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        operations: Collection[str] = (),
        operation_lines: Lines | None = None,
    ) -> None:
        self._lines, self._clock, self._monotonic_ns = lines, clock, monotonic_ns
        self._operations, self._operation_lines = operations, operation_lines

    def is_of_operation(self, identity: str) -> bool:
        """Whether it is one of the operations, which nobody heals."""
        return identity in self._operations

    def write(self, identity: str, phase: Phase, details: Mapping[str, object]) -> None:
        if not self.is_of_operation(identity):
            self._append(self._lines, {"fault": identity}, phase, details)
        elif phase in OF_OPERATIONS and self._operation_lines is not None:
            self._append(self._operation_lines, {"operation": identity}, phase, details)

    def _append(
        self, lines: Lines, whose: Mapping[str, object], phase: Phase, details: Mapping[str, object]
    ) -> None:
        now_ns = self._monotonic_ns()
        lines.append(
            {
                **whose,
                "phase": phase.value,
                "at_ms": self._clock.lab_ms(now_ns),
                "mono_ns": now_ns,
                **details,
            }
        )
