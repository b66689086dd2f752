"""Whether a fault took effect: probes over links that it concerns and over one that it does not.

A probe is bounded and so is their number: one for every kind of link concerned (by the roles at
its ends), then more up to a limit. The evidence says true only when every probe saw what the
fault predicts and the link that is not concerned is untouched; false when a probe went through
where it should not; else null with the reason. It changes nothing.

Other faults may begin or end at the same moment. Links are probed on which, by the plan, no other
fault acts meanwhile, and a probe that one disturbed all the same says nothing: it is made again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf

from lab.faults.observer.standing import is_to_be_touched
from lab.faults.observer.target import RunningLab
from lab.plan.topology import LinkName
from lab.workload.agent import AgentError
from lab.workload.probe import Seen

MOST_PROBES = 4
LONGEST_WAIT_SECONDS = 1.5
SHORTEST_WAIT_SECONDS = 0.1
SHARE_OF_FAULT = 0.4
LOOKS = 3
HEALED_TOO_SOON = "it was healed before it could be observed to the end"
LATE_SECONDS = 1.0  # of the host's clock: what a start or an end may be late by


@dataclass(frozen=True, slots=True)
class Observation:
    """One probe over a link; `read_back` is what the proxy says of itself.

    `took_ms` is how long the probe took, in lab time.
    """

    link: LinkName
    concerned: bool
    seen: Seen
    text: str
    took_ms: float
    read_back: Mapping[str, object]

    def row(self) -> dict[str, object]:
        return {
            "link": link_row(self.link),
            "concerned": self.concerned,
            "probe": self.seen.value,
            "text": self.text,
            "took_ms": round(self.took_ms, 1),
            "read_back": dict(self.read_back),
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """`took_effect` is None when nothing could be made out; `reason` then says why."""

    took_effect: bool | None
    observations: tuple[Observation, ...]
    reason: str = ""

    def row(self) -> dict[str, object]:
        return {
            "took_effect": self.took_effect,
            "observations": [observation.row() for observation in self.observations],
            "reason": self.reason,
        }


def unseen(confirmed: Evidence) -> Evidence:
    """Of a fault that was healed before a probe could end: what was said when it was applied."""
    return Evidence(confirmed.took_effect, (), f"{HEALED_TOO_SOON}; {confirmed.reason}")


def wait_seconds(lab: RunningLab, start_ms: float, end_ms: float) -> float:
    """How long a probe may wait and still end well before the fault does."""
    share = SHARE_OF_FAULT * lab.clock.wall_seconds(end_ms - start_ms)
    return min(LONGEST_WAIT_SECONDS, max(SHORTEST_WAIT_SECONDS, share))


def representatives(
    lab: RunningLab, links: Iterable[LinkName], most: int = MOST_PROBES
) -> list[LinkName]:
    """Up to `most` links: one of each kind first, then others, spread over all of them."""
    by_kind: dict[tuple[str, str], list[LinkName]] = {}
    for link in links:
        by_kind.setdefault(lab.kind_of_link(link), []).append(link)
    firsts = [members[0] for members in by_kind.values()]
    others = [link for members in by_kind.values() for link in members[1:]]
    step = max(1, len(others) // max(1, most - len(firsts)))
    return (firsts + others[step - 1 :: step])[:most]


def look(
    lab: RunningLab,
    fault_id: str,
    concerned: Sequence[LinkName],
    expected: Collection[Seen],
    wait: float,
    *,
    until_ms: float = inf,
    compares: bool = True,
) -> Evidence:
    """What probes over links concerned by the fault see, and over one more where it `compares`.

    Made again, while there is time until `until_ms`, where something disturbed it, nothing could be
    made out or nobody answered (AgentError where that lasts). `observations` has none of a link
    concerned where other faults act on all of them.
    """
    for left in reversed(range(LOOKS)):
        since = lab.standing.changes()
        try:
            seen = _look_once(lab, fault_id, concerned, wait, compares=compares)
        except AgentError:
            if left == 0 or _is_over(lab, wait, until_ms):
                raise
            continue
        clear = [
            observation
            for observation in seen
            if not lab.standing.is_touched(observation.link, but=fault_id, since=since)
        ]
        evidence = weigh(clear, expected)
        is_clear = evidence.took_effect is True and clear == list(seen)
        if is_clear or evidence.took_effect is False or _is_over(lab, wait, until_ms):
            break
    return evidence


def _is_over(lab: RunningLab, wait: float, until_ms: float) -> bool:
    """Whether another look could end too late."""
    return _now_ms(lab) + lab.clock.lab_span_ms(wait) > until_ms


def _look_once(
    lab: RunningLab,
    fault_id: str,
    concerned: Sequence[LinkName],
    wait: float,
    *,
    compares: bool,
) -> tuple[Observation, ...]:
    probed = representatives(lab, undisturbed(lab, concerned, wait, but=fault_id))
    rest = [link for link in lab.links if link not in concerned] if compares else []
    return observe(lab, probed, undisturbed(lab, rest, wait, but=fault_id)[:1], wait)


def undisturbed(
    lab: RunningLab, links: Iterable[LinkName], wait: float, *, but: str = ""
) -> list[LinkName]:
    """Those of the links that no fault acts on, other than `but`: where there are any, those that
    by the plan none acts on while a probe lasts; else those that none acts on at the moment.
    """
    free = [link for link in links if not lab.standing.is_touched(link, but=but)]
    now_ms, late_ms = _now_ms(lab), lab.clock.lab_span_ms(LATE_SECONDS)
    from_ms, to_ms = now_ms - late_ms, now_ms + lab.clock.lab_span_ms(wait) + late_ms
    faults = lab.plan.faults
    still = [link for link in free if not is_to_be_touched(faults, link, from_ms, to_ms, but=but)]
    return still or free


def _now_ms(lab: RunningLab) -> int:
    return lab.clock.lab_ms(lab.monotonic_ns())


def observe(
    lab: RunningLab, concerned: Sequence[LinkName], others: Sequence[LinkName], wait: float
) -> tuple[Observation, ...]:
    """Probe all of these links at once. Raises AgentError or GroundError."""
    links = [*concerned, *others]
    if not links:
        return ()
    states = lab.proxies.read_back([lab.links[link].proxy for link in links])
    with ThreadPoolExecutor(len(links)) as pool:
        probes = list(pool.map(lambda link: lab.prober.probe(lab.links[link].address, wait), links))
    return tuple(
        Observation(
            link,
            link in concerned,
            probe.seen,
            probe.text,
            lab.clock.lab_span_ms(probe.took_ms / 1000),
            states[lab.links[link].proxy],
        )
        for link, probe in zip(links, probes, strict=True)
    )


def weigh(observations: Sequence[Observation], expected: Collection[Seen]) -> Evidence:
    """What the observations of links concerned and not concerned amount to."""
    concerned = [each for each in observations if each.concerned]
    through = [each for each in concerned if each.seen is Seen.BANNER]
    other = [each for each in concerned if each.seen not in expected]
    hurt = [each for each in observations if not each.concerned and each.seen is not Seen.BANNER]
    if through and Seen.BANNER not in expected:
        return Evidence(False, tuple(observations), _say(through))
    if other or hurt:
        return Evidence(None, tuple(observations), _say(other + hurt))
    if not concerned:
        return Evidence(None, tuple(observations), "no link could be probed")
    return Evidence(True, tuple(observations))


def link_row(link: LinkName) -> dict[str, str]:
    return {"from": link.source, "to": link.target, "service": link.service}


def _say(observations: Sequence[Observation]) -> str:
    return "; ".join(
        f"{each.link.source} to {each.link.target}: {each.seen.value}" for each in observations
    )
