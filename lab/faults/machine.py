"""A machine that is out of order under a server that runs: its disk is full or used up, or its
clock is wrong.

The server is notified by the lab (`nodes.shell.chaos.machine`) and says how it finds its machine
from then on. Its answer is the evidence; what it does about it is for the logs to show. A server
that is about to return finds its machine so when it starts, and is waited for.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_banner import BACK_WITHIN_SECONDS
from lab.plan.faults import DiskUse as PlannedDiskUse
from lab.plan.faults import FillDisk as PlannedFillDisk
from lab.plan.faults import SkewClock as PlannedSkewClock
from lab.plan.quantities import format_skew

ANSWERS_WITHIN_SECONDS = 5.0
LOOK_EVERY_SECONDS = 0.01
Planned = TypeVar("Planned", PlannedFillDisk, PlannedDiskUse, PlannedSkewClock)


class _MachineFault(ABC, Generic[Planned]):
    """What both have in common. `found` is empty while the server has not said."""

    def __init__(self, planned: Planned, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._server, self._lab = planned.server, lab
        self._planned: Planned = planned
        self._found: Mapping[str, object] = {}
        self._found_at_start: Mapping[str, object] = {}

    def start(self) -> Mapping[str, object]:
        self._put_out_of_order()
        self._find_soon()
        self._found_at_start = self._found
        return {"found": dict(self._found)}

    def stop(self) -> None:
        self._put_in_order()
        self._find_soon()

    def healed(self) -> Mapping[str, object]:
        self._find(BACK_WITHIN_SECONDS)
        return {"found": dict(self._found)}

    @abstractmethod
    def _put_out_of_order(self) -> None: ...

    @abstractmethod
    def _put_in_order(self) -> None: ...

    def _find_soon(self) -> None:
        """Wait for its answer, but not where another fault has it return only now."""
        self._found = {}
        self._find(0 if self._lab.standing.is_down(self._server) else ANSWERS_WITHIN_SECONDS)

    def _find(self, within_seconds: float) -> None:
        deadline_ns = self._lab.monotonic_ns() + round(within_seconds * 1e9)
        while not self._found:
            self._found = self._lab.servers.machine(self._server)
            is_late = self._lab.monotonic_ns() > deadline_ns
            if self._found or is_late or self._lab.ending.wait(LOOK_EVERY_SECONDS):
                return

    def _evidence(self, key: str, ordered: object) -> Evidence:
        self._find(BACK_WITHIN_SECONDS)
        return self._weigh(self._found, key, ordered)

    def _weigh(self, said: Mapping[str, object], key: str, ordered: object) -> Evidence:
        if not said:
            return Evidence(None, (), f"{self._server} did not say how it finds its machine")
        found = said.get(key)
        if found != ordered:
            return Evidence(False, (), f"{self._server} finds {key} {found}, not {ordered}")
        return Evidence(True, ())


class FillDisk(_MachineFault[PlannedFillDisk]):
    """One full disk of a plan: no database of the server may grow."""

    def describe(self) -> str:
        return f"fill the disk of {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "fill_disk", "server": self._server}

    def _put_out_of_order(self) -> None:
        self._lab.servers.fill_disk(self._server, is_full=True)

    def evidence(self) -> Evidence:
        return self._evidence("disk_is_full", True)

    def _put_in_order(self) -> None:
        self._lab.servers.fill_disk(self._server, is_full=False)

    def confirmed(self) -> Evidence:
        return self._weigh(self._found_at_start, "disk_is_full", True)

    def evidence_healed(self) -> Evidence:
        return self._evidence("disk_is_full", False)


class UseDisk(_MachineFault[PlannedDiskUse]):
    """One volume of a plan that is used up to some percent."""

    def describe(self) -> str:
        return f"use the disk of {self._server} up to {self._planned.percent} %"

    def intent(self) -> Mapping[str, object]:
        percent = self._planned.percent
        return {"kind": "disk_use", "server": self._server, "percent": percent}

    def _put_out_of_order(self) -> None:
        self._lab.servers.use_disk(self._server, self._planned.percent)

    def evidence(self) -> Evidence:
        return self._evidence("disk_percent", self._planned.percent)

    def _put_in_order(self) -> None:
        self._lab.servers.use_disk(self._server, 0)

    def confirmed(self) -> Evidence:
        return self._weigh(self._found_at_start, "disk_percent", self._planned.percent)

    def evidence_healed(self) -> Evidence:
        return self._evidence("disk_percent", 0)


class SkewClock(_MachineFault[PlannedSkewClock]):
    """One wrong clock of a plan."""

    def describe(self) -> str:
        return f"the clock of {self._server} wrong by {format_skew(self._planned.by_ms)}"

    def intent(self) -> Mapping[str, object]:
        by_ms = self._planned.by_ms
        return {"kind": "skew_clock", "server": self._server, "by_ms": by_ms}

    def _put_out_of_order(self) -> None:
        self._lab.servers.skew_clock(self._server, self._planned.by_ms)

    def evidence(self) -> Evidence:
        return self._evidence("skew_ms", self._planned.by_ms)

    def _put_in_order(self) -> None:
        self._lab.servers.skew_clock(self._server, 0)

    def confirmed(self) -> Evidence:
        return self._weigh(self._found_at_start, "skew_ms", self._planned.by_ms)

    def evidence_healed(self) -> Evidence:
        return self._evidence("skew_ms", 0)
