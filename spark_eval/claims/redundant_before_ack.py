"""redundant_before_ack: the 250 to the sender follows the shadow server's (SR-1), or SR-5 holds.

An order of events on one monotonic clock: the primary's HAREDIRECT and RECEIVE and the shadow
server's HARECEIVE, all before the sender has its 250. Each acceptance is its own case, by server
and internal id. An acceptance without a shadow is permitted only where messages are not to be
rejected for it; a rejection must say so in SR-5's words and keep nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.claims.claim import Claim, case
from spark_eval.sentences import cases as cases_of
from spark_eval.sentences import holds, unknown, violated
from spark_eval.tables import Tables
from spark_eval.transforms.sql import overlaps

REJECTION = "451 4.4.0 Message failed to be made redundant"
ACK = "ok.ended_mono_ns"


def cases(tables: Tables) -> DataFrame:
    return _acceptances(tables).unionByName(_rejections(tables))


def _acceptances(tables: Tables) -> DataFrame:
    settings = tables.record.runs.where("enabled").select("run", "reject")
    acks = tables.acknowledged.join(settings, "run").selectExpr(
        "run", "message_id", "ok", "primary AS p", "reject", "ok.server AS server",
        "primary.redirect.shadow_server AS shadow_server",
        "primary.database_id AS primary_database_id", "primary.internal_id AS primary_internal_id",
    )  # fmt: skip
    copies = tables.copies.where("claimed IS NOT NULL").selectExpr(
        "run", "server AS shadow_server", "primary_server AS server", "primary_database_id",
        "primary_internal_id", "held", "discard IS NOT NULL OR promoted IS NOT NULL "
        "OR kept_as_shadow OR kept_as_primary AS stored",
    )  # fmt: skip
    key = ["run", "server", "shadow_server", "primary_database_id", "primary_internal_id"]
    blind = tables.histories.select("run", "server", "blind")
    shadow_blind = tables.histories.selectExpr(
        "run", "server AS shadow_server", "blind AS shadow_blind"
    )
    known = (
        acks.join(copies, key, "left")
        .join(blind, ["run", "server"], "left")
        .join(shadow_blind, ["run", "shadow_server"], "left")
    )
    judged = known.selectExpr("*", f"{_JUDGED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="ok.ended_ms",
            refs="ok.ref, p.born.ref, p.redirect.ref, coalesce(held.ref, p.failure.ref)",
            requirements="array(IF(p.redirect IS NULL AND p.failure IS NOT NULL, 'SR-5', 'SR-1'))",
            weight=f"(coalesce(held.mono_ns, {ACK}) - {ACK}) / 1000000.0",
        )
    )


_BLIND = f"coalesce({overlaps('blind', 'ok.ended_ms', 'ok.ended_ms')}, false)"
_SHADOW_BLIND = f"coalesce({overlaps('shadow_blind', 'ok.ended_ms', 'ok.ended_ms')}, false)"
_AFTER_MS = f"round((held.mono_ns - {ACK}) / 1000000.0, 3)"
_HAD_IT = "the sender had its 250"
_JUDGED = cases_of(
    (f"p IS NULL AND {_BLIND}", unknown("the tracking log of {server} has a hole there")),
    ("p IS NULL", violated("acknowledged by {server}, which logged no RECEIVE of it")),
    (
        "p.redirect IS NULL AND p.failure IS NOT NULL AND reject",
        violated("{server} accepted it unprotected; RejectMessageOnShadowFailure is true"),
    ),
    ("p.redirect IS NULL AND p.failure IS NOT NULL", holds()),
    (f"p.redirect IS NULL AND {_BLIND}", unknown("the tracking log of {server} has a hole there")),
    (
        "p.redirect IS NULL",
        violated("{server} logged neither HAREDIRECT nor HAREDIRECTFAIL for it"),
    ),
    (
        f"{ACK} IS NULL OR p.redirect.mono_ns IS NULL",
        unknown("no monotonic time stands beside these events"),
    ),
    (
        f"p.redirect.mono_ns > {ACK}",
        violated(f"{{server}} logged HAREDIRECT after {_HAD_IT}"),
    ),
    (f"p.born.mono_ns > {ACK}", violated(f"{{server}} logged RECEIVE after {_HAD_IT}")),
    (
        "p.redirect.mono_ns > p.born.mono_ns",
        violated("{server} logged RECEIVE before its HAREDIRECT"),
    ),
    (
        f"held.mono_ns > {ACK}",
        violated(f"{{shadow_server}} logged HARECEIVE {{{_AFTER_MS}}} ms after {_HAD_IT}"),
    ),
    (
        f"held IS NULL AND NOT {_SHADOW_BLIND}",
        violated("{server} named {shadow_server}, which logged no HARECEIVE of it"),
    ),
    (
        "held IS NULL AND NOT coalesce(stored, false)",
        unknown("the tracking log of {shadow_server} has a hole there"),
    ),
    otherwise=holds(),
)
_REFUSED = cases_of(
    (
        "NOT reject",
        violated("{server} rejected it; RejectMessageOnShadowFailure is false"),
    ),
    ("born_ref IS NOT NULL", violated("{server} rejected it and kept it")),
    (f"startswith(reply, '{REJECTION}')", holds()),
    otherwise=violated(f"rejected with {{reply}}; due is {REJECTION}"),
)


def _rejections(tables: Tables) -> DataFrame:
    failures = tables.record.tracking.where("event = 'HAREDIRECTFAIL' AND outcome = 'rejected'")
    rows = failures.selectExpr(
        "run", "server", "message_id", "mono_ns AS fail_mono_ns", "ref AS fail_ref"
    )
    kept = tables.primaries.where("born.event = 'RECEIVE'").selectExpr(
        "run", "server", "message_id", "born.mono_ns AS born_mono_ns", "born.ref AS born_ref"
    )
    key = ["run", "server", "message_id"]
    within = "BETWEEN started_mono_ns AND ended_mono_ns"
    tried = tables.attempts.where("outcome = 'failed'")
    failed = tried.join(rows, key, "left").join(kept, key, "left")
    per_attempt = failed.groupBy("run", "server", "message_id", "attempt").agg(
        F.min("reply").alias("reply"),
        F.min("ended_ms").alias("ended_ms"),
        F.min("ref").alias("ref"),
        F.expr(f"min(fail_ref) FILTER (WHERE fail_mono_ns {within}) AS fail_ref"),
        F.expr(f"min(born_ref) FILTER (WHERE born_mono_ns {within}) AS born_ref"),
    )
    settings = tables.record.runs.where("enabled").select("run", "reject")
    asked = per_attempt.where("fail_ref IS NOT NULL OR reply LIKE '451 4.4.0%'")
    judged = asked.join(settings, "run").selectExpr("*", f"{_REFUSED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="ended_ms",
            refs="ref, fail_ref, born_ref",
            requirements="array('SR-5')",
        )
    )


CLAIM = Claim("redundant_before_ack", ("SR-1", "SR-5"), cases)
