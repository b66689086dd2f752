"""Throttled links: so many bytes per second of lab time pass in each direction, and no more.

Evidence is a banner that takes at least as long as its bytes need at that rate. A banner is short,
so above all it is what the proxies say of themselves, read back when the fault was applied; that
they keep to it is measured in the self-test of the lab (tests/integration).
"""

from collections.abc import Mapping

from lab.faults.link_faults import (
    as_before,
    by_their_word,
    in_words,
    link_rows,
    no_sooner,
    read_back,
    seen_over,
)
from lab.faults.observer.evidence import LONGEST_WAIT_SECONDS, Evidence, Observation, wait_seconds
from lab.faults.observer.target import RunningLab
from lab.plan import parts as plan_parts
from lab.workload.probe import Seen


class Throttle:
    """Links throttled by a plan, all at once."""

    def __init__(self, planned: plan_parts.Throttle, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._rate, self._links, self._lab = planned.bytes_per_second, planned.links, lab
        self._planned = planned
        self._applied: Mapping[str, object] = {}
        self._proxies = [lab.links[link].proxy for link in planned.links]

    def describe(self) -> str:
        return f"throttle ({self._rate} bytes/s) {in_words(self._links)}"

    def intent(self) -> Mapping[str, object]:
        links = link_rows(self._links)
        return {"kind": "throttle", "bytes_per_second": self._rate, "links": links}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.cut(self.id, self._links)
        self._lab.proxies.throttle(self.id, self._rate, self._proxies)
        self._applied = read_back(self._lab, self._links)
        return {"read_back": self._applied}

    def evidence(self) -> Evidence:
        wait = wait_seconds(self._lab, self.start_ms, self.end_ms)
        foretold = {Seen.BANNER} if wait == LONGEST_WAIT_SECONDS else {Seen.BANNER, Seen.SILENT}
        seen = seen_over(self._lab, self._planned, foretold, wait, self._applied)
        return no_sooner(self._lab, seen, self._least_ms)

    def confirmed(self) -> Evidence:
        return by_their_word(self._applied)

    def stop(self) -> None:
        self._lab.proxies.restore(self.id, self._proxies)
        self._lab.standing.healed(self.id)

    def healed(self) -> Mapping[str, object]:
        return {"read_back": read_back(self._lab, self._links)}

    def evidence_healed(self) -> Evidence:
        return as_before(self._lab, self._planned)

    def _least_ms(self, seen: Observation) -> float:
        """What the text of a banner takes, with some allowance for bytes sent at once."""
        return len(seen.text) / self._rate * 1000 / 2
