"""Who is to be asked after a failover, for which interval, and by when that surely could be done
(SN-4, SN-6, SN-7).

Bounds, since no record says which log was the last that the new copy replayed. Where Active Manager
was down, or had no link to a server, it had no chance; it tries again every minute.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.transforms.failovers import CHANGE
from spark_eval.as_tables.transforms.fault_windows import CUT, SEEN, downs
from spark_eval.as_tables.transforms.fault_windows import EXTENTS as EXTENT_SQL
from spark_eval.as_tables.transforms.server_histories import UNLOGGED_MS
from spark_eval.read.record import Record
from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import INTERVAL, first_clear, merged, overlaps
from spark_eval.sql.reasons import cases, holds, not_asked, unknown, violated

# how long before the last log Safety Nets are asked from (SN-4)
MARGIN_MS = 5 * 60_000
# Active Manager announces and asks again every minute, and waits half a minute for an answer
TRY_AGAIN_MS = 60_000
NO_ANSWER_MS = 30_000
NO_CUTS = f"CAST(array() AS array<{INTERVAL}>)"
NEED_MS = f"(2 * {TRY_AGAIN_MS} + {NO_ANSWER_MS} + usual_ms + slowed_ms + finest_ms)"
LOWEST = "least(coalesce(survived_ms, 0L), lost_ms, mounted.at_ms)"


def asked(
    record: Record, windows: DataFrame, histories: DataFrame, changes: DataFrame,
    learnt: DataFrame, requests: DataFrame, homes: DataFrame,
) -> DataFrame:  # fmt: skip
    """One row a transition and mailbox server of its boundary: `inside_from_ms`, `inside_to_ms`
    (surely inside), `outside_before_ms`, `outside_after_ms` (surely outside; null: unknown),
    `tell_by_ms`, `ask_by_ms` (by when it was surely notified and asked), `request` (struct), and
    `j`, its judgement.
    """
    servers = histories.where("role = 'mailbox'").selectExpr(
        "run", "server", "end_ms", "finest_ms", "askew_ms", "hold_ms", "eras", "blind",
        "CAST(greatest(heartbeat_ms / 2, 1000 * speed) AS BIGINT) AS usual_ms",
        f"{UNLOGGED_MS} AS unlogged_ms",
    )  # fmt: skip
    known = (
        joined(changes, homes, ["run", "database"])
        .transform(joined, servers, ["run", "server"])
        .join(learnt, [*CHANGE, "server"], "left")
        .join(_out_of_reach(record, windows), ["run", "server"], "left")
        .selectExpr(
            "*", f"coalesce(away, {NO_CUTS}) AS outages", "coalesce(late_ms, 0L) AS slowed_ms"
        )
    )
    timed = known.selectExpr(
        "*",
        f"{first_clear('mounted.at_ms', 'outages', NEED_MS)} + {NEED_MS} AS tell_by_ms",
        f"IF(learnt IS NULL, NULL, {first_clear('learnt.at_ms', 'outages', NEED_MS)} + {NEED_MS}) "
        "AS ask_by_ms",
        # a row follows the log, and the fork's end, that it reports
        f"least(lost_ms, mounted.at_ms) - {MARGIN_MS} + finest_ms + askew_ms + unlogged_ms "
        "AS inside_from_ms",
        "learnt.at_ms - unlogged_ms - finest_ms - askew_ms AS inside_to_ms",
        f"IF(epoch > before_epoch + 1, NULL, {LOWEST} - {MARGIN_MS} - finest_ms - askew_ms "
        "- unlogged_ms) "
        "AS outside_before_ms",
        "last_learnt.at_ms + finest_ms + askew_ms AS outside_after_ms",
    )
    told = requests.where("safety_net = 'primary'").selectExpr(
        "run", "asked_database AS `database`", "server", "asked_epoch",
        "struct(asked_epoch, request_id, at_ms, ref) AS request",
    )  # fmt: skip
    first = (
        timed.select(*CHANGE, "server")
        .transform(joined, told, ["run", "database", "server"])
        .where("asked_epoch >= epoch")
        .groupBy(*CHANGE, "server")
        .agg(F.min("request").alias("request"))
    )
    asked = timed.join(first, [*CHANGE, "server"], "left")
    return asked.selectExpr("*", f"{_OF_PRIMARY} AS j")


_REACHED = "{server} was told of {database}:{epoch}"
_OF_PRIMARY = cases(
    ("request IS NOT NULL", holds()),
    ("is_orderly AND lost_ms IS NULL", not_asked()),
    ("learnt IS NULL AND tell_by_ms <= end_ms", violated(
        "{server} could be reached by {@tell_by_ms} and was never told that {database} is active "
        "on {to}")),
    ("learnt IS NULL", unknown(
        "{server} was never told that {database} is active on {to}: until the end Active Manager "
        "had no chance to")),
    ("ask_by_ms > end_ms", unknown(
        f"{_REACHED} at {{@learnt.at_ms}}; the run ended before it surely could be asked")),
    (f"coalesce({overlaps('blind', 'learnt.at_ms', 'ask_by_ms')}, false)", unknown(
        "the record of {server} has a hole where it may have been asked")),
    otherwise=violated(
        f"{_REACHED} at {{@learnt.at_ms}}, could be reached, and was not asked by {{@ask_by_ms}}"),
)  # fmt: skip


def _out_of_reach(record: Record, windows: DataFrame) -> DataFrame:
    """`run`, `server`, `away` (merged), `late_ms`: when Active Manager had no way to it."""
    managers = record.servers.where("role = 'active_manager'").select("run", "server")
    down = downs(windows).select("run", "server", "possible")
    own = record.servers.where("role = 'mailbox'").select("run", "server")
    of_manager = (
        joined(down, managers, ["run", "server"])
        .select("run", "possible")
        .transform(joined, own, "run")
    )
    parts = down.selectExpr("run", "server", "possible", "0L AS slowed_ms").unionByName(
        of_manager.selectExpr("run", "server", "possible", "0L AS slowed_ms")
    )
    links = windows.where(f"links IS NOT NULL AND {SEEN}").selectExpr(
        "run", "inline(links)", "kind", "slowed_ms", EXTENT_SQL[0]
    )
    from_manager = joined(links, managers.withColumnRenamed("server", "manager"), "run").where(
        "lower(`from`) = manager"
    )
    cut = from_manager.selectExpr(
        "run", "lower(`to`) AS server", f"IF({CUT}, possible, NULL) AS possible",
        "coalesce(slowed_ms, 0L) AS slowed_ms",
    )  # fmt: skip
    return (
        parts.unionByName(cut)
        .groupBy("run", "server")
        .agg(
            F.expr(f"{merged('collect_list(possible)')} AS away"),
            F.max("slowed_ms").alias("late_ms"),
        )
    )
