"""nothing_left_over: at the end of a run each store holds what a promise keeps, and nothing else.

Asks each server whose queue listing was collected: the store itself was asked for bodies and forks
of messages that are gone, for resubmit requests that still run, and for what is left of those that
ended. Where a fault never healed, nothing can be said of a request that runs. And asks each shadow
server that discard notifications wait for: they are forgotten when it has confirmed them (SM-16),
by the round of questions after the one that brought them. How long copies are kept is asked by
`held_long_enough`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.shadow.held_long_enough import listings
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.read.records import LEFT
from spark_eval.spark.joins import joined
from spark_eval.spark.partitions import together
from spark_eval.sql.intervals import FOREVER_MS
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, unknown, violated

PAIR = ["run", "server", "shadow_server"]
WAITS = "queue = 'discard'"
# after the round that brought it: one confirms it, and one more
CONFIRMED = 2

# questions that are asked at once confirm the same: another round begins with one that was surely
# asked when the last was answered, and is answered half a heartbeat later
_ROUNDS = (
    "aggregate(answers, named_struct('later', -1, 'begun', CAST(NULL AS BIGINT)), (r, a) -> IF("
    "r.begun IS NULL OR a.asked_ms >= r.begun AND a.at_ms > r.begun + pause_ms, "
    "named_struct('later', r.later + 1, 'begun', a.at_ms), r), r -> r.later)"
)

TOLD_ALL = "asked_ms > since_ms AND coalesce(brought < page, true)"
SINCE = "greatest(oldest.delivered_ms, ready_ms, their_ready_ms)"

_STORE = cases_of(
    ("left IS NULL", holds()),
    (
        "left.queue = 'running-request' AND unhealed",
        unknown("request {left.state}, and a fault never healed"),
    ),
    otherwise=violated(
        "{server} keeps {things} of what no promise keeps, first a "
        "{concat_ws(' ', left.queue, left.internal_id, left.peer)}: {left.state}"
    ),
)
_CONFIRMED = cases_of(
    (
        f"later >= {CONFIRMED}",
        violated(
            "{server} keeps {notifications} discard notifications for {shadow_server}, which "
            "heard of the first at {@brought_ms} and asked in {later} rounds since"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    return _stores(tables).unionByName(_notifications(tables))


def _stores(tables: Tables) -> DataFrame:
    left = tables.record.queues.where(f"queue IN {LEFT}").groupBy("run", "server")
    found = left.agg(
        F.expr("min(struct(queue, internal_id, shadow_server AS peer, state, ref)) AS left"),
        F.count("*").alias("things"),
    )
    unhealed = tables.windows.where(f"over_ms = {FOREVER_MS}").selectExpr("run", "true AS unhealed")
    known = (
        listings(tables)
        .join(found, ["run", "server"], "left")
        .join(unhealed.distinct(), "run", "left")
        .transform(joined, tables.record.runs.select("run", "end_ms"), "run")
    )
    return known.selectExpr("*", f"{_STORE} AS j").selectExpr(
        *case(
            status="j.status",
            subject="server",
            detail="j.reason",
            at_ms="end_ms",
            refs="left.ref",
            requirements="array()",
            weight="things",
        )
    )


def _notifications(tables: Tables) -> DataFrame:
    known = _answered(tables).selectExpr("*", f"{_ROUNDS} AS later")
    return known.selectExpr("*", f"{_CONFIRMED} AS j").selectExpr(
        *case(
            status="j.status",
            # a notification may outlive what its server knew of the message
            subject="coalesce(oldest.message_id, server)",
            detail="j.reason",
            at_ms="oldest.delivered_ms",
            refs="oldest.ref",
            requirements="array('SM-16')",
            weight="later",
        )
    )


def _answered(tables: Tables) -> DataFrame:
    """The columns of `_waiting` but `page` and `since_ms`; `answers` (`at_ms`, `asked_ms`) that
    surely named all that waited, and `brought_ms`, when the first of them came. An answer that was
    under way then may not be one, nor one with as many notifications as it has room for.
    """
    waiting = _waiting(tables)
    waited_for = tables.record.queues.where(WAITS)
    asking = waited_for.selectExpr("run", "shadow_server AS server").distinct()
    answers = tables.record.contacts.where("reached").join(asking, ["run", "server"], "left_semi")
    heard = answers.selectExpr(
        "run",
        "server AS shadow_server",
        "peer AS server",
        "struct(at_ms, asked_ms) AS answer",
        "asked_ms",
        "notifications AS brought",
    )
    met = waiting.join(heard, PAIR, "left").groupBy(*PAIR, "oldest", "notifications", "pause_ms")
    return met.agg(
        F.expr(f"array_sort(collect_list(answer) FILTER (WHERE {TOLD_ALL})) AS answers")
    ).selectExpr("*", "get(answers, 0).at_ms AS brought_ms")


def _waiting(tables: Tables) -> DataFrame:
    """One row a pair: the `oldest` of the `notifications` that wait, and `since_ms`, from when on
    they are to be named and forgotten. That is since the last start of both, too: what one forgot
    and what the other knows may be lost by a kill. And since both could write it down: on a full
    disk nothing is confirmed, and nothing forgotten.
    """
    waiting = tables.record.queues.where(WAITS).groupBy(*PAIR)
    oldest = waiting.agg(
        F.expr("min(struct(delivered_ms, message_id, ref)) AS oldest"),
        F.count("*").alias("notifications"),
    )
    settings = tables.histories.selectExpr(
        "run",
        "server",
        "askew_ms + finest_ms AS apart_ms",
        "heartbeat_ms DIV 2 AS pause_ms",
        "page",
    )
    ready = _ready(tables)
    theirs = ready.selectExpr("run", "server AS shadow_server", "ready_ms AS their_ready_ms")
    return (
        joined(oldest, settings, ["run", "server"])
        .join(ready, ["run", "server"], "left")
        .join(theirs, ["run", "shadow_server"], "left")
        .selectExpr(
            *PAIR, "oldest", "notifications", "pause_ms", "page", f"{SINCE} + apart_ms AS since_ms"
        )
    )


def _ready(tables: Tables) -> DataFrame:
    """`run`, `server`, `ready_ms`: when a server had started for the last time, and had room on its
    disk.
    """
    started = tables.record.lifecycle.where("event = 'started'").select("run", "server", "at_ms")
    freed = tables.windows.where("kind = 'fill_disk'").selectExpr(
        "run", "lower(server) AS server", "over_ms AS at_ms"
    )
    either = together(started.unionByName(freed)).groupBy("run", "server")
    return either.agg(F.max("at_ms").alias("ready_ms"))


CLAIM = Claim("nothing_left_over", ("SM-16",), cases)
