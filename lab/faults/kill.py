"""A kill: SIGKILL through the engine, and a start at the end, with its queue database or without.

Evidence is the exit code 137 and a server that shows nobody a banner. It is back when its banner
is seen, not when it was started. A queue database that it must not return with is moved aside
while it is down, and kept for whoever wants to look at it.
"""

from collections.abc import Mapping

from lab import plan_parts
from lab.agent import AgentError
from lab.errors import GroundError
from lab.evidence import (
    LONGEST_WAIT_SECONDS,
    Evidence,
    observe,
    representatives,
    untouched,
    wait_seconds,
    weigh,
)
from lab.plan_parts import LinkName
from lab.probe import Seen
from lab.running_lab import RunningLab

KILLED = 128 + 9
BACK_WITHIN_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.05
LOOK_WAIT_SECONDS = 0.5
NO_BANNER = {Seen.REFUSED, Seen.SILENT, Seen.RESET, Seen.CLOSED}


class Kill:
    """One kill of a plan."""

    def __init__(self, planned: plan_parts.Kill, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._server, self._returns_with, self._lab = planned.server, planned.returns_with, lab
        self._monotonic_ns = lab.monotonic_ns
        self._exit_code: int | None = None
        self._started_ns: int | None = None

    def describe(self) -> str:
        return f"kill {self._server}, returns with the {self._returns_with.replace('-', ' ')}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "kill", "server": self._server, "returns_with": self._returns_with}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.down(self.id, self._server)
        self._exit_code = self._lab.servers.kill(self._server)
        return {"exit_code": self._exit_code}

    def evidence(self) -> Evidence:
        wait = wait_seconds(self._lab, self.start_ms, self.end_ms)
        links = self._lab.links_to(self._server)
        others = untouched(self._lab, links)
        seen = weigh(observe(self._lab, representatives(self._lab, links), others, wait), NO_BANNER)
        if self._exit_code != KILLED:
            reason = f"exit code {self._exit_code}, not {KILLED}"
            return Evidence(False, seen.observations, reason)
        return seen

    def stop(self) -> None:
        if not self._lab.servers.is_running(self._server):
            if self._returns_with == "new-queue-database":
                self._lab.servers.set_aside_queue_database(self._server, self.id)
            self._started_ns = self._monotonic_ns()
            self._lab.servers.start(self._server)

    def healed(self) -> Mapping[str, object]:
        """GroundError when no banner is seen for a minute."""
        seen_ns = self._banner_seen_ns()
        self._lab.standing.healed(self.id)
        return {
            "started_mono_ns": self._started_ns,
            "banner_ms": self._lab.clock.lab_ms(seen_ns),
            "banner_mono_ns": seen_ns,
        }

    def evidence_healed(self) -> Evidence:
        free = self._free_links()
        if not free:
            return Evidence(True, (), "its banner was seen from inside; every link to it is cut")
        links = representatives(self._lab, free)
        return weigh(observe(self._lab, links, (), LONGEST_WAIT_SECONDS), {Seen.BANNER})

    def _banner_seen_ns(self) -> int:
        deadline_ns = self._monotonic_ns() + round(BACK_WITHIN_SECONDS * 1e9)
        while not self._shows_banner():
            if self._lab.ending.wait(LOOK_EVERY_SECONDS):
                raise GroundError(f"the run ended before {self._server} was back")
            if self._monotonic_ns() > deadline_ns:
                raise GroundError(
                    f"{self._server} shows no banner {BACK_WITHIN_SECONDS:.0f} s after its start",
                    f"its own words are in logs/{self._server}/stderr.log of the run folder",
                )
        return self._monotonic_ns()

    def _shows_banner(self) -> bool:
        """Over a link that nothing else acts on; from inside the server when there is none."""
        free = self._free_links()
        if not free:
            return self._lab.servers.answers(self._server)
        try:
            address = self._lab.links[free[0]].address
            return self._lab.prober.probe(address, LOOK_WAIT_SECONDS).seen is Seen.BANNER
        except AgentError:
            return False

    def _free_links(self) -> list[LinkName]:
        links = self._lab.links_to(self._server)
        return [link for link in links if not self._lab.standing.is_cut(link)]
