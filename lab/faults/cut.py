"""A cut: sessions that `from` opens towards `to` fail in one of five ways, one direction at a time.

Which calls of the proxy make which kind is the proxy's business; here is what a new connection
must see while the cut lasts, measured in the self-test of the lab (tests/integration).
"""

from collections.abc import Collection, Mapping

from lab import plan_parts
from lab.evidence import (
    LONGEST_WAIT_SECONDS,
    Evidence,
    link_row,
    observe,
    representatives,
    untouched,
    wait_seconds,
    weigh,
)
from lab.plan_parts import CutKind
from lab.probe import Seen
from lab.running_lab import RunningLab

FORETOLD: Mapping[CutKind, Collection[Seen]] = {
    "refuse": {Seen.REFUSED},
    "blackhole": {Seen.SILENT},
    "stall": {Seen.SILENT},
    "reset": {Seen.RESET},
    "ack-lost": {Seen.SILENT},
}


class Cut:
    """One cut of a plan, over all of its links at once."""

    def __init__(self, planned: plan_parts.Cut, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._kind, self._links, self._lab = planned.cut_kind, planned.links, lab
        self._proxies = [lab.links[link].proxy for link in planned.links]

    def describe(self) -> str:
        first = f"{self._links[0].source} to {self._links[0].target}" if self._links else "no link"
        more = f" and {len(self._links) - 1} more" if len(self._links) > 1 else ""
        return f"cut ({self._kind}) {first}{more}"

    def intent(self) -> Mapping[str, object]:
        return {
            "kind": "cut",
            "cut_kind": self._kind,
            "links": [link_row(link) for link in self._links],
        }

    def start(self) -> Mapping[str, object]:
        self._lab.standing.cut(self.id, self._links)
        self._lab.proxies.cut(self.id, self._kind, self._proxies)
        return {"read_back": self._read_back()}

    def evidence(self) -> Evidence:
        """Probes links whose target is up: a server that is down hides what the cut does."""
        up = [link for link in self._links if not self._lab.standing.is_down(link.target)]
        if not up:
            return Evidence(None, (), "every server that the cut leads to is down")
        wait = wait_seconds(self._lab, self.start_ms, self.end_ms)
        others = untouched(self._lab, self._links)
        return weigh(
            observe(self._lab, representatives(self._lab, up), others, wait), FORETOLD[self._kind]
        )

    def stop(self) -> None:
        self._lab.proxies.heal(self.id, self._kind, self._proxies)
        self._lab.standing.healed(self.id)

    def healed(self) -> Mapping[str, object]:
        return {"read_back": self._read_back()}

    def evidence_healed(self) -> Evidence:
        free = [link for link in self._links if not self._lab.standing.is_touched(link)]
        if not free:
            return Evidence(None, (), "other faults act on every link of this cut")
        links = representatives(self._lab, free)
        return weigh(observe(self._lab, links, (), LONGEST_WAIT_SECONDS), {Seen.BANNER})

    def _read_back(self) -> dict[str, Mapping[str, object]]:
        return dict(self._lab.proxies.read_back(self._proxies))
