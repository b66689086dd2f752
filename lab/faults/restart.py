"""A restart: SIGTERM, and a start as soon as the server has ended. An instant: it has no length.

Its evidence is the exit code 0, seen by the engine; how long the server is away is for its banner
to say, and no probe has to hurry.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.server_down import Away
from lab.faults.stop import IN_GOOD_ORDER


class Restart(Away):
    """One restart of a plan."""

    def describe(self) -> str:
        return f"restart {self._server}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "restart", "server": self._server}

    def _end(self) -> int:
        return self._lab.servers.restart(self._server)

    def evidence(self) -> Evidence:
        return self.confirmed()

    def confirmed(self) -> Evidence:
        return self._ended_with(IN_GOOD_ORDER)
