"""Which primary message stands behind an acknowledgement: the ledger meets the tracking log.

By the internal id in the 250 where there is one, else the newest primary message of that Message-Id
on that server. Never one that was promoted: nobody had a 250 for it, and a server that got a new
queue database may give it an id that it gave before.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def acknowledged(outcomes: DataFrame, primaries: DataFrame) -> DataFrame:
    """One row a message acknowledged: `ok` (the attempt), `primary` (struct, null if none is
    known).
    """
    ok = outcomes.where("ok IS NOT NULL").select("run", "message_id", "ok")
    return behind(ok, primaries, "ok.server", "ok.reply_internal_id").withColumnRenamed(
        "p", "primary"
    )


def behind(ok: DataFrame, primaries: DataFrame, server: str, internal_id: str) -> DataFrame:
    """`run`, `message_id`, `ok`, one row each of `ok`, with `p`: the primary message that its
    `server` (SQL) answered for with `internal_id` (SQL, null where the answer did not say).
    """
    known = primaries.select(
        "run",
        "message_id",
        F.struct(
            "server", "database_id", "internal_id", "network_message_id",
            "born", "redirect", "failure", "loaded",
        ).alias("p"),
    )  # fmt: skip
    joined = ok.join(known, ["run", "message_id"], "left")
    same = (
        f"p.server = {server} AND coalesce(p.internal_id = {internal_id}, true) "
        "AND coalesce(p.born.event <> 'RESUBMIT', p.loaded IS NOT NULL)"
    )
    newest = "coalesce(p.born.mono_ns, 0L), p.database_id, p.internal_id"
    return joined.groupBy("run", "message_id", "ok").agg(
        F.expr(f"max_by(p, struct({newest})) FILTER (WHERE {same}) AS p"),
    )
