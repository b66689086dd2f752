"""Faults of links: sessions that `from` opens towards `to` are refused, lost, late, cut short.

What a fault does to its links is its `effect`, and what a new connection sees of that follows from
it. Links that are only late still show a banner; it must come no sooner than the effect predicts,
and so must a reset. What takes longer than a probe may wait shows as silence.

A banner is short, so of links that carry little, or end a session later, above all what the proxies
say of themselves is the evidence; alone, of links that are late only in what an opener says, or in
the end of a session. So it is where every link's target is down and shows nothing of what else acts
on it. That proxies keep to their word is measured in the self-test of the lab (tests/integration).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace

from lab.faults.observer.evidence import (
    LONGEST_WAIT_SECONDS,
    SHARE_OF_FAULT,
    SHORTEST_WAIT_SECONDS,
    Evidence,
    Observation,
    link_row,
    look,
)
from lab.faults.observer.target import RunningLab
from lab.plan.effects import DOWN, Attributes, Effect, Toxic
from lab.plan.link_faults import LinkFault
from lab.plan.topology import LinkName
from lab.workload.probe import Seen

# a proxy counts whole milliseconds of the host's clock
ROUNDING_SECONDS = 0.002
NO_PROBE = "other faults act on every link of it or on the servers at their ends"
NO_BANNER = "no banner shows it"
NOT_OF_THE_INTENT = {"id", "start_ms", "end_ms", "links", "when"}


class OnLinks:
    """One fault of a plan, on all of its links at once."""

    def __init__(self, planned: LinkFault, lab: RunningLab) -> None:
        self.id, self.start_ms, self.end_ms = planned.id, planned.start_ms, planned.end_ms
        self._planned, self._links, self._lab = planned, planned.links, lab
        self._effect = planned.effect
        self._applied: Mapping[str, object] = {}
        self._proxies = [lab.links[link].proxy for link in planned.links]

    def describe(self) -> str:
        what, _ = self._planned.words()
        return f"{what} {in_words(self._links)}"

    def intent(self) -> Mapping[str, object]:
        names = [each.name for each in fields(self._planned) if each.name not in NOT_OF_THE_INTENT]
        said = {name: getattr(self._planned, name) for name in names}
        return {**said, "links": [link_row(link) for link in self._links]}

    def start(self) -> Mapping[str, object]:
        self._lab.standing.cut(self.id, self._links)
        self._lab.proxies.apply(self.id, self._effect, self._proxies)
        self._applied = self._read_back()
        return {"read_back": self._applied}

    def evidence(self) -> Evidence:
        """What new connections over its links see while it acts on them."""
        slowest = LONGEST_WAIT_SECONDS + self._lab.clock.wall_seconds(slowest_ms(self._effect))
        share = SHARE_OF_FAULT * self._lab.clock.wall_seconds(self.end_ms - self.start_ms)
        expected = expected_by(self._effect)
        if slowest > share and (Seen.BANNER in expected or slowest_ms(self._effect)):
            expected = {*expected, Seen.SILENT}
        wait = min(slowest, max(share, SHORTEST_WAIT_SECONDS))
        seen = look(self._lab, self.id, self._links, expected, wait, until_ms=self.end_ms)
        if not any(observation.concerned for observation in seen.observations):
            return self._as_applied(replace(seen, took_effect=True), NO_PROBE)
        if not is_shown_by_a_banner(self._effect):
            return self._as_applied(seen, NO_BANNER) if seen.took_effect else seen
        return self._no_sooner(seen)

    def confirmed(self) -> Evidence:
        """Nothing is applied while the proxies have said nothing."""
        return Evidence(True if self._applied else None, (), "its proxies said that it is applied")

    def stop(self) -> None:
        self._lab.proxies.undo(self.id, self._effect, self._proxies)
        self._lab.standing.healed(self.id)

    def healed(self) -> Mapping[str, object]:
        return {"read_back": self._read_back()}

    def evidence_healed(self) -> Evidence:
        """Its links show banners again, those that nothing else acts on. Asked when the proxies
        have said that nothing of the fault is left.
        """
        expected = {Seen.BANNER}
        seen = look(self._lab, self.id, self._links, expected, LONGEST_WAIT_SECONDS, compares=False)
        if seen.observations:
            return seen
        return Evidence(True, (), f"{NO_PROBE}; its proxies say that nothing of it is left")

    def _read_back(self) -> dict[str, Mapping[str, object]]:
        return dict(self._lab.proxies.read_back(self._proxies))

    def _as_applied(self, seen: Evidence, why: str) -> Evidence:
        """The evidence, as far as the proxies still say what they said."""
        if self._read_back() == self._applied:
            return replace(seen, reason=f"{why}; its proxies say that it is applied")
        return Evidence(None, seen.observations, f"{why}, and its proxies have changed")

    def _no_sooner(self, evidence: Evidence) -> Evidence:
        """The evidence, refuted where a banner or a reset came over a late link too soon."""
        allowed_ms = self._lab.clock.lab_span_ms(ROUNDING_SECONDS)
        for seen in evidence.observations:
            least = least_ms(self._effect, seen) - allowed_ms
            is_late = seen.seen in (Seen.BANNER, Seen.RESET)
            if seen.concerned and is_late and seen.took_ms < least:
                link = f"{seen.link.source} to {seen.link.target}"
                came = f"a {seen.seen} in {seen.took_ms:.0f} ms of lab time"
                reason = f"{link}: {came}, not {least:.0f}"
                return Evidence(False, evidence.observations, reason)
        return evidence


def expected_by(effect: Effect) -> Collection[Seen]:
    """What a new connection may see, if it waits long enough."""
    if not effect.enabled:
        return {Seen.REFUSED}
    for toxic in effect.toxics:
        if toxic.type == "reset_peer":
            return {Seen.RESET}
        if toxic.stream == DOWN and (toxic.type == "timeout" or toxic.attributes.get("rate") == 0):
            return {Seen.SILENT}
    return {Seen.BANNER}


def is_shown_by_a_banner(effect: Effect) -> bool:
    """Whether there is none, or one that is late."""
    late = any({"latency", "rate"} & toxic.attributes.keys() for toxic in _towards_opener(effect))
    return late or Seen.BANNER not in expected_by(effect)


def slowest_ms(effect: Effect) -> int:
    """How late a banner or a reset may be."""
    return max((_latency(each.attributes, 1) for each in _towards_opener(effect)), default=0)


def least_ms(effect: Effect, seen: Observation) -> float:
    """How late a banner must be at least: half of what its bytes need, since some may be sent at
    once. Of a reset all of its time.
    """
    late_ms = 0.0
    for toxic in _towards_opener(effect):
        rate = toxic.attributes.get("rate")
        late_ms += len(seen.text) / rate * 1000 / 2 if rate else 0
        late_ms += _latency(toxic.attributes, -1)
    return late_ms


def _towards_opener(effect: Effect) -> list[Toxic]:
    """The toxics that a banner passes: nothing is late of it by what acts the other way alone."""
    return [toxic for toxic in effect.toxics if toxic.stream == DOWN]


def _latency(attributes: Attributes, jitters: int) -> int:
    late_ms = attributes.get("latency", 0) + attributes.get("timeout", 0)
    return late_ms + jitters * attributes.get("jitter", 0)


def in_words(links: Sequence[LinkName]) -> str:
    """`par-mbx1 to lyo-mbx1 and 3 more`."""
    first = f"{links[0].source} to {links[0].target}" if links else "no link"
    return first + (f" and {len(links) - 1} more" if len(links) > 1 else "")
