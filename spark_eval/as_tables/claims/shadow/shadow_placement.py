"""shadow_placement: a shadow stands where topology and settings permit, found as SR-3 and SR-4 say.

Asks every shadow that a primary named (HAREDIRECT), every one that a server took (HARECEIVE), every
failure to make one (HAREDIRECTFAIL), whether the message was accepted then or rejected, and every
promoted and resubmitted message, which must be shadowed again (SM-13). Where an attempt is said to
have failed, a fault was in its way. With `ShadowRedundancyEnabled` false there must be none at all
(SR-9, SR-14).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.shadow.redundant_before_ack import REJECTION
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.fault_windows import acting
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, sentence, violated

_OWNED = ["run", "primary_server", "database_id", "internal_id"]
UNNAMED = "{server} holds it under no database id"
NEVER_HELD = "{primary_server} named {shadow_server}, which logged no HARECEIVE of it"
NOT_TRIED = "{primary_server} has it anew and did not try to shadow it again"
STRANGER = "{server} may hold no shadow of {primary_server}"

# `server: reason; server: reason`
NAME = "(?:^|; ?)([A-Za-z0-9][A-Za-z0-9.-]*): "
NAMES = f"regexp_extract_all(failure.context, '{NAME}', 1)"
TRIED = f"transform({NAMES}, name -> lower(substring_index(name, '.', 1)))"


def cases(tables: Tables) -> DataFrame:
    rules = tables.shadow_rules
    owned = tables.primaries.withColumnRenamed("server", "primary_server").transform(
        joined, rules, ["run", "primary_server"]
    )
    return (
        _made(owned)
        .unionByName(_made_late(owned, tables))
        .unionByName(_taken(tables))
        .unionByName(_failed(tables))
        .unionByName(_shadowed_again(owned, tables))
        .unionByName(_disabled(tables))
    )


_SHADOW = "redirect.shadow_server"
_REMOTE = f"array_contains(remotes, {_SHADOW})"
_LOCAL = f"array_contains(locals, {_SHADOW})"
_AFTER = "after {redirect.attempts} attempts: {preference} allows "
_MADE = cases_of(
    ("NOT enabled", violated("a shadow was made; ShadowRedundancyEnabled is false")),
    (
        f"NOT ({_REMOTE} OR {_LOCAL})",
        violated(f"{{{_SHADOW}}} is outside the boundary of {{primary_server}}"),
    ),
    (
        "is_made AND redirect.attempts IS NULL",
        violated("{primary_server} does not say at which attempt it was made"),
    ),
    (
        f"{_REMOTE} AND coalesce(redirect.attempts > remote_attempts, remote_attempts = 0)",
        violated(f"{{{_SHADOW}}} in a remote site {_AFTER}{{remote_attempts}} there"),
    ),
    (
        f"{_LOCAL} AND local_attempts = 0",
        violated(f"{{{_SHADOW}}} in the local site; {{preference}} allows no attempt there"),
    ),
    (
        f"{_LOCAL} AND redirect.attempts <= remote_attempts",
        violated(
            f"{{{_SHADOW}}} in the local site {_AFTER}{{remote_attempts}} at remote ones first"
        ),
    ),
    (
        "redirect.attempts > remote_attempts + local_attempts",
        violated(f"{{{_SHADOW}}} {_AFTER}{{remote_attempts + local_attempts}} in all"),
    ),
    otherwise=holds(),
)


def _made(owned: DataFrame) -> DataFrame:
    return (
        owned.where("redirect IS NOT NULL")
        .selectExpr("*", f"{_MADE} AS j")
        .selectExpr(
            *case(
                status="j.status",
                subject="message_id",
                detail="j.reason",
                at_ms="redirect.at_ms",
                refs="redirect.ref",
                requirements="IF(enabled, array('SR-2', 'SR-3'), array('SR-9'))",
                weight="redirect.attempts",
            )
        )
    )


def _taken(tables: Tables) -> DataFrame:
    held = tables.copies.where("held IS NOT NULL").drop("enabled")
    known = held.join(tables.shadow_rules, ["run", "primary_server"], "left")
    permitted = (
        "coalesce((array_contains(remotes, server) AND remote_attempts > 0) "
        "OR (array_contains(locals, server) AND local_attempts > 0), false)"
    )
    return known.selectExpr(
        *case(
            status=f"IF({permitted} AND primary_database_id <> '', 'holds', 'violated')",
            subject="message_id",
            detail=f"IF(primary_database_id = '', {sentence(UNNAMED)}, {sentence(STRANGER)})",
            at_ms="held.at_ms",
            refs="held.ref, claimed.ref",
            requirements="array('SR-2', 'SR-11')",
        )
    )


_R = "filter(tried, t -> array_contains(remotes, t))"
_L = "filter(tried, t -> array_contains(locals, t))"
_TRIED = "{array_join(tried, ', ')}"
ALLOWED = "(IF(size(remotes) = 0, 0, remote_attempts) + IF(size(locals) = 0, 0, local_attempts))"
_FAILED = cases_of(
    (
        f"size({_R}) + size({_L}) < size(tried)",
        violated(f"tried outside the boundary: {_TRIED}"),
    ),
    (
        f"size({_R}) > remote_attempts OR size({_L}) > local_attempts "
        "OR coalesce(failure.attempts > remote_attempts + local_attempts, false)",
        violated(f"more attempts than {{preference}} allows: {_TRIED}"),
    ),
    (
        f"size(array_distinct({_R})) < least(size({_R}), size(remotes)) "
        f"OR size(array_distinct({_L})) < least(size({_L}), size(locals))",
        violated(f"tried one twice while others were untried: {_TRIED}"),
    ),
    (
        f"size(tried) < {ALLOWED}",
        violated(f"gave up after {{size(tried)}} attempts; {{preference}} allows {{{ALLOWED}}}"),
    ),
    (
        "unprovoked IS NOT NULL",
        violated(
            "{primary_server} says that an attempt at {array_join(unprovoked, ', ')} failed, and "
            "no fault was in the way"
        ),
    ),
    otherwise=holds(),
)


def _failed(tables: Tables) -> DataFrame:
    told = "event = 'HAREDIRECTFAIL' AND coalesce(outcome, 'accepted') IN ('accepted', 'rejected')"
    rows = tables.record.tracking.where(told).selectExpr(
        "run", "server AS primary_server", "message_id",
        "struct(at_ms, attempts, context, ref) AS failure",
    )  # fmt: skip
    failed = joined(rows, tables.shadow_rules.where("enabled"), ["run", "primary_server"])
    tried = failed.selectExpr("*", f"{TRIED} AS tried").join(
        _unprovoked(failed, tables), ["run", "failure"], "left"
    )
    return tried.selectExpr("*", f"{_FAILED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="failure.at_ms",
            refs="failure.ref",
            requirements="concat(array('SR-3', 'SR-4'), IF(unprovoked IS NULL, array(), "
            "array('SR-1', 'SR-5')))",
            weight="failure.attempts",
        )
    )


def _unprovoked(failed: DataFrame, tables: Tables) -> DataFrame:
    """`run`, `failure`, `unprovoked`: servers at which an attempt failed without a fault."""
    attempts = failed.selectExpr(
        "run", "primary_server", "failure", f"explode(array_distinct({TRIED})) AS peer"
    )
    known = _with_trouble(attempts, "failure", tables)
    return (
        known.where("NOT in_trouble")
        .groupBy("run", "failure")
        .agg(F.expr("array_sort(collect_set(peer)) AS unprovoked"))
    )


def _with_trouble(attempts: DataFrame, told: str, tables: Tables) -> DataFrame:
    """The same with `in_trouble`: a fault was in the way from `primary_server` to `peer` when the
    row `told` was written, or for as long before as all attempts that it counts may have taken,
    while a session stood. Attempts take longer where they wait for one of few sessions
    (MaxPerDomainOutboundConnections): then it was in the way of a session to `peer` that was lost.
    """
    waits = tables.histories.selectExpr(
        "run", "server AS primary_server", "timeout_ms",
        "greatest(session_ms, timeout_ms) AS most_ms",
    )  # fmt: skip
    ways = tables.troubles.where("service = 'smtp'").selectExpr(
        "run", "server AS primary_server", "peer", "troubles"
    )
    lost = tables.record.given_up.selectExpr("run", "server AS primary_server", "peer", "at_ms")
    pair = ["run", "primary_server", "peer"]
    times = lost.groupBy(*pair).agg(F.expr("collect_list(at_ms) AS lost_times"))
    known = (
        joined(attempts, waits, ["run", "primary_server"])
        .join(ways, pair, "left")
        .join(times, pair, "left")
    )
    took_ms = f"least(greatest(coalesce({told}.attempts, 1), 1) * timeout_ms, most_ms)"
    trouble = overlaps("troubles", f"{told}.at_ms - {took_ms}", f"{told}.at_ms")
    met = f"""exists(lost_times, t -> t BETWEEN {told}.at_ms - most_ms AND {told}.at_ms
      AND {overlaps("troubles", "t - timeout_ms", "t")})"""
    return known.selectExpr("*", f"coalesce({trouble} OR {met}, false) AS in_trouble")


_REMOTE_ONES = "least(redirect.attempts - 1, IF(size(remotes) = 0, 0, remote_attempts))"
_AT_LEAST = (
    f"least({_REMOTE_ONES}, size(remotes)) "
    f"+ least(redirect.attempts - 1 - {_REMOTE_ONES}, size(locals)) AS at_least"
)


def _made_late(owned: DataFrame, tables: Tables) -> DataFrame:
    """Shadows that stand after some attempts failed: `at_least` so many servers were hard to reach,
    since each attempt goes to another one while there is one in its site.
    """
    late = owned.where("redirect.attempts > 1").selectExpr(
        "run", "primary_server", "message_id", "redirect", _AT_LEAST,
        "explode(array_distinct(concat(remotes, locals))) AS peer",
    )  # fmt: skip
    known = _with_trouble(late, "redirect", tables)
    counted = known.groupBy("run", "primary_server", "message_id", "redirect", "at_least").agg(
        F.expr("count_if(in_trouble) AS in_trouble")
    )
    return counted.selectExpr(
        *case(
            status="IF(in_trouble < at_least, 'violated', 'holds')",
            subject="message_id",
            detail=sentence(
                "{primary_server} says that {redirect.attempts - 1} attempts failed, and a fault "
                "was in the way of {in_trouble} servers"
            ),
            at_ms="redirect.at_ms",
            refs="redirect.ref",
            requirements="array('SR-3')",
            weight="redirect.attempts",
        )
    )


# `blind` without the moment before a kill: what that may have swallowed left other traces
_HOLES = "filter(blind, b -> NOT exists(kills, k -> k.certain.lo = b.hi))"


def _shadowed_again(owned: DataFrame, tables: Tables) -> DataFrame:
    """Unless the server went away first: attempts at servers that faults made silent take long.
    Back again it tries anew, so nothing excuses a message that was delivered and that no other
    server ever held, but a hole in what the server logged.
    """
    histories = tables.histories.selectExpr(
        "run", "server AS primary_server", "blind", "kills", "heartbeat_ms", "timeout_ms",
        "end_ms", "transform(kills, k -> k.possible) AS downs",
    )  # fmt: skip
    made_anew = owned.where("enabled AND born.source IN ('REDUNDANCY', 'SAFETYNET')")
    known = (
        joined(made_anew, histories, ["run", "primary_server"])
        .join(acting(tables.windows), "run", "left")
        .join(_delivered_alone(tables), _OWNED, "left")
        .selectExpr("*", "redirect.shadow_server AS shadow_server")
        .join(_never_held(tables), [*_OWNED, "shadow_server"], "left")
    )
    soon = "born.at_ms + heartbeat_ms"
    trying = (
        f"IF({overlaps('acting', 'born.at_ms', soon)}, born.at_ms "
        f"+ greatest(heartbeat_ms, (remote_attempts + local_attempts) * timeout_ms), {soon})"
    )
    excused = (
        f"({overlaps('blind', 'born.at_ms', trying)} OR {overlaps('downs', 'born.at_ms', trying)} "
        f"OR {soon} > end_ms)"
    )
    life = "least(born.at_ms, alone_ms)", "greatest(born.at_ms, alone_ms)"
    hole = overlaps(_HOLES, *life)
    alone = f"alone_ms IS NOT NULL AND NOT coalesce({hole}, false) AS went_out_alone"
    known = known.selectExpr("*", alone)
    return known.selectExpr(
        *case(
            status="CASE WHEN never_held THEN 'violated' "
            "WHEN redirect IS NOT NULL OR failure IS NOT NULL "
            "OR remote_attempts + local_attempts = 0 THEN 'holds' "
            f"WHEN coalesce({excused}, false) AND NOT went_out_alone THEN NULL "
            "ELSE 'violated' END",
            subject="message_id",
            detail=f"IF(never_held, {sentence(NEVER_HELD)}, {sentence(NOT_TRIED)})",
            at_ms="born.at_ms",
            refs="born.ref, redirect.ref, failure.ref",
            requirements="array('SM-13')",
        )
    )


def _never_held(tables: Tables) -> DataFrame:
    """`_OWNED`, `shadow_server`, `never_held`: shadows that a primary names and no word of their
    server knows, though its log has no hole there.
    """
    blind = tables.histories.select("run", "server", "blind")
    claimed = tables.copies.where("claimed IS NOT NULL AND held IS NULL").drop("own_blind")
    traced = "discard IS NOT NULL OR promoted IS NOT NULL OR kept_as_shadow OR kept_as_primary"
    hole = overlaps("blind", "claimed.at_ms", "claimed.at_ms")
    untraced = claimed.join(blind, ["run", "server"], "left").where(
        f"NOT ({traced}) AND NOT coalesce({hole}, false)"
    )
    return untraced.selectExpr(
        "run", "primary_server", "primary_database_id AS database_id",
        "primary_internal_id AS internal_id", "server AS shadow_server", "true AS never_held",
    )  # fmt: skip


def _delivered_alone(tables: Tables) -> DataFrame:
    """`_OWNED`, `alone_ms`: delivered to all, and nobody else said a word of a copy."""
    key = "run", "server AS primary_server", "database_id", "internal_id"
    delivered = tables.forks.where("complete AND NOT expired")
    elsewhere = tables.copies.selectExpr(
        "run", "primary_server", "primary_database_id AS database_id",
        "primary_internal_id AS internal_id",
    )  # fmt: skip
    known = delivered.selectExpr(*key, "done_ms AS alone_ms")
    return known.join(elsewhere, _OWNED, "left_anti")


def _disabled(tables: Tables) -> DataFrame:
    """No copy is made, and nothing is refused for the lack of one."""
    settings = tables.record.runs.where("NOT enabled").select("run", "reject")
    accepted = joined(tables.acknowledged, settings, "run").selectExpr(
        *case(
            status="IF(primary.redirect IS NULL, 'holds', 'violated')",
            subject="message_id",
            detail="'a shadow was made; ShadowRedundancyEnabled is false'",
            at_ms="ok.ended_ms",
            refs="ok.ref, primary.redirect.ref",
            requirements="IF(primary.redirect IS NULL AND reject, array('SR-9', 'SR-14'), "
            "array('SR-9'))",
        )
    )
    refused = tables.attempts.where(f"reply LIKE '{REJECTION}%'").transform(joined, settings, "run")
    return accepted.unionByName(
        refused.selectExpr(
            *case(
                status="'violated'",
                subject="message_id",
                detail=sentence("refused by {server}; ShadowRedundancyEnabled is false"),
                at_ms="ended_ms",
                refs="ref",
                requirements="array('SR-14')",
            )
        )
    )


CLAIM = Claim(
    "shadow_placement",
    ("SR-1", "SR-2", "SR-3", "SR-4", "SR-5", "SR-9", "SR-11", "SR-14", "SM-13"),
    cases,
)
