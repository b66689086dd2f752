"""A damaged disk: the server is killed, and its queue database cannot be read when it returns.

A kill in all else. What was there is overwritten while the server is down, its journal too, so that
the server has to find out for itself; whether it did shows in its next database id.
"""

from collections.abc import Mapping

from lab.faults.kill import KILLED
from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_down import Away
from lab.plan import faults as plan_faults


class Corrupt(Away):
    """One damaged queue database of a plan."""

    def __init__(self, planned: plan_faults.Corrupt, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._damaged: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"kill {self._server} and damage its queue database"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "corrupt", "server": self._server}

    def start(self) -> Mapping[str, object]:
        ended = super().start()
        self._damaged = tuple(self._lab.servers.damage_queue_database(self._server))
        return {**ended, "damaged": list(self._damaged)}

    def _end(self) -> int:
        return self._lab.servers.kill(self._server)

    def confirmed(self) -> Evidence:
        ended = self._ended_with(KILLED)
        if ended.took_effect and not self._damaged:
            return Evidence(False, (), "there was no queue database to damage")
        return ended
