"""What Safety Nets gave back: one row a RESUBMIT row of source SAFETYNET.

Its cause is the request's id: the database and the epoch of the failover, and behind them, where
Shadow Safety Nets stand in for a server, that server.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined, small
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


def came_back(
    given: DataFrame, primaries: DataFrame, copies: DataFrame, requests: DataFrame
) -> DataFrame:
    """Primary messages that came from a Safety Net: what was resubmitted (`given`, from
    `resubmitted`), the shadow messages of that which were promoted, and their shadow messages in
    turn (SN-10). `run`, `server`, `database_id`, `internal_id`, `message_id`, `request_id`, `at_ms`
    and `ref` of the RESUBMIT row; and `is_sure`: not of one whose first row a kill swallowed, in a
    run where Safety Nets were asked (`requests`); it may have come from one, and has no request.
    """
    promoted = settled(copies.where("promoted IS NOT NULL").selectExpr(
        "run", "server AS shadow_server", "promoted", "primary_server AS server",
        "primary_database_id AS database_id", "primary_internal_id AS internal_id",
    ))  # fmt: skip
    unborn = primaries.where("born IS NULL AND loaded IS NOT NULL").selectExpr(
        *_KEY, "message_id", "CAST(NULL AS STRING) AS request_id", "loaded.at_ms AS at_ms",
        "loaded.ref AS ref", "false AS is_sure",
    )  # fmt: skip
    asked = small(requests.select("run").distinct())
    resubmitted = given.selectExpr(*_KEY, *_ABOUT, "true AS is_sure")
    first = together(resubmitted.unionByName(unborn.join(asked, "run", "left_semi")))
    second = _promoted_of(promoted, first)
    return together(first.union(second).union(_promoted_of(promoted, second)))


_KEY = ["run", "server", "database_id", "internal_id"]
_ABOUT = ["message_id", "request_id", "at_ms", "ref"]


def _promoted_of(promoted: DataFrame, primaries: DataFrame) -> DataFrame:
    found = joined(promoted, primaries, _KEY)
    return found.selectExpr(
        "run", "shadow_server AS server", "promoted.database_id AS database_id",
        "promoted.internal_id AS internal_id", "message_id", "request_id",
        "promoted.at_ms AS at_ms", "promoted.ref AS ref", "is_sure",
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
