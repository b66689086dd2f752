"""A restart: SIGTERM, and a start as soon as the server has ended. An instant: it has no length.

Its evidence is the exit code 0, seen by the engine; how long the server is away is for its banner
to say, and no probe has to hurry.
"""

from collections.abc import Mapping

from lab import plan_parts
from lab.evidence import Evidence
from lab.faults.banner import is_back, wait_until_back
from lab.faults.stop import IN_GOOD_ORDER
from lab.running_lab import RunningLab


class Restart:
    """One restart of a plan."""

    def __init__(self, planned: plan_parts.Restart, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._server, self._lab = planned.server, lab
        self._exit_code: int | None = None

    def describe(self) -> str:
        return f"restart {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "restart", "server": self._server}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._lab.servers.restart(self._server)
        return {"exit_code": self._exit_code}

    def evidence(self) -> Evidence:
        if self._exit_code == IN_GOOD_ORDER:
            return Evidence(True, (), "it ended by itself, with exit code 0")
        reason = f"exit code {self._exit_code}, not {IN_GOOD_ORDER}: it did not end by itself"
        return Evidence(False, (), reason)

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
