"""A stop: SIGTERM, so that the server ends in good order; it is started at the end with all it had.

Evidence is the exit code 0 and a server that shows nobody a banner.
"""

from collections.abc import Mapping

from lab import plan_parts
from lab.evidence import Evidence
from lab.faults.banner import is_back, shows_nobody_a_banner, wait_until_back
from lab.running_lab import RunningLab

IN_GOOD_ORDER = 0


class Stop:
    """One stop of a plan."""

    def __init__(self, planned: plan_parts.Stop, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._server, self._lab = planned, planned.server, lab
        self._exit_code: int | None = None
        self._started_ns: int | None = None

    def describe(self) -> str:
        return f"stop {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "stop", "server": self._server}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._lab.servers.stop(self._server)
        return {"exit_code": self._exit_code}

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._planned)
        if self._exit_code != IN_GOOD_ORDER:
            reason = f"exit code {self._exit_code}, not {IN_GOOD_ORDER}: it did not end by itself"
            return Evidence(False, seen.observations, reason)
        return seen

    def stop(self) -> None:
        if not self._lab.servers.is_running(self._server):
            self._started_ns = self._lab.monotonic_ns()
            self._lab.servers.start(self._server)

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        back = wait_until_back(self._lab, self._server)
        self._lab.standing.healed(self.id)
        return {"started_mono_ns": self._started_ns, **back}

    def evidence_healed(self) -> Evidence:
        return is_back(self._lab, self._server)
