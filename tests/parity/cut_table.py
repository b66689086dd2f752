"""What a link does under each kind of cut: the table that the real Toxiproxy and the simulated link
are both held to (tests/integration/test_toxiproxy.py, test_simulated_links.py).

A session open before the cut (old), a connection made during it (new), and where the bytes go
that were sent meanwhile. `reset_peer` resets new connections only: an old session is closed when
the next reply to it would pass, and an idle one lives on.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.plan.effects import Effect, by_toxic
from lab.plan.link_faults import CUTS


@dataclass(frozen=True)
class Measured:
    """A row of the table. `sent` is where bytes of the old session go."""

    old: str
    new: str
    old_at_heal: str
    new_at_heal: str
    sent: str


TABLE = {
    "refuse": Measured("closed", "refused", "dead", "dead", "lost"),
    "blackhole": Measured("silent", "silent", "closed", "closed", "discarded"),
    "stall": Measured("silent", "silent", "250 during", "220 recording", "after the heal"),
    "reset": Measured("closed", "reset", "dead", "dead", "delivered"),
    "ack-lost": Measured("silent", "silent", "closed", "closed", "delivered"),
    "timeout upstream only": Measured("silent", "banner", "closed", "closed", "discarded"),
    "bandwidth upstream only": Measured(
        "silent", "banner", "250 during", "usable", "after the heal"
    ),
    "bandwidth downstream only": Measured(
        "silent", "silent", "250 during", "220 recording", "delivered"
    ),
}
EFFECTS: Mapping[str, Effect] = {
    **{str(kind): effect for kind, effect in CUTS.items()},
    "timeout upstream only": by_toxic("timeout", "requests", timeout=0),
    "bandwidth upstream only": by_toxic("bandwidth", "requests", rate=0),
    "bandwidth downstream only": by_toxic("bandwidth", "replies", rate=0),
}
