"""A cut: sessions that `from` opens towards `to` fail in one of five ways, one direction at a time.

Which calls of the proxy make which kind is the proxy's business; here is what a new connection
must see while the cut lasts, measured in the self-test of the lab (tests/integration).
"""

from collections.abc import Collection, Mapping

from lab.faults.link_faults import (
    as_before,
    by_their_word,
    in_words,
    link_rows,
    read_back,
    seen_over,
)
from lab.faults.observer.evidence import Evidence, wait_seconds
from lab.faults.observer.target import RunningLab
from lab.plan import parts as plan_parts
from lab.plan.parts import CutKind
from lab.workload.probe import Seen

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
        self._planned = planned
        self._applied: Mapping[str, object] = {}
        self._proxies = [lab.links[link].proxy for link in planned.links]

    def describe(self) -> str:
        return f"cut ({self._kind}) {in_words(self._links)}"

    def intent(self) -> Mapping[str, object]:
        return {"kind": "cut", "cut_kind": self._kind, "links": link_rows(self._links)}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.cut(self.id, self._links)
        self._lab.proxies.cut(self.id, self._kind, self._proxies)
        self._applied = read_back(self._lab, self._links)
        return {"read_back": self._applied}

    def evidence(self) -> Evidence:
        wait = wait_seconds(self._lab, self.start_ms, self.end_ms)
        return seen_over(self._lab, self._planned, FORETOLD[self._kind], wait, self._applied)

    def confirmed(self) -> Evidence:
        return by_their_word(self._applied)

    def stop(self) -> None:
        self._lab.proxies.heal(self.id, self._kind, self._proxies)
        self._lab.standing.healed(self.id)

    def healed(self) -> Mapping[str, object]:
        return {"read_back": read_back(self._lab, self._links)}

    def evidence_healed(self) -> Evidence:
        return as_before(self._lab, self._planned)
