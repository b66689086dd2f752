"""What Safety Nets should have given back after a failover, and when they surely could be asked
(SN-4, SN-6 to SN-8).

The interval begins a margin before the last log that the new copy replayed: that log lies between
the last delivery which survived and the first that was lost. It ends, for each primary, when that
server learnt of the new copy. What surely lies inside, and what was lost, has to come back from the
Safety Net that has it; in between nothing is asked. A server that Active Manager had no chance to
ask, or that has the copy no more, leaves it unknown, with the reason; but is excused, with the same
reason, where it has the copy no more and every recipient sees the message.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.expected import resubmitted_copies as came_back
from spark_eval.as_tables.expected import safety_net_requests as asking
from spark_eval.as_tables.expected.deliveries import EXPIRED
from spark_eval.as_tables.transforms import copy_deliveries as brought_into
from spark_eval.as_tables.transforms import failovers as transitions
from spark_eval.as_tables.transforms import hops, operations
from spark_eval.as_tables.transforms import resubmissions as given_back
from spark_eval.as_tables.transforms.server_histories import lost
from spark_eval.read.record import Record
from spark_eval.spark.joins import joined
from spark_eval.spark.settled import settled
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases, holds, judgement, unknown, violated

# of a copy that need not come back, since recipients see it, and cannot
EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class Resubmission:
    """`actives`, which copy was active under which epoch; `into`, one row a delivery into one;
    `transitions`, one row a change of an active copy; `asked`, one row a transition and primary;
    `expected`, one row a transition and copy that is to come back; `given`, what came back;
    `came`, one row a copy and request, judged; `left`, one row a copy that left the boundary inside
    an interval asked for; `requests`, as servers took them on; `told`,
    failovers by Active Manager's word; `operations`, as they happened.
    """

    actives: DataFrame
    into: DataFrame
    transitions: DataFrame
    asked: DataFrame
    expected: DataFrame
    given: DataFrame
    came: DataFrame
    left: DataFrame
    requests: DataFrame
    told: DataFrame
    operations: DataFrame


def resubmission(
    record: Record, windows: DataFrame, histories: DataFrame, primaries: DataFrame,
    dsns: DataFrame, between: DataFrame,
) -> Resubmission:  # fmt: skip
    """Everything about failovers, planned; what several claims need is settled."""
    active = settled(transitions.actives(record.lifecycle, record.databases))
    into = settled(brought_into.deliveries_into(record.tracking, active))
    landed = settled(brought_into.landed(into, record.visible, record.databases))
    changed = transitions.changes(active, record.lifecycle)
    limited = settled(brought_into.limits(changed, landed, record.lifecycle))
    given = settled(given_back.resubmitted(record.tracking))
    homes = settled(hops.homes(record.databases, record.servers))
    requests = settled(given_back.requests(record.lifecycle, homes))
    learnt = transitions.learnt(record.lifecycle, limited)
    asked = settled(asking.asked(record, windows, histories, limited, learnt, requests, homes))
    brought = brought_into.brought(into, primaries, dsns)
    expected = settled(_expected(asked, brought, into, landed, given))
    told = settled(came_back.told(record.lifecycle))
    came = settled(came_back.came_back(given, asked, record.mailboxes, told, homes))
    left = came_back.left(between, asked, given)
    operated = settled(operations.operations(record.operations, record.operation_record))
    return Resubmission(
        active, into, limited, asked, expected, given, came, left, requests, told, operated
    )


COPY = ["run", "database", "server", "database_id", "internal_id"]
MESSAGE = ["run", "database", "message_id"]


def _expected(
    asked: DataFrame, brought: DataFrame, into: DataFrame, landed: DataFrame, given: DataFrame
) -> DataFrame:
    """One row a transition and copy of a Primary Safety Net that is inside or was lost: `inside`,
    `lost`, `seen`, `given` (struct), `stood_in` (struct), and `j`, its judgement.
    """
    forks = brought.selectExpr(
        *COPY, "message_id", "recipients", "at_ms AS brought_ms", "copy", "epoch AS brought_epoch",
        "ref AS brought_ref",
    )  # fmt: skip
    fates = _fates(forks, landed)
    of_database = Window.partitionBy("run", "database", "server")
    mounts = F.collect_list(F.expr("struct(epoch, mounted.at_ms AS at_ms)")).over(of_database)
    changes = asked.withColumn("mounts", mounts)
    items = joined(changes, forks, ["run", "database", "server"]).where("brought_epoch < epoch")
    known = (
        items.join(fates, COPY, "left")
        .selectExpr("*", f"{_LOST_AT} AS left_at")
        .selectExpr(
            "*",
            "coalesce(left_at = epoch, NOT seen AND is_last, false) AS lost",
            "coalesce(brought_ms >= inside_from_ms AND brought_ms < inside_to_ms, false) "
            "AND NOT (is_orderly AND lost_ms IS NULL) AS inside",
        )
    )
    wanted = known.where("inside OR lost").drop("j", "mounts")
    back = (
        wanted.join(_given(given), COPY, "left")
        .join(_stood_in(given), MESSAGE, "left")
        .join(_found(into), MESSAGE, "left")
        .withColumn("lost", F.expr(f"lost AND NOT {_LOST_BEFORE}"))
        .where("inside OR lost")
    )
    return back.selectExpr(
        "*",
        "filter(backs, b -> b.asked_epoch >= epoch) AS came",
        "get(filter(stand_ins, b -> b.asked_epoch >= epoch), 0) AS stood_in",
        f"{lost('database_id')} AS queue_lost_ms",
    ).selectExpr(
        "*",
        "get(came, 0) AS given",
        "array_except(recipients, flatten(transform(came, b -> b.recipients))) AS left_out",
    ).selectExpr("*", f"{_JUDGED} AS j").drop("backs", "stand_ins", "found", "came")  # fmt: skip


# what a copy took after that of a later epoch was mounted is lost to that one, whoever saw it since
_LOST_AT = """coalesce(lost_at, array_min(transform(filter(mounts, m -> m.epoch > brought_epoch
  AND m.at_ms < brought_ms - finest_ms - askew_ms), m -> m.epoch)))"""
# it came back for a failover before this one, and no copy since then had it
_LOST_BEFORE = """coalesce(exists(backs, b -> b.asked_epoch > brought_epoch
  AND b.asked_epoch < epoch AND NOT coalesce(array_max(found) >= b.asked_epoch, false)), false)"""


def _fates(forks: DataFrame, landed: DataFrame) -> DataFrame:
    """`lost_at`: the epoch under which it first had to be taken again; `seen`, by everybody."""
    each = forks.selectExpr(
        *COPY, "message_id", "brought_epoch", "brought_ms", "explode(recipients) AS recipient"
    )
    known = each.join(landed, ["run", "database", "message_id", "recipient"], "left")
    later = "t.epoch > brought_epoch AND t.at_ms - brought_ms <= window_ms AND NOT all_seen"
    again = f"array_min(transform(filter(taken, t -> {later}), t -> t.epoch))"
    return known.groupBy(*COPY).agg(
        F.expr(f"min({again}) AS lost_at"), F.expr("bool_and(coalesce(seen, false)) AS seen")
    )


def _given(given: DataFrame) -> DataFrame:
    row = "struct(at_ms, asked_epoch, recipients, ref)"
    own = given.where("safety_net = 'primary' AND destination = asked_database").selectExpr(
        "run", "destination AS `database`", "server", "database_id",
        "copy_internal_id AS internal_id", f"{row} AS row",
    )  # fmt: skip
    return own.groupBy(*COPY).agg(F.expr("array_sort(collect_list(row)) AS backs"))


def _stood_in(given: DataFrame) -> DataFrame:
    row = "struct(at_ms, asked_epoch, server, ref)"
    others = given.where("safety_net = 'shadow' AND destination = asked_database").selectExpr(
        "run", "destination AS `database`", "message_id", f"{row} AS row"
    )
    return others.groupBy(*MESSAGE).agg(F.expr("array_sort(collect_list(row)) AS stand_ins"))


def _found(into: DataFrame) -> DataFrame:
    """The epochs under which a copy that took a message again had it already."""
    again = into.where("event = 'DUPLICATEDELIVER'")
    return again.groupBy(*MESSAGE).agg(F.collect_set("epoch").alias("found"))


_WHAT = "{server} had brought it into {database} on {copy} at {@brought_ms}"
_ONLY_FROM = (
    f"{_WHAT} and kept it until {{@brought_ms + hold_ms}}; it could be asked for "
    "{database}:{epoch} only from {@ask_by_ms} on"
)
# not where the queue database was gone first
_OVER = (
    "learnt IS NOT NULL AND brought_ms + hold_ms < ask_by_ms "
    "AND coalesce(brought_ms + hold_ms < queue_lost_ms, true)"
)
_REPLACED = f"{_WHAT}, and lost its queue database at {{@queue_lost_ms}}"
_JUDGED = cases(
    ("given IS NOT NULL AND size(left_out) > 0", violated(
        "{server} resubmitted it for {database}:{epoch} without {array_join(left_out, ', ')}")),
    ("given IS NOT NULL", holds()),
    ("stood_in IS NOT NULL AND (queue_lost_ms IS NOT NULL OR NOT inside OR learnt IS NULL "
     "OR ask_by_ms > end_ms)", holds()),
    ("lost AND seen AND NOT inside", holds()),
    (f"{_OVER} AND seen", judgement("holds", _ONLY_FROM, EXCUSED)),
    (_OVER, judgement("unknown", _ONLY_FROM, EXPIRED)),
    ("queue_lost_ms IS NOT NULL AND seen", judgement("holds", _REPLACED, EXCUSED)),
    ("queue_lost_ms IS NOT NULL", unknown(_REPLACED)),
    ("learnt IS NULL AND tell_by_ms > end_ms", unknown(
        f"{_WHAT}; until the end Active Manager had no chance to tell it of "
        "{database}:{epoch}")),
    ("learnt IS NULL", violated(
        f"{_WHAT}; it could be reached, and was never told of {{database}}:{{epoch}}")),
    ("ask_by_ms > end_ms", unknown(
        f"{_WHAT}; the run ended before it surely could be asked for {{database}}:{{epoch}}")),
    (f"coalesce({overlaps('blind', 'learnt.at_ms', 'ask_by_ms')}, false)", unknown(
        f"{_WHAT}; its record has a hole where it may have resubmitted it")),
    ("lost", violated(
        f"{_WHAT}; lost with that copy, and never resubmitted for {{database}}:{{epoch}}")),
    otherwise=violated(f"{_WHAT}; inside the interval of {{database}}:{{epoch}}, which goes on to "
        "{@learnt.at_ms}, and never resubmitted"),
)  # fmt: skip
