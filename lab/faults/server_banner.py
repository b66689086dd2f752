"""Whether a server is there: its banner, over a link that nothing else acts on, or from inside.

What every fault of a server shares: it shows nobody a banner while it lasts, and it is over when
the banner is seen, not when the server was asked to go on. Nothing here acts on a server.
"""

from collections.abc import Collection, Mapping

from lab.faults.observer.evidence import (
    LONGEST_WAIT_SECONDS,
    Evidence,
    look,
    undisturbed,
    wait_seconds,
)
from lab.faults.observer.target import RunningLab
from lab.plan.faults import ServerFault
from lab.program.errors import GroundError
from lab.workload.agent import AgentError
from lab.workload.probe import Seen

NO_LINK = "no link leads to it that no other fault acts on"
BACK_WITHIN_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.05
LOOK_WAIT_SECONDS = 0.5
NO_BANNER: Collection[Seen] = {Seen.REFUSED, Seen.SILENT, Seen.RESET, Seen.CLOSED}


def shows_nobody_a_banner(lab: RunningLab, planned: ServerFault) -> Evidence:
    """Looked for over links to the server while the fault lasts; from inside where none leads to
    it that other faults leave alone.
    """
    wait = wait_seconds(lab, planned.start_ms, planned.end_ms)
    links = lab.links_to(planned.server)
    seen = look(lab, planned.id, links, NO_BANNER, wait, until_ms=planned.end_ms)
    if any(observation.concerned for observation in seen.observations):
        return seen
    away = not _answers(lab, planned.server)
    return Evidence(away, seen.observations, f"looked for from inside: {NO_LINK}")


def wait_until_back(lab: RunningLab, fault_id: str, server: str) -> Mapping[str, object]:
    """Until its banner is seen: when that was. GroundError when it is not for a minute."""
    deadline_ns = lab.monotonic_ns() + round(BACK_WITHIN_SECONDS * 1e9)
    while not _shows_banner(lab, fault_id, server):
        if lab.ending.wait(LOOK_EVERY_SECONDS):
            raise GroundError(f"the run ended before {server} was back")
        if lab.monotonic_ns() > deadline_ns:
            raise GroundError(
                f"{server} shows no banner {BACK_WITHIN_SECONDS:.0f} s after its start",
                f"its own words are in logs/{server}/stderr.log of the run folder",
            )
    seen_ns = lab.monotonic_ns()
    return {"banner_ms": lab.clock.lab_ms(seen_ns), "banner_mono_ns": seen_ns}


def is_back(lab: RunningLab, fault_id: str, server: str) -> Evidence:
    """Whether links to it show its banner again; asked when `wait_until_back` has seen it."""
    links = lab.links_to(server)
    seen = look(lab, fault_id, links, {Seen.BANNER}, LONGEST_WAIT_SECONDS, compares=False)
    return seen if seen.observations else Evidence(True, (), f"its banner was seen: {NO_LINK}")


def _shows_banner(lab: RunningLab, fault_id: str, server: str) -> bool:
    free = undisturbed(lab, lab.links_to(server), LOOK_WAIT_SECONDS, but=fault_id)
    if not free:
        return lab.servers.answers(server)
    try:
        return lab.prober.probe(lab.links[free[0]].address, LOOK_WAIT_SECONDS).seen is Seen.BANNER
    except AgentError:
        return False


def _answers(lab: RunningLab, server: str) -> bool:
    """From inside, where there is a process to look into."""
    return lab.servers.is_running(server) and lab.servers.answers(server)
