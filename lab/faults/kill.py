"""A kill: SIGKILL through the engine, and a start at the end, with its queue database or without.

Evidence is the exit code 137 and a server that shows nobody a banner. It is back when its banner
is seen, not when it was started. A queue database that it must not return with is moved aside
while it is down, and kept for whoever wants to look at it.
"""

from collections.abc import Mapping

from lab import plan_parts
from lab.evidence import Evidence
from lab.faults.banner import is_back, shows_nobody_a_banner, wait_until_back
from lab.running_lab import RunningLab

KILLED = 128 + 9


class Kill:
    """One kill of a plan."""

    def __init__(self, planned: plan_parts.Kill, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._server, self._lab = planned, planned.server, lab
        self._exit_code: int | None = None
        self._started_ns: int | None = None

    def describe(self) -> str:
        database = self._planned.returns_with.replace("-", " ")
        return f"kill {self._server}, returns with the {database}"

    def intent(self) -> Mapping[str, object]:
        returns_with = self._planned.returns_with
        return {"kind": "kill", "server": self._server, "returns_with": returns_with}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._lab.servers.kill(self._server)
        return {"exit_code": self._exit_code}

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._planned)
        if self._exit_code != KILLED:
            reason = f"exit code {self._exit_code}, not {KILLED}"
            return Evidence(False, seen.observations, reason)
        return seen

    def stop(self) -> None:
        if not self._lab.servers.is_running(self._server):
            if self._planned.returns_with == "new-queue-database":
                self._lab.servers.set_aside_queue_database(self._server, self.id)
            self._started_ns = self._lab.monotonic_ns()
            self._lab.servers.start(self._server)

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        back = wait_until_back(self._lab, self._server)
        self._lab.standing.healed(self.id)
        return {"started_mono_ns": self._started_ns, **back}

    def evidence_healed(self) -> Evidence:
        return is_back(self._lab, self._server)
