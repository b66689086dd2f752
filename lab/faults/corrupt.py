"""A damaged disk: the server is killed, and its queue database cannot be read when it returns.

A kill in all else. What was there is overwritten while the server is down, its journal too, so that
the server has to find out for itself; whether it did shows in its next database id.
"""

from collections.abc import Mapping

from lab import plan_parts
from lab.evidence import Evidence
from lab.faults.banner import is_back, shows_nobody_a_banner, wait_until_back
from lab.faults.kill import KILLED
from lab.running_lab import RunningLab


class Corrupt:
    """One damaged queue database of a plan."""

    def __init__(self, planned: plan_parts.Corrupt, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._server, self._lab = planned, planned.server, lab
        self._exit_code: int | None = None
        self._damaged: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"kill {self._server} and damage its queue database"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "corrupt", "server": self._server}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._lab.servers.kill(self._server)
        self._damaged = tuple(self._lab.servers.damage_queue_database(self._server))
        return {"exit_code": self._exit_code, "damaged": list(self._damaged)}

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._planned)
        if self._exit_code != KILLED:
            reason = f"exit code {self._exit_code}, not {KILLED}"
            return Evidence(False, seen.observations, reason)
        if not self._damaged:
            return Evidence(False, seen.observations, "there was no queue database to damage")
        return seen

    def stop(self) -> None:
        if not self._lab.servers.is_running(self._server):
            self._lab.servers.start(self._server)

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        back = wait_until_back(self._lab, self._server)
        self._lab.standing.healed(self.id)
        return back

    def evidence_healed(self) -> Evidence:
        return is_back(self._lab, self._server)
