"""Which faults cannot hold together, and which would hide each other from whoever looks.

Two faults collide when they act on the same link at once, or on the same server; a server on which
something is done again the moment it returns was never back. A machine is put out of order, and in
order again, while its server is there; in between the server may be away. A fault of links is
hidden when every server that they lead to is away at its start or its end: then nobody can see it
begin, or heal.
"""

from typing import TypeAlias

from lab.plan.faults import DatabaseFault, Fault, MachineFault, ServerFault
from lab.plan.link_faults import LinkFault

OnServer: TypeAlias = ServerFault | MachineFault


def collision(earlier: Fault, later: Fault) -> str:
    """Why two faults cannot both hold, in words; empty when they can."""
    if isinstance(earlier, LinkFault) and isinstance(later, LinkFault):
        if later.start_ms >= earlier.end_ms:
            return ""
        taken = set(earlier.links)
        first = next((link for link in later.links if link in taken), None)
        if first is not None:
            return f"the link from {first.source} to {first.target} is {earlier.done} already"
    if isinstance(earlier, LinkFault | DatabaseFault) or isinstance(
        later, LinkFault | DatabaseFault
    ):
        return ""
    if earlier.server != later.server:
        return ""
    if isinstance(earlier, MachineFault) or isinstance(later, MachineFault):
        return _of_a_machine(earlier, later)
    # touching counts: the server is back only when its banner is
    back = later.start_ms > earlier.end_ms
    return "" if back else f"{later.server} is {earlier.done} already and not back"


def _of_a_machine(earlier: OnServer, later: OnServer) -> str:
    """Two of a kind, or an edge of the one while the server is away by the other."""
    if isinstance(earlier, MachineFault) and isinstance(later, MachineFault):
        same = earlier.kind == later.kind and later.start_ms <= earlier.end_ms
        what = {"fill_disk": "disk", "disk_use": "volume", "skew_clock": "clock"}[later.kind]
        return f"the {what} of {later.server} is {later.done} already" if same else ""
    machine, away = (earlier, later) if isinstance(earlier, MachineFault) else (later, earlier)
    for edge_ms, word in ((machine.start_ms, "start"), (machine.end_ms, "end")):
        if away.start_ms <= edge_ms <= away.end_ms:
            return f"{machine.server} is {away.done} and cannot be told of the {word}"
    return ""


def are_hidden(faults: list[Fault], margin_ms: int) -> bool:
    """Whether one is hidden by the others; `margin_ms` is what looking and returning take."""
    of_links = [fault for fault in faults if isinstance(fault, LinkFault)]
    away = [fault for fault in faults if isinstance(fault, ServerFault)]
    return any(
        all(_is_away(link.target, edge_ms, away, margin_ms) for link in fault.links)
        for fault in of_links
        for edge_ms in (fault.start_ms, fault.end_ms)
    )


def _is_away(server: str, at_ms: int, away: list[ServerFault], margin_ms: int) -> bool:
    return any(
        fault.server == server and fault.start_ms - margin_ms < at_ms < fault.end_ms + margin_ms
        for fault in away
    )
