"""The fault that does nothing: what a new one grows from.

Its evidence is that the lab goes on as before. It is not offered in scenario files.
"""

from collections.abc import Mapping
from typing import Protocol

from lab.faults.observer.evidence import Evidence, look, wait_seconds
from lab.faults.observer.target import RunningLab
from lab.workload.probe import Seen


class Planned(Protocol):
    """What a plan says of every fault."""

    @property
    def id(self) -> str: ...

    @property
    def start_ms(self) -> int: ...

    @property
    def end_ms(self) -> int: ...


class Calm:
    """Nothing happens from start to end."""

    def __init__(self, planned: Planned, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._lab = lab

    def describe(self) -> str:
        return "calm"

    def intent(self) -> Mapping[str, object]:
        return {}

    def start(self) -> Mapping[str, object]:
        return {}

    def evidence(self) -> Evidence:
        wait = wait_seconds(self._lab, self.start_ms, self.end_ms)
        return look(self._lab, self.id, list(self._lab.links), {Seen.BANNER}, wait)

    def confirmed(self) -> Evidence:
        return Evidence(None, ())

    def stop(self) -> None:
        pass

    def healed(self) -> Mapping[str, object]:
        return {}

    def evidence_healed(self) -> Evidence:
        return self.evidence()
