"""Each change of the active copy of a mailbox database: from, to, when, and what of it was lost.

The new copy's own lifecycle says when it was mounted and under which epoch; from which copy follows
from the epoch before. Active Manager's word adds why, and decides nothing. What the new copy lacked
is seen in what was delivered: what it had to be given again was lost with the copy before.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined

KEY = ["run", "database"]
CHANGE = [*KEY, "epoch"]
FIRST = "struct(coalesce(mono_ns, at_ms), ref)"
ROW = "struct(server, at_ms, mono_ns, last_log, ref)"


def actives(lifecycle: DataFrame, databases: DataFrame) -> DataFrame:
    """`run`, `database`, `epoch`, `server`, `mounted` (struct; null for epoch 0): which copy was
    active under which epoch. Databases of one copy are left out.
    """
    several = databases.where("copies > 1")
    first = several.selectExpr(
        *KEY, "0 AS epoch", "server",
        "CAST(NULL AS struct<server: string, at_ms: bigint, mono_ns: bigint, last_log: bigint, "
        "ref: struct<file: string, line: int>>) AS mounted",
    )  # fmt: skip
    mounts = lifecycle.where("event = 'database-mounted' AND epoch > 0")
    later = mounts.groupBy(*KEY, "epoch").agg(F.expr(f"min_by({ROW}, {FIRST}) AS mounted"))
    known = joined(later, several.select(*KEY), KEY)
    return first.unionByName(known.selectExpr(*KEY, "epoch", "mounted.server AS server", "mounted"))


def changes(actives: DataFrame, lifecycle: DataFrame) -> DataFrame:
    """One row a transition: `epoch`, `before_epoch`, `from`, `to`, `mounted`, `kind` and `cause`
    (Active Manager's), `is_last`, `later` (of the next one: epoch), `is_orderly`: the copy before
    had been dismounted in good order, and no epoch lies between that was never mounted.
    """
    in_order = actives.groupBy(*KEY).agg(
        F.expr("array_sort(collect_list(struct(epoch, server, mounted))) AS told")
    )
    pair = (
        "transform(sequence(1, size(told) - 1), i -> named_struct('epoch', told[i].epoch, "
        "'before_epoch', told[i - 1].epoch, 'from', told[i - 1].server, 'to', told[i].server, "
        "'mounted', told[i].mounted, 'is_last', i = size(told) - 1))"
    )
    pairs = in_order.where("size(told) > 1").selectExpr(*KEY, f"inline({pair})")
    known = pairs.join(_decided(lifecycle), [*KEY, "epoch"], "left")
    left = known.join(_dismounted(lifecycle), [*KEY, "from", "before_epoch"], "left")
    return left.selectExpr(
        *KEY, "epoch", "before_epoch", "`from`", "`to`", "mounted", "kind", "cause", "is_last",
        f"coalesce({_ORDERLY}, false) AS is_orderly",
    )  # fmt: skip


_ORDERLY = (
    "epoch = before_epoch + 1 AND dismounted.mono_ns < mounted.mono_ns "
    "AND mounted.last_log >= dismounted.last_log"
)


def _decided(lifecycle: DataFrame) -> DataFrame:
    decided = lifecycle.where("event = 'failover-decided'")
    row = "struct(kind, cause)"
    first = decided.groupBy(*KEY, "epoch").agg(F.expr(f"min_by({row}, {FIRST}) AS why"))
    return first.selectExpr(*KEY, "epoch", "why.kind AS kind", "why.cause AS cause")


def _dismounted(lifecycle: DataFrame) -> DataFrame:
    left = lifecycle.where("event = 'database-dismounted'").selectExpr(
        *KEY, "server AS `from`", "epoch AS before_epoch", "at_ms", "mono_ns", "ref", "last_log",
        "server",
    )  # fmt: skip
    last = f"max_by({ROW}, {FIRST})"
    return left.groupBy(*KEY, "from", "before_epoch").agg(F.expr(f"{last} AS dismounted"))


def learnt(lifecycle: DataFrame, changes: DataFrame) -> DataFrame:
    """`run`, `database`, `epoch`, `server`, `learnt` and `last_learnt` (structs): when each server
    said that it knew of that transition, or of a later one.
    """
    told = lifecycle.where("event = 'active-copy' AND epoch > 0").selectExpr(
        *KEY, "server", "epoch AS known_epoch", "struct(at_ms, mono_ns, known_epoch, ref) AS row",
        "coalesce(mono_ns, at_ms) AS placed",
    )  # fmt: skip
    known = changes.select(*KEY, "epoch").transform(joined, told, KEY).where("known_epoch >= epoch")
    return known.groupBy(*KEY, "epoch", "server").agg(
        F.expr("min_by(row, placed) AS learnt"), F.expr("max_by(row, placed) AS last_learnt")
    )
