"""What an administrator does at one moment, in the shape of a fault (`lab.faults.fault`): it takes
no time, and nobody heals it.
"""

from collections.abc import Mapping
from dataclasses import asdict

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.plan.operations import Operation


class Administered:
    """One operation of a plan; `start` and `evidence` are each kind's own."""

    def __init__(self, planned: Operation, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.at_ms, planned.at_ms
        self._operation, self._lab = planned, lab

    def describe(self) -> str:
        return self._operation.words()

    def intent(self) -> Mapping[str, object]:
        fields = asdict(self._operation)
        return {name: value for name, value in fields.items() if name not in ("id", "at_ms")}

    def is_over(self) -> bool:
        """Whether evidence need not wait for anybody."""
        return True

    def confirmed(self) -> Evidence:
        return Evidence(None, ())

    def stop(self) -> None:
        """Nobody heals it."""

    def healed(self) -> Mapping[str, object]:
        return {}

    def evidence_healed(self) -> Evidence:
        return Evidence(True, ())
