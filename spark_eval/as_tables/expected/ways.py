"""Where mail of a server may have to go, and when faults may have stood in its way.

A place is a mailbox database, a server outside, or another boundary of the organisation, whose
servers need each other to take mail. The way to a mailbox database of one copy is that to its
server. Where a database changed its active copy, or was dismounted, the ways to all of them count,
and those of Active Manager, who has to find one and to name it; and a while after each dismount and
mount, in which others learn of it (`expected.safety_net_requests`), or in which a server with a new
queue database is reminded of it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.safety_net_requests import NO_ANSWER_MS, TRY_AGAIN_MS
from spark_eval.as_tables.transforms.hops import boundaries
from spark_eval.as_tables.transforms.troubles import TROUBLE
from spark_eval.spark.joins import joined

PLACE = ["run", "place"]
ROW = ["run", "server", "place", "trouble"]
LEARNT_MS = 2 * TRY_AGAIN_MS + NO_ANSWER_MS
# Active Manager reminds every server that often, with an answer that it waits for
REMINDED_MS = 300_000 + NO_ANSWER_MS
# whoever goes by `hangs` adds its time-out
LEARNT_AFTER = (
    f"named_struct('lo', trouble.lo, 'hi', trouble.hi + greatest({LEARNT_MS} - timeout_ms, 0L), "
    "'hangs', true) AS trouble"
)
ALWAYS_HANGS = "named_struct('lo', trouble.lo, 'hi', trouble.hi, 'hangs', true) AS trouble"


def places(copies: DataFrame, servers: DataFrame) -> DataFrame:
    """`run`, `place`, `peer`: every server behind a place."""
    outside = servers.where("role = 'external'").selectExpr("run", "server AS place", "server")
    others = boundaries(servers).selectExpr("run", "boundary AS place", "server")
    named = copies.selectExpr("run", "`database` AS place", "server")
    return named.unionByName(outside).unionByName(others).withColumnRenamed("server", "peer")


def ways(
    troubles: DataFrame,
    places: DataFrame,
    histories: DataFrame,
    redundant: DataFrame,
    moved: DataFrame | None,
) -> DataFrame:
    """`run`, `server`, `place`, `troubles`, in order: of each server that had any with a place.
    `redundant`, of `making_redundant`; `moved`, of `moves`.
    """
    servers = histories.select("run", "server", "role", "timeout_ms")
    each = troubles.selectExpr("run", "server", "peer", "service", "explode(troubles) AS trouble")
    mail = each.where("service = 'smtp'").transform(joined, places, ["run", "peer"]).select(*ROW)
    mail = mail.unionByName(_inside(each, redundant))
    if moved is not None:
        mail = mail.unionByName(_of_managers(each, places, servers, moved))
        learning = joined(moved, _mailbox(servers), "run")
        mail = mail.unionByName(learning.select(*ROW)).unionByName(_renewed(histories, moved))
    return mail.groupBy("run", "server", "place").agg(
        F.expr("array_sort(collect_set(trouble)) AS troubles")
    )


def making_redundant(servers: DataFrame, runs: DataFrame) -> DataFrame:
    """`run`, `server`, `boundary` of the mailbox servers that make mail redundant."""
    enabled = runs.where("enabled").select("run")
    return boundaries(servers).transform(joined, enabled, "run")


def _inside(each: DataFrame, redundant: DataFrame) -> DataFrame:
    """To a boundary: what is between its own servers, which make mail redundant anew before they
    acknowledge it, or refuse it (SR-5).
    """
    opens = redundant.withColumnRenamed("boundary", "place")
    takes = opens.withColumnRenamed("server", "peer")
    within = each.where("service = 'smtp'").transform(joined, opens, ["run", "server"])
    known = joined(within, takes, [*PLACE, "peer"]).select(*PLACE, "trouble").distinct()
    return joined(known, redundant, "run").select(*ROW)


def moves(transitions: DataFrame, lifecycle: DataFrame) -> DataFrame:
    """`run`, `place`, `trouble`: the while after each dismount and each mount of another copy."""
    mounted = transitions.selectExpr("run", "`database` AS place", "mounted.at_ms AS at_ms")
    left = lifecycle.where("event = 'database-dismounted'").selectExpr(
        "run", "`database` AS place", "at_ms"
    )
    after = f"named_struct('lo', at_ms, 'hi', at_ms + {LEARNT_MS}, 'hangs', true)"
    return mounted.unionByName(left).selectExpr(*PLACE, f"CAST({after} AS {TROUBLE}) AS trouble")


def _renewed(histories: DataFrame, moved: DataFrame) -> DataFrame:
    """A server with a new queue database knows of no move before it."""
    after = f"named_struct('lo', lost_ms, 'hi', lost_ms + {REMINDED_MS}, 'hangs', false)"
    lost = histories.where("role = 'mailbox'").selectExpr("run", "server", "inline(eras)")
    renewed = lost.where("lost_ms IS NOT NULL").selectExpr(
        "run", "server", f"CAST({after} AS {TROUBLE}) AS trouble"
    )
    return joined(renewed, moved.select(*PLACE).distinct(), "run").select(*ROW)


def _of_managers(
    each: DataFrame, places: DataFrame, servers: DataFrame, moved: DataFrame
) -> DataFrame:
    """To a copy: everybody's trouble with that place; to any other server: its own, and the while
    after it in which Active Manager tries again to name the copy.
    """
    managers = servers.where("role = 'active_manager'").select("run", "server")
    theirs = each.where("service = 'management'").transform(joined, managers, ["run", "server"])
    told = theirs.selectExpr("run", "peer", ALWAYS_HANGS)
    which = moved.select(*PLACE).distinct()
    of_copies = joined(told, joined(places, which, PLACE), ["run", "peer"]).transform(
        joined, _mailbox(servers), "run"
    )
    others = told.withColumnRenamed("peer", "server").transform(
        joined, _mailbox(servers, "timeout_ms"), ["run", "server"]
    )
    of_others = others.selectExpr("run", "server", LEARNT_AFTER).transform(joined, which, "run")
    return of_copies.select(*ROW).unionByName(of_others.select(*ROW))


def _mailbox(servers: DataFrame, *more: str) -> DataFrame:
    return servers.where("role = 'mailbox'").select("run", "server", *more)
