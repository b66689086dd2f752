"""A stop: SIGTERM, so that the server ends in good order; it is started at the end with all it had.

Evidence is the exit code 0 and a server that shows nobody a banner.
"""

from collections.abc import Mapping
from dataclasses import replace

from lab import plan_parts
from lab.evidence import Evidence
from lab.faults.away import Away
from lab.faults.banner import shows_nobody_a_banner
from lab.running_lab import RunningLab

IN_GOOD_ORDER = 0


class Stop(Away):
    """One stop of a plan."""

    def __init__(self, planned: plan_parts.Stop, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned = planned

    def describe(self) -> str:
        return f"stop {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "stop", "server": self._server}

    def _end(self) -> int:
        return self._lab.servers.stop(self._server)

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._planned)
        confirmed = self.confirmed()
        return seen if confirmed.took_effect else replace(confirmed, observations=seen.observations)

    def confirmed(self) -> Evidence:
        return self._ended_with(IN_GOOD_ORDER)
