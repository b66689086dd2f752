"""A stop: SIGTERM, so that the server ends in good order; it is started at the end with all it had.

Evidence is the exit code 0 and a server that shows nobody a banner.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.server_down import Away

IN_GOOD_ORDER = 0


class Stop(Away):
    """One stop of a plan."""

    def describe(self) -> str:
        return f"stop {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "stop", "server": self._server}

    def _end(self) -> int:
        return self._lab.servers.stop(self._server)

    def confirmed(self) -> Evidence:
        return self._ended_with(IN_GOOD_ORDER)
