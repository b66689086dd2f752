"""What faults of links share: which links to probe, how they are named, how slow they must be.

A link whose target is down shows nothing of what else acts on it, so it is left out. Links that are
only late still show a banner; it must come no sooner than the fault foretells. Nothing here acts on
a link.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from lab.evidence import (
    LONGEST_WAIT_SECONDS,
    Evidence,
    Observation,
    link_row,
    observe,
    representatives,
    untouched,
    weigh,
)
from lab.plan_parts import LinkName
from lab.probe import Seen
from lab.running_lab import RunningLab

# a proxy counts whole milliseconds of the host's clock
ROUNDING_SECONDS = 0.002


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
    lab: RunningLab, links: Sequence[LinkName], foretold: Collection[Seen], wait: float
) -> Evidence:
    """What new connections over these links see while a fault acts on them."""
    up = [link for link in links if not lab.standing.is_down(link.target)]
    if not up:
        return Evidence(None, (), "every server that these links lead to is down")
    others = untouched(lab, links)
    return weigh(observe(lab, representatives(lab, up), others, wait), foretold)


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


def as_before(lab: RunningLab, links: Sequence[LinkName]) -> Evidence:
    """Whether links show banners again, of those that nothing else acts on."""
    free = [link for link in links if not lab.standing.is_touched(link)]
    if not free:
        return Evidence(None, (), "other faults act on every link of this one")
    probed = representatives(lab, free)
    return weigh(observe(lab, probed, (), LONGEST_WAIT_SECONDS), {Seen.BANNER})
