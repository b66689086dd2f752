"""Slow links: every byte comes late, in both directions, and all of them come.

Evidence is a banner that takes at least the latency less the jitter, and a link that is not
concerned on which it does not matter. A latency that is longer than a probe may wait shows as
silence.
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
from lab.faults.observer.evidence import LONGEST_WAIT_SECONDS, SHARE_OF_FAULT, Evidence
from lab.faults.observer.target import RunningLab
from lab.plan import parts as plan_parts
from lab.workload.probe import Seen


class Slow:
    """Links slowed by a plan, all at once."""

    def __init__(self, planned: plan_parts.Slow, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._links, self._lab = planned, planned.links, lab
        self._applied: Mapping[str, object] = {}
        self._proxies = [lab.links[link].proxy for link in planned.links]

    def describe(self) -> str:
        return f"slow (latency {self._planned.latency_ms} ms) {in_words(self._links)}"

    def intent(self) -> Mapping[str, object]:
        return {
            "kind": "slow",
            "latency_ms": self._planned.latency_ms,
            "jitter_ms": self._planned.jitter_ms,
            "links": link_rows(self._links),
        }

    def start(self) -> Mapping[str, object]:
        self._lab.standing.cut(self.id, self._links)
        planned = self._planned
        self._lab.proxies.slow(self.id, planned.latency_ms, planned.jitter_ms, self._proxies)
        self._applied = read_back(self._lab, self._links)
        return {"read_back": self._applied}

    def evidence(self) -> Evidence:
        slowest_ms = self._planned.latency_ms + self._planned.jitter_ms
        patient = self._lab.clock.wall_seconds(slowest_ms) + LONGEST_WAIT_SECONDS
        lasts = SHARE_OF_FAULT * self._lab.clock.wall_seconds(self.end_ms - self.start_ms)
        foretold = {Seen.BANNER} if patient <= lasts else {Seen.BANNER, Seen.SILENT}
        wait = min(patient, lasts)
        seen = seen_over(self._lab, self._planned, foretold, wait, self._applied)
        least_ms = self._planned.latency_ms - self._planned.jitter_ms
        return no_sooner(self._lab, seen, lambda _: least_ms)

    def confirmed(self) -> Evidence:
        return by_their_word(self._applied)

    def stop(self) -> None:
        self._lab.proxies.restore(self.id, self._proxies)
        self._lab.standing.healed(self.id)

    def healed(self) -> Mapping[str, object]:
        return {"read_back": read_back(self._lab, self._links)}

    def evidence_healed(self) -> Evidence:
        return as_before(self._lab, self._planned)
