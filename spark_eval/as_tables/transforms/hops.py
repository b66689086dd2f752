"""Hops from server to server, and which of them leave the transport high availability boundary.

The boundary is the plan's: the DAG, or the site for a server in no DAG (TP-3). What a node calls
its next hop counts for nothing here; the SEND row names the server that took the message, and its
reply the internal id that the message has there.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.spark.joins import joined

REPLY_ID = r"nullif(regexp_extract(context, 'InternalId=([^,\\]\\s]+)', 1), '')"
BOUNDARY = "coalesce(concat('dag:', dag), concat('site:', site)) AS boundary"


def boundaries(servers: DataFrame) -> DataFrame:
    """`run`, `server`, `boundary` of every mailbox server."""
    return servers.where("role = 'mailbox'").selectExpr("run", "server", BOUNDARY)


def homes(databases: DataFrame, servers: DataFrame) -> DataFrame:
    """`run`, `database`, `server`: each mailbox server of the boundary in which the database has
    its copies, all of them.
    """
    inside = boundaries(servers)
    own = joined(databases, inside, ["run", "server"]).select("run", "database", "boundary")
    return joined(own, inside, ["run", "boundary"]).select("run", "database", "server")


def hops(tracking: DataFrame, servers: DataFrame) -> DataFrame:
    """One row a SEND to a server of the plan: `server`, `database_id`, `internal_id`, `message_id`,
    `recipients`, `peer`, `peer_internal_id`, `at_ms`, `mono_ns`, `ref`; `crossed`: to another
    boundary of the organisation; `left`: so, or to an external server.
    """
    sent = tracking.where("event = 'SEND' AND internal_id IS NOT NULL AND peer <> server")
    rows = sent.selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
        "recipients", "peer", f"{REPLY_ID} AS peer_internal_id", "at_ms", "mono_ns", "ref",
    )  # fmt: skip
    targets = servers.where("role IN ('mailbox', 'external')").selectExpr(
        "run", "server AS peer", "role AS peer_role",
        BOUNDARY.replace("AS boundary", "AS peer_boundary"),
    )  # fmt: skip
    known = joined(rows, boundaries(servers), ["run", "server"]).transform(
        joined, targets, ["run", "peer"]
    )
    crossed = "peer_role = 'mailbox' AND peer_boundary <> boundary"
    return known.selectExpr(
        *rows.columns, f"{crossed} AS crossed", f"peer_role = 'external' OR ({crossed}) AS left"
    )
