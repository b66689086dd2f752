"""steps_logged: a lifecycle log has each step that a later one, or another server, shows was taken
(TL-4).

Asks of each shadow message that was promoted: just before, its server says that a promotion of
messages of that primary server had begun, for that cause. Of each server that Active Manager says
was informed of the active copy: it says that it learnt of that change, or of a later one. Of each
change of the active copy that servers were informed of, or that is over: Active Manager says that
the new copy was mounted. Of each resubmit request that Active Manager says is complete: so does the
server that was asked. All in a record that the lab made.

Not asked: what a hole of the log, such as before a kill, or a full disk may have swallowed, nor a
promotion while its server was paused; servers without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.calls import SLACK
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, sentence, violated

SERVER, CHANGE = ["run", "server"], ["run", "database", "epoch"]
SHOWN = ("at_ms", "ref")
INFORMED = "'active-copy-told'"
PROMOTED = "event = 'RESUBMIT' AND source = 'REDUNDANCY'"
# what a disk takes to commit a promotion
DISK_MS = 30_000
LATE_MS = f"{DISK_MS} + {SLACK} + {VAGUE_MS}"
STAYS = "k.kind IN ('pause', 'fill_disk')"
HELD_UP = f"transform(filter(kills, k -> {STAYS}), k -> k.possible)"
_SAID = "t BETWEEN since_ms - vague_ms AND at_ms + vague_ms"
MEANWHILE = ("since_ms - vague_ms", "at_ms + vague_ms")
_JUDGED = cases_of(
    (f"exists(steps, t -> {_SAID})", holds()),
    (f"{overlaps('blind', *MEANWHILE)} OR {overlaps(HELD_UP, *MEANWHILE)}", not_asked()),
    otherwise=violated(
        "{shown} at {@at_ms}; the lifecycle log of {server} does not say between {@since_ms} and "
        "then that {step}"),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    lifecycle = tables.record.lifecycle
    parts = (
        _begun(tables.record.tracking, lifecycle), _learnt(lifecycle), _mounted(lifecycle),
        _completed(lifecycle),
    )  # fmt: skip
    paces = tables.histories.where("is_made AND lives IS NOT NULL").selectExpr(
        *SERVER, "kills", "blind", f"{LATE_MS} AS late_ms", f"{VAGUE_MS} AS vague_ms"
    )
    asked = reduce(DataFrame.unionByName, parts).transform(joined, small(paces), SERVER)
    timed = asked.selectExpr(
        "*", "IF(is_sudden, at_ms - late_ms, coalesce(began_ms, 0L)) AS since_ms"
    )
    return timed.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="subject",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref",
            requirements="array('TL-4')",
        )
    )


def _shown(
    known: DataFrame, subject: str, shown: str, step: str, *, sudden: bool = False
) -> DataFrame:
    """One row a step of `server` that was taken: what shows it, and `steps`, when its log says so;
    since `began_ms` (null: ever), or a moment before, if it is `sudden`.
    """
    return known.selectExpr(
        *SERVER, f"{subject} AS subject", f"{sentence(shown)} AS shown",
        f"{sentence(step)} AS step", "began_ms", f"{sudden} AS is_sudden", "at_ms", "ref",
        "coalesce(steps, CAST(array() AS array<bigint>)) AS steps",
    )  # fmt: skip


def _steps(lifecycle: DataFrame, event: str, *key: str) -> DataFrame:
    """`steps`: when a log said so, by `key`."""
    rows = lifecycle.where(f"event = '{event}'")
    return rows.groupBy(*key).agg(F.expr("collect_list(at_ms) AS steps"))


def _began(lifecycle: DataFrame, event: str, *key: str) -> DataFrame:
    return lifecycle.where(f"event = '{event}'").groupBy(*key).agg(F.min("at_ms").alias("began_ms"))


def _begun(tracking: DataFrame, lifecycle: DataFrame) -> DataFrame:
    key = [*SERVER, "primary_server", "cause"]
    begun = _steps(
        lifecycle.withColumn("primary_server", F.lower("primary")), "promotion-begun", *key
    )
    promoted = tracking.where(PROMOTED).selectExpr(
        *SERVER, "lower(primary_server) AS primary_server", "context AS cause", "message_id",
        *SHOWN, "CAST(NULL AS BIGINT) AS began_ms",
    )  # fmt: skip
    return _shown(
        promoted.join(small(begun), key, "left"), "message_id",
        "{server} promoted it by {cause}",
        "a promotion of messages of {primary_server} had begun for that cause", sudden=True,
    )  # fmt: skip


def _learnt(lifecycle: DataFrame) -> DataFrame:
    """Active Manager asks whoever may know already; a later change is known with all before it."""
    informed = lifecycle.where(f"event = {INFORMED}").selectExpr(
        "run", "peer AS server", "database", "epoch", *SHOWN, "server AS manager"
    )
    learnt = lifecycle.where("event = 'active-copy'").groupBy("run", "server", "database")
    rows = learnt.agg(F.expr("collect_list(struct(at_ms, epoch)) AS learnt"))
    known = (
        informed.join(_began(lifecycle, "failover-decided", *CHANGE), CHANGE, "left")
        .join(rows, ["run", "server", "database"], "left")
        .withColumn("steps", F.expr("filter(learnt, l -> l.epoch >= epoch).at_ms"))
    )
    return _shown(
        known, "concat(`database`, ':', epoch, ' at ', server)",
        "{manager} says that {server} was informed of {database}:{epoch}", "it learnt of it",
    )  # fmt: skip


def _mounted(lifecycle: DataFrame) -> DataFrame:
    key = [*SERVER, "database", "epoch"]
    later = lifecycle.where(f"event IN ({INFORMED}, 'failover-over')").groupBy(*key)
    known = (
        later.agg(F.expr("min_by(struct(at_ms, event, ref), at_ms) AS row"))
        .selectExpr(*key, "row.event AS event", "row.at_ms AS at_ms", "row.ref AS ref")
        .join(_began(lifecycle, "failover-decided", *CHANGE), CHANGE, "left")
        .join(_steps(lifecycle, "failover-mounted", *key), key, "left")
    )
    return _shown(
        known, "concat(`database`, ':', epoch)", "{server} says {event} of {database}:{epoch}",
        "its new copy was mounted",
    )  # fmt: skip


def _completed(lifecycle: DataFrame) -> DataFrame:
    key = [*SERVER, "request_id", "safety_net"]
    said = lifecycle.where("event = 'safety-net-completed'").selectExpr(
        "run", "peer AS server", "request_id", "safety_net", *SHOWN, "server AS manager"
    )
    known = said.join(_began(lifecycle, "resubmit-requested", *key), key, "left").join(
        _steps(lifecycle, "resubmit-completed", *key), key, "left"
    )
    return _shown(
        known, "concat(request_id, ' at ', server)",
        "{manager} says that {server} completed request {request_id} of its {safety_net} Safety "
        "Net", "it did",
    )  # fmt: skip


CLAIM = Claim("steps_logged", ("TL-4",), cases)
