"""Faults as they happened: from what was intended to what was seen, one row a fault.

A fault's possible extent runs from the intent to the banner (of a server) or the heal (of links);
its certain extent from when it was applied to when healing began. What is late is judged on the
possible extent, what had to happen on the certain one.

A server that was killed, paused, stopped or restarted is away and a link that is cut carries
nothing. A server whose disk is full may fail at everything that it should write, and need not: it
is possibly away all that time, and certainly never. A link that is slow or throttled carries all of
it, later by `slowed_ms` an exchange.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.names import AWAY_KINDS
from spark_eval.sql.intervals import FOREVER_MS

EXTENTS = (
    "named_struct('lo', coalesce(intended_ms, applied_ms), 'hi', over_ms) AS possible",
    "named_struct('lo', coalesce(applied_ms, intended_ms), "
    "'hi', least(coalesce(heal_intended_ms, over_ms), over_ms)) AS certain",
)
# round trips of an exchange that begins with a new connection, TLS and greetings, and its bytes
ROUND_TRIPS = 10
EXCHANGE_BYTES = 65_536

AWAY = f"kind IN {AWAY_KINDS}"
IN_DOUBT = "kind = 'fill_disk'"
SLOWED = f"""CASE kind WHEN 'slow' THEN {2 * ROUND_TRIPS} * (latency_ms + jitter_ms)
  WHEN 'throttle' THEN {EXCHANGE_BYTES} * 1000 DIV bytes_per_second END"""
SEEN = "coalesce(applied_ms, intended_ms) IS NOT NULL"


def _at(phase: str, column: str = "at_ms") -> str:
    return f"min({column}) FILTER (WHERE phase = '{phase}')"


def fault_windows(planned: DataFrame, record: DataFrame) -> DataFrame:
    """Columns of `FAULT_WINDOWS`; `over_ms` is `FOREVER_MS` where nothing ended it."""
    seen = record.groupBy("run", "fault").agg(
        F.expr(f"{_at('intended')} AS intended_ms"),
        F.expr(f"{_at('applied')} AS applied_ms"),
        F.expr(f"{_at('applied', 'mono_ns')} AS applied_mono_ns"),
        F.expr("bool_and(took_effect) FILTER (WHERE phase = 'evidence') AS took_effect"),
        F.expr("min(reason) FILTER (WHERE phase = 'evidence') AS reason"),
        F.expr(f"{_at('heal-intended')} AS heal_intended_ms"),
        F.expr(f"{_at('healed')} AS healed_ms"),
        F.expr("max(banner_ms) AS banner_ms"),
    )
    joined = planned.join(seen, ["run", "fault"], "left")
    over = f"coalesce(IF({AWAY}, banner_ms, healed_ms), {FOREVER_MS})"
    return joined.selectExpr(
        "run", "fault", "kind", "cut_kind", "lower(server) AS server", "returns_with", "links",
        f"{SLOWED} AS slowed_ms", "by_ms", "intended_ms", "applied_ms", "applied_mono_ns",
        "took_effect", "reason", "heal_intended_ms", "healed_ms", "banner_ms", f"{over} AS over_ms",
    )  # fmt: skip


def downs(windows: DataFrame) -> DataFrame:
    """`run`, `server`, `kind`, `possible`, `certain` of each fault of a server that was at least
    intended. Who damages a server's disk, or cuts its power, has killed it.
    """
    kind = "IF(kind IN ('corrupt', 'power_loss'), 'kill', kind) AS kind"
    known = windows.where(f"({AWAY} OR {IN_DOUBT}) AND {SEEN}").selectExpr("*", *EXTENTS)
    never = "named_struct('lo', certain.lo, 'hi', certain.lo)"
    certain = f"IF({IN_DOUBT}, {never}, certain) AS certain"
    return known.selectExpr("run", "server", kind, "possible", certain)


def cuts(windows: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, `possible`, `certain`: sessions to `peer` cut."""
    return _by_link(windows.where("kind = 'cut'"))


def slows(windows: DataFrame) -> DataFrame:
    """The same for sessions that are late, with `slowed_ms`."""
    return _by_link(windows.where("slowed_ms IS NOT NULL"), "slowed_ms")


def by_link(windows: DataFrame, *more: str) -> DataFrame:
    """`run`, `server`, `peer`, `service`, `possible`, `certain` of each fault of links that was at
    least intended, with columns `more`.
    """
    links = windows.where(SEEN).selectExpr("run", "inline(links)", *more, *EXTENTS)
    return links.selectExpr(
        "run", "lower(`from`) AS server", "lower(`to`) AS peer", "service", *more, "possible",
        "certain",
    )  # fmt: skip


def _by_link(windows: DataFrame, *more: str) -> DataFrame:
    return by_link(windows, *more).where("service = 'smtp'").drop("service")
