"""A kill: SIGKILL through the engine, and a start at the end, with its queue database or without,
with nothing at all, or no start.

Evidence is the exit code 137 and a server that shows nobody a banner. It is back when its banner
is seen, not when it was started. A queue database that it must not return with is moved aside
while it is down, and kept for whoever wants to look at it.
"""

from collections.abc import Mapping

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_down import Away, returns_in_words
from lab.plan import faults as plan_faults

KILLED = 128 + 9


class Kill(Away):
    """One kill of a plan."""

    def __init__(self, planned: plan_faults.Kill, lab: RunningLab) -> None:
        super().__init__(planned, lab)
        self._planned = planned

    def describe(self) -> str:
        return f"kill {self._server}, {returns_in_words(self._planned)}"

    def intent(self) -> Mapping[str, object]:
        returns_with = self._planned.returns_with
        return {"kind": "kill", "server": self._server, "returns_with": returns_with}

    def _end(self) -> int:
        return self._lab.servers.kill(self._server)

    def confirmed(self) -> Evidence:
        return self._ended_with(KILLED)

    def _before_return(self) -> None:
        if self._planned.returns_with == "new-queue-database":
            self._lab.servers.set_aside_queue_database(self._server, self.id)
