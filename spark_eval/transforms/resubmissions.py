"""What Safety Nets gave back: one row a RESUBMIT row of source SAFETYNET.

Its cause is the request's id: the database and the epoch of the failover, and behind them, where
Shadow Safety Nets stand in for a server, that server.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined
from spark_eval.spark.partitions import together
from spark_eval.spark.settled import settled

RESUBMITTED = "event = 'RESUBMIT' AND source = 'SAFETYNET'"
TAKEN_ON = "'resubmit-requested', 'resubmit-taken-up', 'resubmit-completed'"
REQUEST_ID = r"'^(.+):(\\d+)(?:[/.].*)?$'"


def of_request(column: str) -> tuple[str, str]:
    """SQL: `asked_database` and `asked_epoch` out of a request's id; null where it is another."""
    database = f"nullif(regexp_extract({column}, {REQUEST_ID}, 1), '') AS asked_database"
    epoch = f"try_cast(nullif(regexp_extract({column}, {REQUEST_ID}, 2), '') AS INT) AS asked_epoch"
    return database, epoch


def resubmitted(tracking: DataFrame) -> DataFrame:
    """`run`, `server`, `database_id`, `internal_id` (of the new primary message), `message_id`,
    `recipients`, `destination`, `request_id`, `asked_database`, `asked_epoch`, `safety_net`
    (primary, shadow), `copy_internal_id`, `delivered_at_ms` (of the copy), `at_ms`, `ref`.
    """
    return tracking.where(RESUBMITTED).selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
        "recipients", "destination", "context AS request_id", *of_request("context"),
        "safety_net", "copy_internal_id", "delivered_at_ms", "at_ms", "ref",
    )  # fmt: skip


def promoted(tracking: DataFrame, given: DataFrame) -> DataFrame:
    """`run`, `server`, `database_id`, `internal_id` of promoted messages which failed, and whose
    servers say that they kept the DSN back since that message came from a Safety Net: the shadow of
    what was resubmitted is resubmitted mail as well (SN-10). `given` is from `resubmitted`; the
    request that they name must have given that message back.
    """
    copy = ["run", "server", "database_id", "internal_id"]
    rows = tracking.selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
        "event", "source", "context AS request_id",
    )  # fmt: skip
    taken_over = rows.where("event = 'RESUBMIT' AND source = 'REDUNDANCY'").select(*copy)
    asked_for = given.select("run", "message_id", "request_id")
    kept_back = rows.where("event = 'SUPPRESSED'")
    named = kept_back.join(asked_for, ["run", "message_id", "request_id"], "left_semi")
    return named.select(*copy).join(taken_over, copy, "left_semi")


def back(primaries: DataFrame, copies: DataFrame) -> DataFrame:
    """The keys of primary messages that came back from a Safety Net: what was resubmitted, the
    shadow messages of that which were promoted, and their shadow messages in turn (SN-10).
    """
    key = ["run", "server", "database_id", "internal_id"]
    promoted = settled(copies.where("promoted IS NOT NULL").selectExpr(
        "run", "server AS shadow_server", "promoted.database_id AS promoted_database_id",
        "promoted.internal_id AS promoted_id", "primary_server AS server",
        "primary_database_id AS database_id", "primary_internal_id AS internal_id",
    ))  # fmt: skip
    given = primaries.where("born.source = 'SAFETYNET'").select(*key)
    shadows = _promoted_of(promoted, given)
    return together(given.union(shadows).union(_promoted_of(promoted, shadows))).distinct()


def _promoted_of(promoted: DataFrame, primaries: DataFrame) -> DataFrame:
    found = joined(promoted, primaries, ["run", "server", "database_id", "internal_id"])
    return found.selectExpr(
        "run", "shadow_server AS server", "promoted_database_id AS database_id",
        "promoted_id AS internal_id",
    )  # fmt: skip


def requests(lifecycle: DataFrame, homes: DataFrame) -> DataFrame:
    """`run`, `server`, `request_id`, `asked_database`, `asked_epoch`, `safety_net`, `at_ms`, `ref`,
    `at_home` (whether the server is in the boundary of the database, by `hops.homes`) of each
    request that a server said it had taken on; once, however often it was asked, and by
    what it said later if a kill swallowed the first.
    """
    told = lifecycle.where(f"event IN ({TAKEN_ON}) AND request_id IS NOT NULL")
    first = told.groupBy("run", "server", "request_id").agg(
        F.min("safety_net").alias("safety_net"),
        F.min("at_ms").alias("at_ms"),
        F.min("ref").alias("ref"),
    )
    named = first.selectExpr("*", *of_request("request_id"))
    inside = homes.selectExpr("run", "`database` AS asked_database", "server", "true AS at_home")
    return named.join(inside, ["run", "asked_database", "server"], "left")
