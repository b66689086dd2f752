"""redundant_before_ack: the 250 to the sender follows the shadow server's (SR-1), or SR-5 holds.

An order of events on one monotonic clock: the primary's HAREDIRECT and RECEIVE and the shadow
server's HARECEIVE, all before the sender has its 250. The sender is the workload, or a server of
another boundary, from which a message comes as from outside (SR-10); inside the boundary it goes to
its mailbox in one hop (SR-12). Each acceptance is its own case, by server and internal id. An
acceptance without a shadow is permitted only where messages are not to be rejected for it; a
rejection must say so in SR-5's words and keep nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms import acknowledged
from spark_eval.as_tables.transforms.attempts import ATTEMPT, written_meanwhile
from spark_eval.as_tables.transforms.copy_deliveries import STORED
from spark_eval.spark.joins import joined
from spark_eval.spark.partitions import together
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, sentence, unknown, violated

REJECTION = "451 4.4.0 Message failed to be made redundant"
REJECTS = "event = 'HAREDIRECTFAIL' AND outcome = 'rejected'"
ACK = "ok.ended_mono_ns"


def cases(tables: Tables) -> DataFrame:
    asked = _acceptances(tables, _accepted(tables)).unionByName(_rejections(tables))
    if tables.crossings is None:
        return asked
    return asked.unionByName(_one_hop(tables, tables.crossings))


def _accepted(tables: Tables) -> DataFrame:
    """`run`, `message_id`, `ok` (the 250), `p` (the primary message behind it), `crossed`."""
    ok = "struct(ok.server, ok.ended_ms, ok.ended_mono_ns, ok.ref) AS ok"
    by_senders = tables.acknowledged.selectExpr(
        "run", "message_id", ok, "primary AS p", "false AS crossed"
    )
    if tables.crossings is None:
        return by_senders
    sent = tables.crossings.where("crossed").selectExpr(
        "run", "message_id", "struct(peer AS server, at_ms AS ended_ms, mono_ns AS ended_mono_ns, "
        "ref) AS ok", "peer", "peer_internal_id",
    )  # fmt: skip
    behind = acknowledged.behind(sent, tables.primaries, "peer", "peer_internal_id")
    return by_senders.unionByName(
        behind.selectExpr("run", "message_id", "ok", "p", "true AS crossed")
    )


def _acceptances(tables: Tables, accepted: DataFrame) -> DataFrame:
    settings = tables.record.runs.where("enabled").select("run", "reject")
    acks = joined(accepted, settings, "run").selectExpr(
        "run", "message_id", "ok", "p", "crossed", "reject", "ok.server AS server",
        "p.redirect.shadow_server AS shadow_server",
        "p.database_id AS primary_database_id", "p.internal_id AS primary_internal_id",
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
            requirements="filter(array(IF(p.redirect IS NULL AND p.failure IS NOT NULL, 'SR-5', "
            "'SR-1'), IF(crossed, 'SR-10', NULL)), r -> r IS NOT NULL)",
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
# the row may be of an earlier attempt, which its sender had left open, and this one refused for
# another reason
_OF_ANOTHER = "reject AND is_after_open AND NOT coalesce(reply LIKE '451 4.4.0%', false)"
_AFTER_OPEN = """coalesce(bool_or(reply IS NULL) OVER (PARTITION BY run, server, message_id
  ORDER BY attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false)"""
_REFUSED = cases_of(
    (_OF_ANOTHER, not_asked()),
    (
        "NOT reject",
        violated("{server} rejected it; RejectMessageOnShadowFailure is false"),
    ),
    ("born_ref IS NOT NULL", violated("{server} rejected it and kept it")),
    (f"startswith(reply, '{REJECTION}')", holds()),
    otherwise=violated(f"rejected with {{reply}}; due is {REJECTION}"),
)


def _rejections(tables: Tables) -> DataFrame:
    failures = tables.record.tracking.where(REJECTS).select(
        "run", "server", "message_id", "mono_ns", "ref"
    )
    born = tables.primaries.where("born.event = 'RECEIVE'").selectExpr(
        "run", "server", "message_id", "born.mono_ns AS mono_ns", "born.ref AS ref"
    )
    each = tables.attempts.selectExpr("*", f"{_AFTER_OPEN} AS is_after_open")
    tried = each.where("outcome = 'failed'")
    per_attempt = tried.join(written_meanwhile(tried, failures, "fail_ref"), ATTEMPT, "left").join(
        written_meanwhile(tried, born, "born_ref"), ATTEMPT, "left"
    )
    settings = tables.record.runs.where("enabled").select("run", "reject")
    asked = per_attempt.where("fail_ref IS NOT NULL OR reply LIKE '451 4.4.0%'")
    judged = joined(asked, settings, "run").selectExpr("*", f"{_REFUSED} AS j")
    of_attempts = judged.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="ended_ms",
            refs="ref, fail_ref, born_ref",
            requirements="array('SR-5')",
        )
    )
    return of_attempts.unionByName(
        _in_nobodys_hearing(tables, per_attempt.select("run", "fail_ref"))
    )


def _in_nobodys_hearing(tables: Tables, answered: DataFrame) -> DataFrame:
    """Rows of rejections that no attempt had for an answer: its sender was lost before (SR-6)."""
    told = together(tables.record.tracking.where(REJECTS).withColumnRenamed("ref", "fail_ref"))
    settings = tables.record.runs.where("enabled AND NOT reject").select("run")
    rows = joined(told, settings, "run").join(together(answered), ["run", "fail_ref"], "left_anti")
    return rows.selectExpr(
        *case(
            status="'violated'",
            subject="message_id",
            detail=sentence("{server} rejected it; RejectMessageOnShadowFailure is false"),
            at_ms="at_ms",
            refs="fail_ref",
            requirements="array('SR-5', 'SR-6')",
        )
    )


def _one_hop(tables: Tables, hops: DataFrame) -> DataFrame:
    """Every message that a server of the boundary took from another one there: into mailboxes, and
    not to be sent on. A row of the peer that a hole hides leaves it open.
    """
    inside = hops.where("NOT left").select(
        "run", "server", "message_id", "peer", "peer_internal_id", "at_ms", "ref"
    )
    taken = tables.record.tracking.where(f"event = 'RECEIVE' OR ({STORED})").selectExpr(
        "run", "server AS peer", "internal_id AS peer_internal_id", "message_id",
        "event = 'RECEIVE' AS anew", "ref AS taken_ref",
    )  # fmt: skip
    first = taken.groupBy("run", "peer", "peer_internal_id", "message_id").agg(
        F.bool_or("anew").alias("anew"), F.min("taken_ref").alias("taken_ref")
    )
    known = joined(inside, first, ["run", "peer", "peer_internal_id", "message_id"])
    return known.selectExpr(
        *case(
            status="IF(anew, 'violated', 'holds')",
            subject="message_id",
            detail=sentence(
                "{server} sent it to {peer} in its own boundary, which received it anew"
            ),
            at_ms="at_ms",
            refs="ref, taken_ref",
            requirements="array('SR-12')",
        )
    )


CLAIM = Claim("redundant_before_ack", ("SR-1", "SR-5", "SR-6", "SR-10", "SR-12"), cases)
