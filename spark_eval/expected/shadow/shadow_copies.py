"""A shadow message with all that its judgement needs beside it: settings, contacts, outages,
stores. Adds no judgement: both what should be let go and what should be promoted start from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from spark_eval.expected.shadow.kept import Kept, kept_of, network_message_id
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Pair
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import Shadow
from spark_eval.intervals.interval import FOREVER_MS, touches
from spark_eval.read.clocks import kept_ms
from spark_eval.read.clocks_off import FAR_ABOVE
from spark_eval.read.rows import TrackingRow

# a question, its answer and the commit of it: beyond this nobody waits for the machine alone
EXCHANGE_WALL_MS = 1000
# what is done at once is done within this, or within so many waits of what the clock resolves
AT_ONCE_WALL_MS = 100
EXCHANGE_STEPS = 10


@dataclass(frozen=True, slots=True)
class Copy:
    """`held_ms`, when its server took it, or its primary says so; `slack_ms`, what an exchange may
    take, of which `slowed_ms` because of faults that made the link late while it was held;
    `primary_lost_ms`, `primary_back_ms`: the database of the primary was replaced, its banner after
    that; `own_lost_ms` of its own server's; `stays_until_ms`, when it goes if nobody lets it go;
    `delivered_at_ms`, when the primary said it was delivered, None where its clocks leave that
    open.
    """

    message: Message
    shadow: Shadow
    server: Server
    primary: Server | None
    pair: Pair
    network_message_id: str | None
    kept: Kept
    held_ms: int | None
    slowed_ms: int
    slack_ms: int
    era_known: bool
    primary_lost_ms: int | None
    primary_back_ms: int | None
    own_lost_ms: int | None
    stays_until_ms: int | None
    delivered_at_ms: int | None

    @property
    def held(self) -> TrackingRow | None:
        return self.shadow.held

    @property
    def discard(self) -> TrackingRow | None:
        return self.shadow.discard

    @property
    def promoted(self) -> TrackingRow | None:
        return self.shadow.promoted

    @property
    def discard_ms(self) -> int | None:
        return self.discard.at_ms if self.discard else None

    @property
    def promoted_ms(self) -> int | None:
        return self.promoted.at_ms if self.promoted else None

    @property
    def primary_name(self) -> str:
        return self.shadow.key.primary.server


def exchange_ms(run: Run) -> int:
    """What a question surely takes no more than, in lab ms."""
    return int(EXCHANGE_WALL_MS * run.speed)


def near_ms(run: Run) -> int:
    """What is done at once on a machine as fast as its clock resolves."""
    return int(max(EXCHANGE_STEPS * run.finest_ms, AT_ONCE_WALL_MS * run.speed))


def is_coarse(duration_ms: int, run: Run) -> bool:
    """Whether the clock is too coarse for a duration, or nobody says how coarse it is."""
    return run.resolution_ms is None or duration_ms < FAR_ABOVE * run.resolution_ms


def too_coarse(name: str, duration_ms: int, run: Run) -> str:
    resolution = "?" if run.resolution_ms is None else f"{run.resolution_ms}"
    return f"{name} of {duration_ms} ms is not far above the clock resolution of {resolution} ms"


@lru_cache(maxsize=4)
def copies_of(message: Message, run: Run) -> tuple[Copy, ...]:
    """Of each shadow message of it that a server of the plan has."""
    return tuple(
        _copy(message, shadow, server, run)
        for key, shadow in message.shadows.items()
        if (server := run.servers.get(key.server)) is not None
    )


def _copy(message: Message, shadow: Shadow, server: Server, run: Run) -> Copy:
    primary = run.servers.get(shadow.key.primary.server)
    pair = run.pairs.between(server.name, shadow.key.primary.server)
    first = shadow.held or shadow.claimed
    held_ms = first.at_ms if first else None
    slowed_ms = _slowed_ms(shadow, pair, held_ms, run)
    config, lost_ms = run.config, _lost_ms(primary, shadow)
    stays_ms = config.hold_ms + server.config.expiration_ms
    return Copy(
        message=message,
        shadow=shadow,
        server=server,
        primary=primary,
        pair=pair,
        network_message_id=network_message_id(shadow),
        kept=kept_of(message, shadow, run),
        held_ms=held_ms,
        slowed_ms=slowed_ms,
        slack_ms=int(max(config.heartbeat_ms / 2, 1000 * run.speed)) + slowed_ms,
        era_known=primary is not None
        and any(era.database_id == shadow.key.primary.database_id for era in primary.eras),
        primary_lost_ms=lost_ms,
        primary_back_ms=_back_ms(primary, lost_ms),
        own_lost_ms=server.lost_ms(shadow.held.database_id or "") if shadow.held else None,
        stays_until_ms=None if held_ms is None else held_ms + stays_ms,
        delivered_at_ms=_delivered_at_ms(shadow, primary, run),
    )


def expired_ms(shadow: Shadow, run: Run) -> list[int]:
    """When its server says that it left the queue, its stay over."""
    own_id = shadow.internal_id
    return [] if own_id is None else run.expired.get((shadow.key.server, own_id), [])


def _lost_ms(primary: Server | None, shadow: Shadow) -> int | None:
    return primary.replaced_ms(shadow.key.primary.database_id) if primary else None


def _back_ms(primary: Server | None, lost_ms: int | None) -> int | None:
    """The banner after the kill in which the database was replaced, or when the new one is seen."""
    if primary is None or lost_ms is None:
        return None
    for down in primary.downs:
        certain, possible = down.outage.certain, down.outage.possible
        is_around = certain is not None and certain.lo <= lost_ms <= possible.hi < FOREVER_MS
        if down.kind in ("kill", "stop") and is_around:
            return possible.hi
    return lost_ms


def _slowed_ms(shadow: Shadow, pair: Pair, held_ms: int | None, run: Run) -> int:
    ends = (shadow.discard, shadow.promoted)
    until_ms = next((row.at_ms for row in ends if row is not None), run.end_ms or 0)
    if held_ms is None:
        return 0
    while_held = (slow.late_ms for slow in pair.slows if touches([slow.at], held_ms, until_ms))
    return max(while_held, default=0)


def _delivered_at_ms(shadow: Shadow, primary: Server | None, run: Run) -> int | None:
    if shadow.discard is None:
        return None
    lives = primary.lives if primary else ()
    not_after_ms = shadow.discard.at_ms + run.finest_ms
    return kept_ms(shadow.discard.delivered_at_ms, lives, not_after_ms)
