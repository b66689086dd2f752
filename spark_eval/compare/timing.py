"""What timing leaves open for a message, one row a message of one run, each with its reason.

A fault begins and ends at the same lab time on every host, but what was under way at that moment
was not equally far. Each rule is evidence from the run itself; "near" is within the margin: the
time in which nine of ten undisturbed messages were delivered, and no finer than the clock can show.

`in_doubt`: an attempt ended unknown, so the server may have taken it or not.
`sent_at_edge`: an attempt was under way near a fault's beginning or end.
`delivered_at_edge`: a delivery was.
`shadow_at_edge`: its shadow message was taken, let go or promoted there.
`between_heartbeats`: it was delivered less than a heartbeat before a fault began; whether its
    discard notification was fetched before that is a matter of the heartbeat's phase.
`before_deadline`: a fault began or ended between the earliest and the latest moment at which its
    shadow message may be promoted, so that it may be promoted or not; and it had one until then.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.compare.sentence import sentence
from spark_eval.intervals.interval import FOREVER_MS

RULES = (
    "in_doubt",
    "sent_at_edge",
    "delivered_at_edge",
    "shadow_at_edge",
    "between_heartbeats",
    "before_deadline",
)
PACE = 0.9
FAR_ABOVE = 5
AROUND = "lo - {reach} <= e.hi AND hi + {reach} >= e.lo"
BEFORE = "e.began AND lo <= e.hi AND hi + {reach} >= e.lo"


def margin_ms(paces: list[float | None], resolutions: list[float]) -> int:
    """Lab ms, of the slower run and the coarser clock."""
    known = [pace for pace in paces if pace is not None]
    return round(max([*known, FAR_ABOVE * max(resolutions)]))


def pace_ms(tables: Mapping[str, DataFrame]) -> float | None:
    """How long a delivery took at most for nine in ten that no fault disturbed; None: none was."""
    undisturbed = tables["delays"].where("phase = 'before'")
    (row,) = undisturbed.agg(F.percentile("delay_ms", PACE).alias("pace")).collect()
    return None if row["pace"] is None else float(row["pace"])


def left_open(tables: Mapping[str, DataFrame], margin: int, heartbeat_ms: int) -> DataFrame:
    """`message_id`, RULES (the reason as a sentence, or null), `deadline_ms` (when promotion became
    due), `let_go_ms` (until when it had a shadow message).
    """
    edges = _edges(tables["fault_windows"])
    near, beat = f"{margin}L", f"{heartbeat_ms + margin}L"
    rules = [
        _doubts(tables["attempts"]),
        _beside("sent_at_edge", _attempts(tables["attempts"]), edges, near),
        _beside("delivered_at_edge", _deliveries(tables["deliveries"]), edges, near),
        _beside("shadow_at_edge", _steps(tables["shadows"]), edges, near),
        _beside("between_heartbeats", _done(tables["messages"]), edges, beat, BEFORE),
        _beside("before_deadline", _deadlines(tables["promotions"]), edges, near),
    ]
    known = tables["messages"].select("message_id")
    for rule in [*rules, _due(tables["promotions"]), _let_go(tables["shadows"])]:
        known = known.join(rule, "message_id", "left")
    return known


def _edges(windows: DataFrame) -> DataFrame:
    """One row: the array `edges` of (lo, hi, began, what), for faults that were applied."""
    applied = windows.where("coalesce(applied_ms, intended_ms) IS NOT NULL")
    began = (
        "named_struct('lo', least(intended_ms, applied_ms), 'hi', "
        "greatest(intended_ms, applied_ms), 'began', true, 'what', concat(fault, ' began'))"
    )
    over = f"IF(over_ms >= {FOREVER_MS}, heal_intended_ms, over_ms)"
    ended = (
        f"named_struct('lo', least(heal_intended_ms, {over}), 'hi', "
        f"greatest(heal_intended_ms, {over}), 'began', false, 'what', concat(fault, ' ended'))"
    )
    each = applied.selectExpr(f"inline(array({began}, {ended}))").where("lo IS NOT NULL")
    return each.agg(F.expr("array_sort(collect_list(struct(lo, hi, began, what))) AS edges"))


def _beside(
    rule: str, events: DataFrame, edges: DataFrame, reach: str, which: str = AROUND
) -> DataFrame:
    """`rule` by message: its first event that lies within `reach` of an edge."""
    close = f"e -> {which.format(reach=reach)}"
    beside = events.crossJoin(edges).selectExpr("*", f"get(filter(edges, {close}), 0) AS edge")
    told = sentence("{what}, and {edge.what} at {@edge.lo}")
    return (
        beside.where("edge IS NOT NULL")
        .groupBy("message_id")
        .agg(F.expr(f"min_by({told}, lo) AS {rule}"))
    )


def _doubts(attempts: DataFrame) -> DataFrame:
    told = sentence("attempt {attempt} to {server} ended in doubt")
    return (
        attempts.where("outcome = 'unknown'")
        .groupBy("message_id")
        .agg(F.expr(f"min_by({told}, attempt) AS in_doubt"))
    )


def _attempts(attempts: DataFrame) -> DataFrame:
    """`message_id`, `lo`, `hi`, `what`: the shape of all events."""
    ended = "coalesce(ended_ms, started_ms)"
    told = sentence("attempt {attempt} to {server} lasted from {@started_ms} to {@ended_ms}")
    return _told(attempts, "started_ms", ended, told)


def _deliveries(deliveries: DataFrame) -> DataFrame:
    return _told(deliveries, "first_ms", "first_ms", sentence("{recipient} had it at {@first_ms}"))


def _steps(shadows: DataFrame) -> DataFrame:
    steps = ", ".join(
        f"named_struct('lo', {column}, 'hi', {column}, 'what', {sentence(told)})"
        for column, told in (
            ("held_ms", "{shadow_server} took its shadow at {@held_ms}"),
            ("discarded_ms", "{shadow_server} let its shadow go at {@discarded_ms}"),
            ("promoted_ms", "{shadow_server} promoted it at {@promoted_ms}"),
        )
    )
    each = shadows.selectExpr("message_id", f"inline(array({steps}))")
    return each.where("lo IS NOT NULL")


def _done(messages: DataFrame) -> DataFrame:
    told = sentence("it was delivered at {@last_delivery_ms}")
    return _told(messages, "last_delivery_ms", "last_delivery_ms", told)


def _deadlines(promotions: DataFrame) -> DataFrame:
    told = sentence("its promotion was open from {@not_before_ms} to {@not_after_ms}")
    return _told(promotions, "not_before_ms", "not_after_ms", told)


def _due(promotions: DataFrame) -> DataFrame:
    return promotions.groupBy("message_id").agg(F.min("not_before_ms").alias("deadline_ms"))


def _let_go(shadows: DataFrame) -> DataFrame:
    until = f"max(coalesce(discarded_ms, promoted_ms, {FOREVER_MS}))"
    return shadows.groupBy("message_id").agg(F.expr(until).alias("let_go_ms"))


def _told(rows: DataFrame, lo: str, hi: str, what: str) -> DataFrame:
    events = rows.selectExpr("message_id", f"{lo} AS lo", f"{hi} AS hi", f"{what} AS what")
    return events.where("lo IS NOT NULL AND hi IS NOT NULL")
