"""Faults as they happened: from what was intended to what was seen, one row a fault.

A fault's possible extent runs from the intent to the banner (of a server) or the heal (of links);
its certain extent from when it was applied to when healing began. What is late is judged on the
possible extent, what had to happen on the certain one.

A server that was killed, paused, stopped or restarted is away and a link that is cut carries
nothing. A server whose disk is full may fail at everything that it should write, and need not, and
a link whose sessions carry so much and no more ends some of them: both are possibly away all that
time, and certainly never. A link that is slow or throttled carries all of it, later by `slowed_ms`
an exchange.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.fault_kinds import AWAY_KINDS, KINDS, LINK, SERVER, Does, is_one_of, kinds
from spark_eval.sql.intervals import FOREVER_MS

AWAY = is_one_of(AWAY_KINDS)
IN_DOUBT = is_one_of(kinds(LINK, Does.IN_DOUBT) + kinds(SERVER, Does.IN_DOUBT))
EXTENTS = (
    "named_struct('lo', coalesce(intended_ms, applied_ms), 'hi', over_ms) AS possible",
    "named_struct('lo', coalesce(applied_ms, intended_ms), "
    f"'hi', IF({IN_DOUBT}, coalesce(applied_ms, intended_ms), "
    "least(coalesce(heal_intended_ms, over_ms), over_ms))) AS certain",
)
CUT = is_one_of(kinds(LINK, Does.AWAY, Does.IN_DOUBT))
LATE = " ".join(f"WHEN '{name}' THEN {KINDS[name].late_ms}" for name in kinds(LINK, Does.LATE))
SLOWED = f"CASE kind {LATE} END"
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
        "run", "fault", "kind", "cut_kind", "direction", "lower(server) AS server", "returns_with",
        "links",
        f"{SLOWED} AS slowed_ms", "by_ms", "intended_ms", "applied_ms", "applied_mono_ns",
        "took_effect", "reason", "heal_intended_ms", "healed_ms", "banner_ms", f"{over} AS over_ms",
    )  # fmt: skip


def downs(windows: DataFrame) -> DataFrame:
    """`run`, `server`, `kind`, `possible`, `certain` of each fault of a server that was at least
    intended. Who damages a server's disk, or cuts its power, has killed it.
    """
    kind = "IF(kind IN ('corrupt', 'power_loss'), 'kill', kind) AS kind"
    known = windows.where(f"server IS NOT NULL AND ({AWAY} OR {IN_DOUBT}) AND {SEEN}")
    return known.selectExpr("run", "server", kind, *EXTENTS)


def acting(windows: DataFrame) -> DataFrame:
    """`run`, `acting`: the possible extents of all faults of a run that were at least intended."""
    known = windows.where(SEEN).selectExpr("run", *EXTENTS)
    return known.groupBy("run").agg(F.expr("collect_list(possible) AS acting"))


def cuts(windows: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, `possible`, `certain`: sessions to `peer` cut."""
    return _by_link(windows.where(CUT))


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
