"""A stop: SIGTERM, so that the server ends in good order; it is started at the end with all it had,
or taken out of production, for good or for a new one.

Evidence is the exit code 0 and a server that shows nobody a banner.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_down import Away, returns_in_words
from lab.plan import faults as plan_faults

IN_GOOD_ORDER = 0


class Stop(Away):
    """One stop of a plan."""

    def __init__(self, planned: plan_faults.Stop, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned = planned

    def describe(self) -> str:
        return f"stop {self._server}, {returns_in_words(self._planned)}"

    def intent(self) -> Mapping[str, object]:
        returns_with = self._planned.returns_with
        return {"kind": "stop", "server": self._server, "returns_with": returns_with}

    def _end(self) -> int:
        return self._lab.servers.stop(self._server)

    def confirmed(self) -> Evidence:
        return self._ended_with(IN_GOOD_ORDER)
