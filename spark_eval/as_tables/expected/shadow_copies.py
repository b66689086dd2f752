"""A shadow message with all that its judgement needs beside it: settings, contacts, outages,
stores.

Adds no judgement. Both what should be let go and what should be promoted start from here.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.transforms.contacts import TURN
from spark_eval.read.clocks import kept
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS, INTERVAL, merged
from spark_eval.sql.reasons import unknown

# a duration must be this many times the clock's resolution to be judged
FAR_ABOVE = 5

# a question, its answer and the commit of it: beyond this nobody waits for the machine alone
EXCHANGE_WALL_MS = 1000
EXCHANGE_MS = f"CAST({EXCHANGE_WALL_MS} * speed AS BIGINT) AS exchange_ms"
# what is done at once is done within this, or within so many waits of what the clock resolves
AT_ONCE_WALL_MS = 100
EXCHANGE_STEPS = 10

NO_CUTS = f"CAST(array() AS array<{INTERVAL}>)"
NO_TURNS = f"CAST(array() AS array<{TURN}>)"
NO_TIMES = "CAST(array() AS array<bigint>)"
OWN = (
    "run", "server", "blind AS own_blind", "kills AS own_kills", "eras AS own_eras", "timeout_ms",
    "expiration_ms", "askew_ms", "enabled", "heartbeat_ms", "span_ms", "hold_ms",
    "auto_discard_ms", "end_ms", "finest_ms", "resolution_ms",
    "CAST(greatest(heartbeat_ms / 2, 1000 * speed) AS BIGINT) AS usual_ms",
    EXCHANGE_MS,
    f"CAST(greatest({EXCHANGE_STEPS} * finest_ms, {AT_ONCE_WALL_MS} * speed) AS BIGINT) AS near_ms",
)  # fmt: skip
PEER = (
    "run", "server AS primary_server", "blind AS primary_blind", "kills AS primary_kills",
    "eras AS primary_eras", "lives AS primary_lives",
)  # fmt: skip


def copies(shadows: DataFrame, talks: DataFrame, histories: DataFrame) -> DataFrame:
    """The columns of `shadows` and the settings, and, in lab ms, sorted where they are arrays:

    `held_ms`; `contact_times`, `told_all`, `failures` (`talks`); intervals
    `peer_possible`, `peer_certain` (the primary cannot be reached), `own_possible` (the shadow
    server is down), `any_possible`; `primary_lost_ms`, `primary_back_ms` (its database replaced,
    its banner after that), `own_lost_ms`; `stays_until_ms`, when it goes if nobody lets it go;
    holes `own_blind`, `primary_blind`; `slack_ms`, what an exchange may take, of which `slowed_ms`
    because of faults that made the link late while the copy was held; `near_ms`, what is done at
    once on a machine as fast as its clock resolves, and `exchange_ms`, what a question surely takes
    no more than; `delivered_at_ms`, when the primary said it was delivered, null where its clocks
    leave that open.
    """
    talk = talks.withColumnRenamed("peer", "primary_server")
    known = (
        joined(shadows, histories.selectExpr(*OWN), ["run", "server"])
        .join(histories.selectExpr(*PEER), ["run", "primary_server"], "left")
        .join(talk, ["run", "server", "primary_server"], "left")
    )
    placed = known.selectExpr("*", *_PLACED)
    return placed.selectExpr("*", *_DERIVED).drop(*_RAW)


def _extents(kills: str, which: str) -> str:
    return f"coalesce(transform({kills}, k -> k.{which}), {NO_CUTS})"


def _peer(which: str) -> str:
    return f"concat({_extents('primary_kills', which)}, coalesce(cut_{which}, {NO_CUTS}))"


# a link so late that sessions may be given up may be as good as cut
_TOO_LATE = "transform(filter(late, l -> l.slowed_ms >= timeout_ms), l -> l.at)"
_UNREACHED = f"concat({_peer('possible')}, coalesce({_TOO_LATE}, {NO_CUTS}))"
_WHILE_HELD = (
    "l.at.lo <= coalesce(discard.at_ms, promoted.at_ms, end_ms) "
    "AND l.at.hi >= coalesce(held.at_ms, claimed.at_ms)"
)
_RAW = (
    "contacts", "answered", "failed", "own_kills", "own_eras", "primary_eras",
    "cut_possible", "cut_certain", "primary_era", "own_era", "late", "usual_ms", "primary_lives",
)  # fmt: skip
_PLACED = (
    f"coalesce(array_max(transform(filter(late, l -> {_WHILE_HELD}), l -> l.slowed_ms)), 0L) "
    "AS slowed_ms",
    "coalesce(held.at_ms, claimed.at_ms) AS held_ms",
    "try_element_at(filter(primary_eras, e -> e.id = primary_database_id), 1) AS primary_era",
    "try_element_at(filter(own_eras, e -> e.id = held.database_id), 1) AS own_era",
)
_BACK = (
    "try_element_at(filter(primary_kills, k -> k.kind = 'kill' "
    "AND k.certain.lo <= primary_era.lost_ms "
    f"AND k.possible.hi >= primary_era.lost_ms AND k.possible.hi < {FOREVER_MS}), 1).possible.hi"
)
_ANY = f"concat({_UNREACHED}, {_extents('own_kills', 'possible')})"
_SAID = "discard.delivered_at_ms"
_DERIVED = (
    f"{kept(_SAID, 'primary_lives', 'discard.at_ms + finest_ms')} AS delivered_at_ms",
    f"coalesce(contacts, {NO_TIMES}) AS contact_times",
    f"coalesce(answered, {NO_TURNS}) AS told_all",
    f"coalesce(failed, {NO_TURNS}) AS failures",
    "usual_ms + slowed_ms AS slack_ms",
    f"{merged(_UNREACHED)} AS peer_possible",
    f"{merged(_peer('certain'))} AS peer_certain",
    f"{merged(_extents('own_kills', 'possible'))} AS own_possible",
    f"{merged(_ANY)} AS any_possible",
    "primary_era IS NOT NULL AS era_known",
    "primary_era.lost_ms AS primary_lost_ms",
    f"coalesce({_BACK}, primary_era.lost_ms) AS primary_back_ms",
    "own_era.lost_ms AS own_lost_ms",
    "held_ms + hold_ms + expiration_ms AS stays_until_ms",
)


def coarse(duration: str) -> str:
    """SQL: the clock is too coarse for `duration` (a column in ms), or unknown."""
    return f"(resolution_ms IS NULL OR {duration} < {FAR_ABOVE} * resolution_ms)"


def too_coarse(name: str, duration: str) -> str:
    """SQL: the judgement that the clock does not allow one."""
    return unknown(
        f"{name} of {{{duration}}} ms is not far above the clock resolution of {{resolution_ms}} ms"
    )
