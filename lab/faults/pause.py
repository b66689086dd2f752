"""A pause: the server stands still where it is, as by SIGSTOP, and goes on at the end.

Its port still takes connections, since that is the kernel's doing, and nobody answers them; time
goes on without it. Evidence is what the host says of it, and that its banner is seen nowhere.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_banner import is_back, shows_nobody_a_banner, wait_until_back
from lab.plan import faults as plan_faults


class Pause:
    """One pause of a plan."""

    def __init__(self, planned: plan_faults.Pause, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._server, self._lab = planned, planned.server, lab
        self._was_paused = False

    def describe(self) -> str:
        return f"pause {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "pause", "server": self._server}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._lab.servers.pause(self._server)
        self._was_paused = self._lab.servers.is_paused(self._server)
        return {"paused": self._was_paused}

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._planned)
        if not self._lab.servers.is_paused(self._server):
            return Evidence(False, seen.observations, f"{self._server} is not paused")
        return seen

    def confirmed(self) -> Evidence:
        if not self._was_paused:
            return Evidence(False, (), f"{self._server} is not paused")
        return Evidence(True, (), "the engine said that it is paused")

    def stop(self) -> None:
        if self._lab.servers.is_paused(self._server):
            self._lab.servers.resume(self._server)

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        back = wait_until_back(self._lab, self.id, self._server)
        self._lab.standing.healed(self.id)
        return back

    def evidence_healed(self) -> Evidence:
        return is_back(self._lab, self.id, self._server)
