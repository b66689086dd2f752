"""Whether a server is there: its banner, over a link that nothing else acts on, or from inside.

What every fault of a server shares: it shows nobody a banner while it lasts, and it is over when
the banner is seen, not when the server was told to go on. Nothing here acts on a server.
"""

from collections.abc import Collection, Mapping

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
from lab.plan_parts import LinkName, ServerFault
from lab.probe import Seen
from lab.running_lab import RunningLab

BACK_WITHIN_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.05
LOOK_WAIT_SECONDS = 0.5
NO_BANNER: Collection[Seen] = {Seen.REFUSED, Seen.SILENT, Seen.RESET, Seen.CLOSED}


def shows_nobody_a_banner(lab: RunningLab, planned: ServerFault) -> Evidence:
    """Looked for over links to the server while the fault lasts; from inside where none leads to
    it.
    """
    wait = wait_seconds(lab, planned.start_ms, planned.end_ms)
    links = lab.links_to(planned.server)
    if not links:
        return Evidence(not _answers(lab, planned.server), (), "no link leads to it: from inside")
    others = untouched(lab, links)
    return weigh(observe(lab, representatives(lab, links), others, wait), NO_BANNER)


def wait_until_back(lab: RunningLab, server: str) -> Mapping[str, object]:
    """Until its banner is seen: when that was. GroundError when it is not for a minute."""
    deadline_ns = lab.monotonic_ns() + round(BACK_WITHIN_SECONDS * 1e9)
    while not _shows_banner(lab, server):
        if lab.ending.wait(LOOK_EVERY_SECONDS):
            raise GroundError(f"the run ended before {server} was back")
        if lab.monotonic_ns() > deadline_ns:
            raise GroundError(
                f"{server} shows no banner {BACK_WITHIN_SECONDS:.0f} s after its start",
                f"its own words are in logs/{server}/stderr.log of the run folder",
            )
    seen_ns = lab.monotonic_ns()
    return {"banner_ms": lab.clock.lab_ms(seen_ns), "banner_mono_ns": seen_ns}


def is_back(lab: RunningLab, server: str) -> Evidence:
    """Whether links to it show its banner again."""
    free = _free_links(lab, server)
    if not free:
        reason = "its banner was seen from inside; no link leads to it that no fault acts on"
        return Evidence(True, (), reason)
    links = representatives(lab, free)
    return weigh(observe(lab, links, (), LONGEST_WAIT_SECONDS), {Seen.BANNER})


def _shows_banner(lab: RunningLab, server: str) -> bool:
    free = _free_links(lab, server)
    if not free:
        return lab.servers.answers(server)
    try:
        return lab.prober.probe(lab.links[free[0]].address, LOOK_WAIT_SECONDS).seen is Seen.BANNER
    except AgentError:
        return False


def _free_links(lab: RunningLab, server: str) -> list[LinkName]:
    return [link for link in lab.links_to(server) if not lab.standing.is_cut(link)]


def _answers(lab: RunningLab, server: str) -> bool:
    """From inside, where there is a process to look into."""
    return lab.servers.is_running(server) and lab.servers.answers(server)
