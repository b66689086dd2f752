"""A machine that is out of order under a server that runs: its disk is full, or its clock wrong.

The server is told by the lab (`nodes.shell.machine`) and says how it finds its machine from then
on. Its answer is the evidence; what it does about it is for the logs to show.
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from lab.evidence import Evidence
from lab.plan_parts import FillDisk as PlannedFillDisk
from lab.plan_parts import SkewClock as PlannedSkewClock
from lab.quantities import format_skew
from lab.running_lab import RunningLab

Planned = TypeVar("Planned", PlannedFillDisk, PlannedSkewClock)


class _MachineFault(Generic[Planned]):
    """What both have in common. `found` is empty while the server has not answered."""

    def __init__(self, planned: Planned, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._server, self._lab = planned.server, lab
        self._planned: Planned = planned
        self._found: Mapping[str, object] = {}

    def healed(self) -> Mapping[str, object]:
        return {"found": dict(self._found)}

    def _evidence(self, key: str, ordered: object) -> Evidence:
        if not self._found:
            return Evidence(None, (), f"{self._server} did not say how it finds its machine")
        found = self._found.get(key)
        if found != ordered:
            return Evidence(False, (), f"{self._server} finds {key} {found}, not {ordered}")
        return Evidence(True, ())


class FillDisk(_MachineFault[PlannedFillDisk]):
    """One full disk of a plan: no database of the server may grow."""

    def describe(self) -> str:
        return f"fill the disk of {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "fill_disk", "server": self._server}

    def start(self) -> Mapping[str, object]:
        self._found = self._lab.servers.fill_disk(self._server, is_full=True)
        return {"found": dict(self._found)}

    def evidence(self) -> Evidence:
        return self._evidence("disk_is_full", True)

    def stop(self) -> None:
        self._found = self._lab.servers.fill_disk(self._server, is_full=False)

    def evidence_healed(self) -> Evidence:
        return self._evidence("disk_is_full", False)


class SkewClock(_MachineFault[PlannedSkewClock]):
    """One wrong clock of a plan."""

    def describe(self) -> str:
        return f"the clock of {self._server} wrong by {format_skew(self._planned.by_ms)}"

    def intent(self) -> Mapping[str, object]:
        by_ms = self._planned.by_ms
        return {"kind": "skew_clock", "server": self._server, "by_ms": by_ms}

    def start(self) -> Mapping[str, object]:
        self._found = self._lab.servers.skew_clock(self._server, self._planned.by_ms)
        return {"found": dict(self._found)}

    def evidence(self) -> Evidence:
        return self._evidence("skew_ms", self._planned.by_ms)

    def stop(self) -> None:
        self._found = self._lab.servers.skew_clock(self._server, 0)

    def evidence_healed(self) -> Evidence:
        return self._evidence("skew_ms", 0)
