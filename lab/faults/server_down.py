"""A server that is ended and comes back, as it was, anew or never: what kill, stop, restart and
corrupt share.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from lab.faults.observer.evidence import Evidence
from lab.faults.observer.target import RunningLab
from lab.faults.server_banner import is_back, shows_nobody_a_banner, wait_until_back
from lab.plan.faults import LOSES_SERVER, Kill, ServerFault, Stop, is_for_good


class Away(ABC):
    """From the end of the process to its banner. How it is ended is for each fault to say."""

    def __init__(self, planned: ServerFault, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._server, self._lab = planned.server, lab
        self._ends_server = planned
        self.is_for_good = is_for_good(planned)
        self._exit_code: int | None = None
        self._started_ns: int | None = None

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._end()
        self._lose_server()
        return {"exit_code": self._exit_code}

    def _lose_server(self) -> None:
        """With everything on its disk; a new one is made while its place is empty (TP-8)."""
        planned, servers = self._ends_server, self._lab.servers
        if isinstance(planned, Kill | Stop) and planned.returns_with in LOSES_SERVER:
            servers.lose(self._server)
            if not self.is_for_good:
                topology = self._lab.plan.topology
                servers.make_anew(self._server, topology.databases_on(self._server))

    @abstractmethod
    def _end(self) -> int:
        """End the process; its exit code."""

    def evidence(self) -> Evidence:
        seen = shows_nobody_a_banner(self._lab, self._ends_server)
        confirmed = self.confirmed()
        return seen if confirmed.took_effect else replace(confirmed, observations=seen.observations)

    @abstractmethod
    def confirmed(self) -> Evidence:
        """By the exit code."""

    def _ended_with(self, expected: int) -> Evidence:
        if self._exit_code == expected:
            return Evidence(True, (), f"exit code {expected}, seen by the engine")
        by_itself = "" if expected else ": it did not end by itself"
        return Evidence(False, (), f"exit code {self._exit_code}, not {expected}{by_itself}")

    def stop(self) -> None:
        if not self._lab.servers.is_running(self._server):
            self._before_return()
            self._started_ns = self._lab.monotonic_ns()
            self._lab.servers.start(self._server)

    def _before_return(self) -> None:  # noqa: B027 (most leave it alone)
        """What happens to the server's disk while it is down."""

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        back = wait_until_back(self._lab, self.id, self._server)
        self._lab.standing.healed(self.id)
        return {"started_mono_ns": self._started_ns, **back}

    def evidence_healed(self) -> Evidence:
        return is_back(self._lab, self.id, self._server)


def returns_in_words(planned: Kill | Stop) -> str:
    """`never returns`, `returns with the new queue database`."""
    match planned.returns_with:
        case "never":
            return "never returns"
        case "new-server":
            return "returns as a new server"
        case database:
            return f"returns with the {database.replace('-', ' ')}"
