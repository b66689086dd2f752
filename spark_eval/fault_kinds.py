"""What each kind of fault does, as the evaluation judges it, and what a plan says of it.

One table, so that a new kind is a row of it. Data and no judgement; it needs no Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

LINK, SERVER = "link", "server"
# round trips of an exchange that begins with a new connection, TLS and greetings, and its bytes
ROUND_TRIPS = 10
EXCHANGE_BYTES = 65_536
DIRECTION = ("direction", "STRING")
# of each round trip one way is late, or both, as where a plan names no direction
LATE_WAYS = f"IF(direction IN ('requests', 'replies'), {ROUND_TRIPS}, {2 * ROUND_TRIPS})"
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
    """`keys` are what a plan says of it beside links or server: name and Spark SQL type;
    `late_ms`, SQL over these, is by how much an exchange takes longer.
    """

    on: str
    does: Does
    keys: tuple[tuple[str, str], ...] = ()
    late_ms: str = ""


KINDS: Final[Mapping[str, FaultKind]] = {
    "cut": FaultKind(LINK, Does.AWAY, (("cut_kind", "STRING"),)),
    "slow": FaultKind(
        LINK,
        Does.LATE,
        (("latency_ms", "BIGINT"), ("jitter_ms", "BIGINT"), DIRECTION),
        late_ms=f"{LATE_WAYS} * (latency_ms + jitter_ms)",
    ),
    # at most all of an exchange goes one way
    "throttle": FaultKind(
        LINK,
        Does.LATE,
        (("bytes_per_second", "BIGINT"), DIRECTION),
        late_ms=f"{EXCHANGE_BYTES} * 1000 DIV bytes_per_second",
    ),
    "limit_data": FaultKind(LINK, Does.IN_DOUBT, (("limit_bytes", "BIGINT"),)),
    # it halves what it reads until each piece is small enough; the wall's clock has a grain, too
    "slice": FaultKind(
        LINK,
        Does.LATE,
        (("piece_bytes", "BIGINT"), ("pause_ms", "BIGINT")),
        late_ms=f"2 * ({EXCHANGE_BYTES} DIV piece_bytes + {ROUND_TRIPS})"
        f" * GREATEST(pause_ms, {LEAST_PAUSE_MS})",
    ),
    "drip": FaultKind(
        LINK,
        Does.LATE,
        (("latency_ms", "BIGINT"), ("bytes_per_second", "BIGINT"), DIRECTION),
        late_ms=f"{LATE_WAYS} * latency_ms + {EXCHANGE_BYTES} * 1000 DIV bytes_per_second",
    ),
    # measured: no answer passes, neither to sessions that were open before nor to new ones
    "reset_after": FaultKind(LINK, Does.AWAY, (("after_ms", "BIGINT"),)),
    # measured: bytes pass at once; who waits for an answer where the other side has hung up hears
    # so much later that none will come
    "slow_close": FaultKind(LINK, Does.LATE, (("delay_ms", "BIGINT"),), late_ms="delay_ms"),
    "kill": FaultKind(SERVER, Does.AWAY, (("returns_with", "STRING"),)),
    "power_loss": FaultKind(SERVER, Does.AWAY),
    "corrupt": FaultKind(SERVER, Does.AWAY),
    "pause": FaultKind(SERVER, Does.AWAY),
    "stop": FaultKind(SERVER, Does.AWAY),
    "restart": FaultKind(SERVER, Does.AWAY),
    "fill_disk": FaultKind(SERVER, Does.IN_DOUBT),
    "skew_clock": FaultKind(SERVER, Does.OTHER, (("by_ms", "BIGINT"),)),
}
# once each, also where two kinds have the same
KEYS: Final = tuple(dict.fromkeys(key for kind in KINDS.values() for key in kind.keys))


def kinds(on: str, *does: Does) -> tuple[str, ...]:
    """Of those that act on links or servers, those that do one of these; all if none is named."""
    return tuple(
        name for name, kind in KINDS.items() if kind.on == on and (kind.does in does or not does)
    )


def is_one_of(names: tuple[str, ...]) -> str:
    """SQL over `kind`."""
    return f"kind IN ({', '.join(repr(name) for name in names)})"


AWAY_KINDS: Final = kinds(SERVER, Does.AWAY)
"""Kinds that take a server away."""
