"""held_long_enough: each copy is kept as long as promised and no longer (SN-1, SN-2, SM-11, SM-12).

Compares what stores owe at the end (`expected.hold`) with what their queue listings show. A listing
that was not collected, or is damaged, answers nothing. Where servers went by clocks that were
apart, times that lie that close to the end are not asked;
neither is a copy whose time is up within a heartbeat after it: servers go on until they are
stopped, and are listed then.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.shadow_copies import EXCHANGE_MS
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.read.connectivity_log import TOGETHER_MS
from spark_eval.spark.joins import joined, small
from spark_eval.spark.partitions import together
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import sentence

KEY = ["run", "server", "network_message_id"]
PAIR = ["run", "server", "peer"]
MESSAGE = ["run", "server", "database_id", "internal_id"]
# what is resubmitted keeps its network message id, and is a copy of its own
FOUND = (
    "get(filter(entries, e -> array_contains(queues, e.queue) "
    "AND coalesce(e.internal_id = own_internal_id, true)), 0)"
)
# two questions a heartbeat apart when no fault is left: one gets it, the other confirms it; one
# that was answered just before the message was done gets nothing, or what was done before it
GETS = (
    "t.notifications > 0 AND t.at_ms >= since_ms + exchange_ms "
    "OR t.at_ms >= since_ms + heartbeat_ms"
)
AFTER = f"filter(asked, t -> t.at_ms >= coalesce(calm_ms, 0) AND ({GETS})).at_ms"
CONFIRMED = f"coalesce(array_max({AFTER}) - array_min({AFTER}) > heartbeat_ms, false)"
# of one that is not confirmed: when its shadow server last asked, or may have
LAST_ASKED = "greatest(since_ms, array_max(asked).at_ms, array_max(unanswered), array_max(holes))"
UNLISTED = "no sound queue listing of {server}"
OWED = "the {what} of {server} owed it until {@keep_until_ms}; the listing does not have it"
OVERDUE = "the {what} of {server} should have dropped it at {@gone_after_ms}"


def cases(tables: Tables) -> DataFrame:
    return (
        _stays(tables)
        .unionByName(_overstays(tables))
        .unionByName(_expiries(tables))
        .unionByName(_outstayed(tables))
    )


def listings(tables: Tables) -> DataFrame:
    """`run`, `server`, `listed`: the queue listing is there and undamaged; what contradicts it from
    outside, which is damage of no server's, hides nothing of it.
    """
    there = tables.record.files.where("file LIKE 'logs/%/queues.jsonl'").selectExpr(
        "run", "file", "lower(regexp_extract(file, '^logs/([^/]+)/', 1)) AS server"
    )
    damaged = tables.record.damaged_lines.where("server <> ''").select("run", "file").distinct()
    return there.join(damaged, ["run", "file"], "left_anti").selectExpr(
        "run", "server", "true AS listed"
    )


def _settings(tables: Tables) -> DataFrame:
    return tables.histories.selectExpr(
        "run", "server", "end_ms", "heartbeat_ms", "finest_ms", "askew_ms", "auto_discard_ms",
        "expiration_ms", EXCHANGE_MS,
    )  # fmt: skip


def _stays(tables: Tables) -> DataFrame:
    listed = tables.record.queues.groupBy(*KEY).agg(
        F.expr("collect_set(struct(queue, internal_id, ref)) AS entries")
    )
    stays = tables.stays.withColumnRenamed("internal_id", "own_internal_id")
    owed = stays.join(listed, KEY, "left").join(listings(tables), ["run", "server"], "left")
    known = joined(owed, _settings(tables), ["run", "server"]).selectExpr(
        "*",
        f"{FOUND} AS found",
        "keep_until_ms - askew_ms > end_ms + heartbeat_ms AS still_due",
        "gone_after_ms + heartbeat_ms + finest_ms + askew_ms < end_ms AS over",
    )
    return known.selectExpr("*", "found IS NOT NULL AS here").selectExpr(
        *case(
            status="CASE WHEN NOT still_due AND NOT over THEN NULL "
            "WHEN listed IS NULL THEN 'unknown' WHEN still_due THEN IF(here, 'holds', 'violated') "
            "ELSE IF(here, 'violated', 'holds') END",
            subject="message_id",
            detail=f"CASE WHEN listed IS NULL THEN {sentence(UNLISTED)} "
            f"WHEN still_due THEN {sentence(OWED)} ELSE {sentence(OVERDUE)} END",
            at_ms="end_ms",
            refs="asked_ref, found.ref",
            requirements="array(IF(what = 'Primary Safety Net', 'SN-1', 'SN-2'))",
        )
    )


def _overstays(tables: Tables) -> DataFrame:
    """Entries of delivery queues and discard notifications that are older than they may get.

    One that was asked for stays until the shadow server confirms it with its next question (SM-16),
    which it may have no cause to ask; or until the one after that, where a fault kept it from
    taking in the answer. What is not confirmed is dropped when nobody has asked for it for so long
    (SM-11). Who has no answer may have asked all the same, in a session that stood, and so may who
    left a hole in its log.
    """
    contacts = tables.record.contacts.where("reached").groupBy(*PAIR)
    times = contacts.agg(F.expr("collect_list(struct(at_ms, notifications)) AS times"))
    asked = joined(times, _unanswered(tables), PAIR, "full").selectExpr(
        "run", "peer AS server", "server AS shadow_server", "times", "unanswered"
    )
    holes = tables.histories.selectExpr(
        "run", "server AS shadow_server", "transform(blind, b -> b.hi) AS holes"
    )
    faults = tables.windows.groupBy("run").agg(F.max("over_ms").alias("calm_ms"))
    entries = (
        tables.record.queues.where("queue IN ('delivery', 'discard')")
        .withColumn("shadow_server", F.expr("lower(shadow_server)"))
        .join(asked, ["run", "server", "shadow_server"], "left")
        .join(holes, ["run", "shadow_server"], "left")
        .join(small(faults), "run", "left")
    )
    since = "IF(queue = 'discard', coalesce(delivered_ms, entered_ms), entered_ms)"
    timed = joined(entries, _settings(tables), ["run", "server"]).selectExpr(
        "*",
        f"{since} AS since_ms",
        "IF(queue = 'discard', auto_discard_ms, expiration_ms) AS most_ms",
    )
    asking = timed.selectExpr("*", "filter(times, t -> t.at_ms >= since_ms) AS asked")
    counted = f"IF(queue = 'discard' AND NOT {CONFIRMED}, {LAST_ASKED}, since_ms)"
    aged = asking.selectExpr("*", f"end_ms - {counted} AS age_ms")
    return aged.selectExpr(
        *case(
            status="IF(age_ms > most_ms + heartbeat_ms + finest_ms + askew_ms, "
            "'violated', 'holds')",
            # a notification may outlive what its server knew of the message
            subject="coalesce(message_id, server)",
            detail=sentence("in the {queue} queue of {server} for {@age_ms}, at most {@most_ms}"),
            at_ms="end_ms",
            refs="ref",
            requirements="array(IF(queue = 'discard', 'SM-11', 'SM-12'))",
            weight="age_ms - most_ms",
        )
    )


def _unanswered(tables: Tables) -> DataFrame:
    """`unanswered`: when a server gave up a question to a `peer`: a heartbeat, in a session that
    had stood, or the first question of a session for messages.
    """
    given_up = tables.record.given_up
    heartbeats = tables.record.contacts.where("failed").select(*PAIR, "at_ms")
    broken = given_up.where("had_stood").selectExpr(*PAIR, "at_ms AS ended_ms")
    in_vain = joined(heartbeats, broken, PAIR).where(f"abs(at_ms - ended_ms) < {TOGETHER_MS}")
    unheard = given_up.where("unheard").select(*PAIR, "at_ms")
    asked = together(in_vain.select(*PAIR, "at_ms").unionByName(unheard))
    return asked.groupBy(*PAIR).agg(F.expr("collect_list(at_ms) AS unanswered"))


def _outstayed(tables: Tables) -> DataFrame:
    """What went to its next hop later than it should have expired, but for the session that was
    open then, and a server that was away: it expires what it finds when it is back. What came back
    or was promoted waits in no queue before it is made redundant anew (SM-13).
    """
    sent = tables.record.tracking.where("event = 'SEND'").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "at_ms", "ref"
    )
    settings = tables.histories.selectExpr(
        "run", "server", "timeout_ms", "transform(kills, k -> k.possible) AS downs"
    )
    late = (
        joined(sent, _born(tables), MESSAGE)
        .transform(joined, _settings(tables), ["run", "server"])
        .where("at_ms - queued_ms > expiration_ms")
        .transform(joined, settings, ["run", "server"])
    )
    most = "expiration_ms + timeout_ms + heartbeat_ms + finest_ms + askew_ms"
    away = overlaps("downs", "queued_ms + expiration_ms", "at_ms")
    return late.selectExpr(
        *case(
            status=f"IF(at_ms - queued_ms > {most}, "
            f"IF(coalesce({away}, false), NULL, 'violated'), 'holds')",
            subject="message_id",
            detail=sentence(
                "{server} sent it on after {@at_ms - queued_ms}; it expires after {@expiration_ms}"
            ),
            at_ms="at_ms",
            refs="ref, born_ref",
            requirements="array('SM-12')",
            weight="at_ms - queued_ms",
        )
    )


def _born(tables: Tables) -> DataFrame:
    """When each message came to its server, or it made it, a DSN (`born_ms`: none where only LOAD
    after a restart speaks of it), since when it waits in a queue, and whether a restart found it
    (`was_loaded`).
    """
    came = tables.primaries.selectExpr(
        *MESSAGE, "message_id", "born.at_ms AS born_ms", "born.ref AS born_ref",
        "greatest(coalesce(born.at_ms, loaded.at_ms), redirect.at_ms, failure.at_ms) AS queued_ms",
        "loaded IS NOT NULL AS was_loaded",
    )  # fmt: skip
    made = tables.record.tracking.where("event = 'DSN' AND internal_id IS NOT NULL").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
        "at_ms AS born_ms", "ref AS born_ref", "at_ms AS queued_ms", "false AS was_loaded",
    )  # fmt: skip
    return together(came.unionByName(made)).groupBy(*MESSAGE).agg(
        F.min("message_id").alias("message_id"), F.min("born_ms").alias("born_ms"),
        F.expr("min_by(born_ref, born_ms) AS born_ref"), F.min("queued_ms").alias("queued_ms"),
        F.expr("bool_or(was_loaded) AS was_loaded"),
    )  # fmt: skip


def _expiries(tables: Tables) -> DataFrame:
    """What expired too early. After a restart a message is as old as the disk has it, which is
    written down before it is durable, and its row after that.
    """
    expired = tables.record.tracking.where(
        "event = 'FAIL' AND source = 'QUEUE' AND recipient_status LIKE '%QUEUE.Expired%'"
    ).selectExpr("run", "server", "coalesce(database_id, '') AS database_id", "internal_id",
                 "at_ms", "ref")  # fmt: skip
    born = _born(tables).where("born_ms IS NOT NULL")
    known = joined(expired, born, MESSAGE).transform(joined, _settings(tables), ["run", "server"])
    least = "expiration_ms - finest_ms - askew_ms - IF(was_loaded, exchange_ms, 0L)"
    return known.selectExpr(
        *case(
            status=f"IF(at_ms - born_ms >= {least}, 'holds', 'violated')",
            subject="message_id",
            detail=sentence(
                "{server} expired it after {@at_ms - born_ms}, not before {@expiration_ms}"
            ),
            at_ms="at_ms",
            refs="ref, born_ref",
            requirements="array('SM-12')",
            weight="expiration_ms - (at_ms - born_ms)",
        )
    )


CLAIM = Claim("held_long_enough", ("SN-1", "SN-2", "SM-11", "SM-12"), cases)
