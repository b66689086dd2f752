"""Primary messages: one row for each message that a server answered for, with its forks.

The key is (server, database id, internal id), so a Message-Id accepted twice is two of them. A
primary is born by RECEIVE, by the promotion of a shadow message, or by resubmission from a Safety
Net; `born.source` distinguishes those two. LOAD after a restart proves one whose RECEIVE the kill
swallowed.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS

KEY = ("run", "server", "database_id", "internal_id")
BORN = "(event = 'RECEIVE' OR (event = 'RESUBMIT' AND source IN ('REDUNDANCY', 'SAFETYNET')))"
DONE = "event IN ('SEND', 'DELIVER', 'DUPLICATEDELIVER') OR (event = 'FAIL' AND source = 'QUEUE')"


def primaries(tracking: DataFrame) -> DataFrame:
    """`born`, `redirect`, `failure` (HAREDIRECTFAIL accepted), `loaded`, each a struct or null; and
    `last_shadow` (`shadow_server`, `mono_ns`) where a shadow was made more than once;
    `last_loaded_ms`.
    """
    about = tracking.where(
        f"internal_id IS NOT NULL AND ({BORN} OR event IN ('HAREDIRECT', 'HAREDIRECTFAIL') "
        "OR (event = 'LOAD' AND context = 'delivery'))"
    )
    row = "struct(at_ms, mono_ns, recipients, event, source, ref)"
    first = "struct(coalesce(mono_ns, at_ms), ref)"
    shadowing = "struct(at_ms, mono_ns, shadow_server, attempts, context, ref)"
    grouped = about.withColumn("database_id", F.coalesce("database_id", F.lit(""))).groupBy(*KEY)
    known = grouped.agg(
        F.expr("max(message_id) AS message_id"),
        F.expr("max(network_message_id) AS network_message_id"),
        F.expr(f"min_by({row}, {first}) FILTER (WHERE {BORN}) AS born"),
        F.expr(f"min_by({shadowing}, {first}) FILTER (WHERE event = 'HAREDIRECT') AS redirect"),
        F.expr(
            f"min_by({shadowing}, {first}) FILTER (WHERE event = 'HAREDIRECTFAIL' "
            "AND coalesce(outcome, 'accepted') = 'accepted') AS failure"
        ),
        F.expr(f"min_by({row}, {first}) FILTER (WHERE event = 'LOAD') AS loaded"),
        F.expr("max(at_ms) FILTER (WHERE event = 'LOAD') AS last_loaded_ms"),
        F.expr(
            "IF(count_if(event = 'HAREDIRECT') > 1, max_by(struct(shadow_server, mono_ns), "
            "mono_ns) FILTER (WHERE event = 'HAREDIRECT'), NULL) AS last_shadow"
        ),
    )
    return known.where("born IS NOT NULL OR loaded IS NOT NULL OR redirect IS NOT NULL")


_AGAIN = (
    "redirect.shadow_server <> last_shadow.shadow_server "
    "AND loaded.mono_ns > redirect.mono_ns AND loaded.mono_ns < last_shadow.mono_ns"
)
_ON_A_FULL_DISK = (
    "loaded.mono_ns > redirect.mono_ns AND exists(kills, k -> k.kind = 'fill_disk' "
    "AND k.possible.lo <= redirect.at_ms AND k.possible.hi >= redirect.at_ms)"
)


def forgotten(primaries: DataFrame, histories: DataFrame) -> DataFrame:
    """The keys of shadow messages that their primary server made and forgot by a restart: orphans
    (SR-5). It had not kept that, and made another one at another server; or its disk was full, and
    may not have taken it. `forgotten_ms`: it knows of none from then on.
    """
    disks = histories.select("run", "server", "kills")
    made = joined(primaries.where("loaded IS NOT NULL"), disks, ["run", "server"])
    return made.where(f"{_AGAIN} OR {_ON_A_FULL_DISK}").selectExpr(
        "run", "redirect.shadow_server AS server", "server AS primary_server",
        "database_id AS primary_database_id", "internal_id AS primary_internal_id",
        "loaded.at_ms AS forgotten_ms",
    )  # fmt: skip


def forks(primaries: DataFrame, tracking: DataFrame, dsns: DataFrame) -> DataFrame:
    """One row a primary message: is every recipient done, and every side effect (a DSN that its
    server made about it), and when was the first and the last.

    `complete`, `expired` (any by time), `first_done_ms`, `done_ms`, `done_mono_ns`, `done_ref`;
    `served_ms`, when the last recipient was, if all are; and `known_ms`: as `done_ms`, but later
    where its server forgot that by a restart and served somebody again, or where a DSN may be about
    it or about another one of the same Message-Id.
    """
    owed = primaries.selectExpr(
        *KEY, "last_loaded_ms",
        "explode(array_distinct(coalesce(born.recipients, loaded.recipients))) AS recipient",
    )  # fmt: skip
    reports = _reports(primaries, dsns)
    done = tracking.where(f"internal_id IS NOT NULL AND ({DONE})").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id",
        "explode(recipients) AS recipient", "struct(at_ms, mono_ns, event, ref) AS done",
    )  # fmt: skip
    first = done.groupBy(*KEY, "recipient").agg(
        F.expr("min_by(done, struct(coalesce(done.mono_ns, done.at_ms), done.ref)) AS done"),
        F.expr("max(done.at_ms) AS last_ms"),
    )
    known = "IF(last_loaded_ms BETWEEN done.at_ms AND last_ms, last_ms, done.at_ms) AS known_ms"
    told = reports.join(
        first.selectExpr(*KEY[:-1], "internal_id AS report_id", "done"),
        [*KEY[:-1], "report_id"],
        "left",
    ).selectExpr(
        *KEY, "IF(is_sure, done, NULL) AS done",
        f"coalesce(done.at_ms, IF(is_sure, NULL, {FOREVER_MS})) AS known_ms",
        "false AS is_owed", "is_sure",
    )  # fmt: skip
    served = owed.join(first, [*KEY, "recipient"], "left").selectExpr(
        *KEY, "done", known, "true AS is_owed", "true AS is_sure"
    )
    joined = served.unionByName(told)
    return joined.groupBy(*KEY).agg(
        F.expr("count_if(is_sure AND done IS NULL) = 0 AS complete"),
        F.expr("min(done.at_ms) AS first_done_ms"),
        F.expr("max(done.at_ms) AS done_ms"),
        F.expr("max(known_ms) AS known_ms"),
        F.expr("coalesce(bool_or(done.event = 'FAIL'), false) AS expired"),
        F.expr(
            "IF(count_if(is_owed AND done IS NULL) = 0, max(done.at_ms) FILTER (WHERE is_owed), "
            "NULL) AS served_ms"
        ),
        F.expr("max(done.mono_ns) AS done_mono_ns"),
        F.expr("max(struct(coalesce(done.mono_ns, done.at_ms), done.ref)).ref AS done_ref"),
    )


def _reports(primaries: DataFrame, dsns: DataFrame) -> DataFrame:
    """The DSNs that the server of a primary message made about it: its key, `report_id`, `is_sure`.
    Of one that the server has twice nobody can say which of the two a DSN is about, but that none
    is about mail from a Safety Net (SN-10).
    """
    about = [*KEY[:-1], "message_id"]
    reported = primaries.where("coalesce(born.source, '') <> 'SAFETYNET'")
    alike = reported.groupBy(*about).agg(
        F.collect_list("internal_id").alias("ids"), F.expr("count(*) = 1 AS is_sure")
    )
    each = alike.selectExpr(*about, "is_sure", "explode(ids) AS internal_id")
    return joined(each, dsns, about).select(*KEY, "report_id", "is_sure")
