"""What faults of links share: which links to probe, how they are named, how slow they must be.

A link whose target is down shows nothing of what else acts on it, so it is left out. Where that
leaves none, what the proxies say of themselves is the evidence: that they keep to it is measured in
the self-test of the lab (tests/integration). Links that are only late still show a banner; it must
come no sooner than the fault predicts. Nothing here acts on a link.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from lab.faults.observer.evidence import LONGEST_WAIT_SECONDS, Evidence, Observation, link_row, look
from lab.faults.observer.target import RunningLab
from lab.plan.parts import LinkName
from lab.workload.probe import Seen

# a proxy counts whole milliseconds of the host's clock
ROUNDING_SECONDS = 0.002
NO_PROBE = "other faults act on every link of it or on the servers at their ends"


class ActsOnLinks(Protocol):
    """A fault of links in a plan."""

    @property
    def id(self) -> str: ...
    @property
    def end_ms(self) -> int: ...
    @property
    def links(self) -> tuple[LinkName, ...]: ...


def in_words(links: Sequence[LinkName]) -> str:
    """`par-mbx1 to lyo-mbx1 and 3 more`."""
    first = f"{links[0].source} to {links[0].target}" if links else "no link"
    return first + (f" and {len(links) - 1} more" if len(links) > 1 else "")


def link_rows(links: Sequence[LinkName]) -> list[dict[str, str]]:
    return [link_row(link) for link in links]


def read_back(lab: RunningLab, links: Sequence[LinkName]) -> dict[str, Mapping[str, object]]:
    """What the proxies of these links say of themselves."""
    return dict(lab.proxies.read_back([lab.links[link].proxy for link in links]))


def seen_over(
    lab: RunningLab,
    fault: ActsOnLinks,
    foretold: Collection[Seen],
    wait: float,
    applied: Mapping[str, object],
) -> Evidence:
    """What new connections over the fault's links see while it acts on them.

    `applied` is what was read back from the proxies when they said that it is applied.
    """
    seen = look(lab, fault.id, fault.links, foretold, wait, until_ms=fault.end_ms)
    if any(observation.concerned for observation in seen.observations):
        return seen
    if read_back(lab, fault.links) != applied:
        return Evidence(None, seen.observations, f"{NO_PROBE}, and its proxies have changed")
    return Evidence(True, seen.observations, f"{NO_PROBE}; its proxies say that it is applied")


def by_their_word(applied: Mapping[str, object]) -> Evidence:
    """What remains without a probe; `applied` is empty while the proxies have said nothing."""
    return Evidence(True if applied else None, (), "its proxies said that it is applied")


def no_sooner(
    lab: RunningLab, evidence: Evidence, least_ms: Callable[[Observation], float]
) -> Evidence:
    """The evidence, refuted where a banner came over a late link in less than `least_ms`."""
    allowed_ms = lab.clock.lab_span_ms(ROUNDING_SECONDS)
    for seen in evidence.observations:
        least = least_ms(seen) - allowed_ms
        if seen.concerned and seen.seen is Seen.BANNER and seen.took_ms < least:
            link = f"{seen.link.source} to {seen.link.target}"
            reason = f"{link}: a banner in {seen.took_ms:.0f} ms of lab time, not {least:.0f}"
            return Evidence(False, evidence.observations, reason)
    return evidence


def as_before(lab: RunningLab, fault: ActsOnLinks) -> Evidence:
    """Whether its links show banners again, of those that nothing else acts on.

    Asked when the proxies have said that nothing of the fault is left.
    """
    seen = look(lab, fault.id, fault.links, {Seen.BANNER}, LONGEST_WAIT_SECONDS, compares=False)
    if seen.observations:
        return seen
    return Evidence(True, (), f"{NO_PROBE}; its proxies say that nothing of it is left")
