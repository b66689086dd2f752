"""traceable: whoever has one word about a message finds all others (TL-3, TL-5).

Asks of each message whether all its rows in tracking logs, of forks and of shadow messages alike,
have a network message id under which a server received or made it, and whether no server has two
for one internal id; and of each 250 to the workload whether it names the message, the server and
its internal id in Exchange's words. What a hole swallowed names nothing and accuses nobody.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, sentence, violated

# a kill may have swallowed the RECEIVE, or come before it; what is rejected has none
ENTERED = "event IN ('RECEIVE', 'DSN', 'LOAD', 'HAREDIRECT', 'HAREDIRECTFAIL', 'HARECEIVE')"
# rows about a shadow message are about its primary message
OWNER = (
    "coalesce(primary_server, server), "
    "coalesce(primary_database_id, database_id, ''), coalesce(primary_internal_id, internal_id)"
)
# as much of a Message-Id as every reply shows
SHOWN = 255
NAMED = (
    "^250 2[.]6[.]0 .+ \\\\[InternalId=[0-9]+, Hostname=[^ ]+\\\\] (.+ )?Queued mail for delivery$"
)
HOST = "lower(regexp_extract(reply, 'Hostname=([^.\\\\]]+)', 1))"
_ONE_ID = cases_of(
    ("size(entered) = 0", not_asked()),
    (
        "size(array_except(seen, entered)) > 0",
        violated("logged under {array_except(seen, entered)[0]}, by which no server received it"),
    ),
    (
        "owned < named",
        violated("one internal id of a server is logged under two network message ids"),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    return _ids(tables.record.tracking).unionByName(_replies(tables.attempts))


def _ids(tracking: DataFrame) -> DataFrame:
    known = tracking.where("network_message_id <> '' AND internal_id IS NOT NULL")
    each = known.groupBy("run", "message_id").agg(
        F.expr("array_sort(collect_set(network_message_id)) AS seen"),
        F.expr(f"collect_set(network_message_id) FILTER (WHERE {ENTERED}) AS entered"),
        F.expr(f"size(collect_set(struct({OWNER}))) AS owned"),
        F.expr(f"size(collect_set(struct({OWNER}, network_message_id))) AS named"),
        F.expr("min(struct(at_ms, ref)) AS row"),
    )
    return each.selectExpr("*", f"{_ONE_ID} AS j").selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="row.at_ms",
            refs="row.ref",
            requirements="array('TL-3')",
        )
    )


def _replies(attempts: DataFrame) -> DataFrame:
    names = (
        f"reply RLIKE '{NAMED}' AND {HOST} = server "
        f"AND (instr(reply, message_id) > 0 OR length(message_id) > {SHOWN})"
    )
    return attempts.where("outcome = 'ok'").selectExpr(
        *case(
            status=f"IF(coalesce({names}, false), 'holds', 'violated')",
            subject="concat(message_id, ', attempt ', attempt)",
            detail=sentence("{server} accepted it and answered {reply}"),
            at_ms="ended_ms",
            refs="ref",
            requirements="array('TL-5')",
        )
    )


CLAIM = Claim("traceable", ("TL-3", "TL-5"), cases)
