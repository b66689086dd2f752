"""What each kind of fault does, as the evaluation judges it, and what a plan says of it.

One table, so that a new kind is a row of it. Data and no judgement; it needs no Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

LINK, SERVER, DATABASE = "link", "server", "database"
# round trips of an exchange that begins with a new connection, TLS and greetings, and its bytes
ROUND_TRIPS = 10
EXCHANGE_BYTES = 65_536
LEAST_PAUSE_MS = 100  # measured: a millisecond and a bit of the wall's, at speed 60


class Does(Enum):
    """What it does to a link or a server while it lasts.

    AWAY: nothing passes, nothing is answered. IN_DOUBT: some of it fails and some does not, so it
    is possibly away all that time, and certainly never. LATE: all of it passes, later. OTHER: what
    concerns no exchange.
    """

    AWAY = "away"
    IN_DOUBT = "in doubt"
    LATE = "late"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FaultKind:
    """`keys` are what a plan says of it beside links or server."""

    on: str
    does: Does
    keys: tuple[str, ...] = ()


KINDS: Final[Mapping[str, FaultKind]] = {
    "cut": FaultKind(LINK, Does.AWAY, ("cut_kind",)),
    "slow": FaultKind(LINK, Does.LATE, ("latency_ms", "jitter_ms", "direction")),
    "throttle": FaultKind(LINK, Does.LATE, ("bytes_per_second", "direction")),
    "limit_data": FaultKind(LINK, Does.IN_DOUBT, ("limit_bytes",)),
    # it halves what it reads until each piece is small enough; the wall's clock has a grain, too
    "slice": FaultKind(LINK, Does.LATE, ("piece_bytes", "pause_ms")),
    "drip": FaultKind(LINK, Does.LATE, ("latency_ms", "bytes_per_second", "direction")),
    # measured: no answer passes, neither to sessions that were open before nor to new ones
    "reset_after": FaultKind(LINK, Does.AWAY, ("after_ms",)),
    # measured: bytes pass at once; who waits for an answer where the other side has hung up hears
    # so much later that none will come
    "slow_close": FaultKind(LINK, Does.LATE, ("delay_ms",)),
    "kill": FaultKind(SERVER, Does.AWAY, ("returns_with",)),
    "power_loss": FaultKind(SERVER, Does.AWAY),
    "corrupt": FaultKind(SERVER, Does.AWAY),
    "pause": FaultKind(SERVER, Does.AWAY),
    "stop": FaultKind(SERVER, Does.AWAY, ("returns_with",)),
    "restart": FaultKind(SERVER, Does.AWAY),
    "fill_disk": FaultKind(SERVER, Does.IN_DOUBT),
    # what comes of it is a level of back pressure, which its server logs
    "disk_use": FaultKind(SERVER, Does.OTHER, ("percent",)),
    "skew_clock": FaultKind(SERVER, Does.OTHER, ("by_ms",)),
    "corrupt_mailboxes": FaultKind(DATABASE, Does.OTHER, ("database",)),
}


def kinds(on: str, *does: Does) -> tuple[str, ...]:
    """Of those that act on links or servers, those that do one of these; all if none is named."""
    return tuple(
        name for name, kind in KINDS.items() if kind.on == on and (kind.does in does or not does)
    )


NEVER, NEW_SERVER = "never", "new-server"
"""What servers return with whose disk is gone (TP-8): those that are gone for good, and those of
which a new one of the same name comes.
"""
AWAY_KINDS: Final = kinds(SERVER, Does.AWAY)
"""Kinds that take a server away."""
