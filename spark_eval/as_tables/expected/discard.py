"""When a shadow message may be let go, and by when it must be (SM-1 to SM-5, SM-10, SM-16); and
when its primary message was delivered (SN-2).

Not before every fork of its primary message is done: an order, judged on the monotonic clock. Then
within one heartbeat once both servers can be reached: a deadline that starts at the first moment
after delivery which a whole heartbeat, and one exchange, without an outage follow. An exchange that
takes its time is allowed for; an answer without the notification is not. The time that the
notification carries, from which a Shadow Safety Net counts, is that of the last fork.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.shadow_copies import coarse, too_coarse
from spark_eval.spark.joins import small
from spark_eval.sql.intervals import first_clear, last_before, overlaps
from spark_eval.sql.reasons import cases, holds, not_asked, unknown, violated

PRIMARY = ("server", "database_id", "internal_id")


def discards(
    copies: DataFrame, forks: DataFrame, deliveries: DataFrame, forgotten: DataFrame
) -> DataFrame:
    """The columns of `copies` plus `DISCARDS`; a status is null where nothing is asked, as of what
    is `forgotten` by its primary server before it was done.
    """
    of_primary = forks.selectExpr(
        "run", *(f"{name} AS primary_{name}" for name in PRIMARY),
        "complete", "done_ms", "known_ms", "done_mono_ns", "done_ref",
    )  # fmt: skip
    seen = deliveries.groupBy("run", "message_id").agg(
        F.expr("IF(bool_and(first_ms IS NOT NULL), max(first_ms), NULL) AS all_visible_ms")
    )
    key = ["run", *(f"primary_{name}" for name in PRIMARY)]
    known = (
        copies.join(of_primary, key, "left")
        .join(seen, ["run", "message_id"], "left")
        .join(small(forgotten), [*key, "server"], "left")
    )
    timed = known.selectExpr("*", "greatest(known_ms, held_ms) AS due_from_ms")
    reached = timed.selectExpr("*", f"{_REACHABLE} AS reachable_ms")
    bounded = reached.selectExpr(
        "*", f"reachable_ms + {_WHOLE} AS not_after_ms", f"{_BROUGHT} AS brought_ms",
    )  # fmt: skip
    asked = bounded.selectExpr("*", f"{_UNTOLD} AS untold_ms")
    judged = asked.selectExpr("*", f"{_ORDER} AS o", f"{_TOLD} AS t", f"{_DEADLINE} AS d")
    return judged.selectExpr(
        "*", "o.status AS order_status", "o.reason AS order_reason",
        "t.status AS told_status", "t.reason AS told_reason",
        "d.status AS deadline_status", "d.reason AS deadline_reason",
    )  # fmt: skip


_LACKING = "NOT coalesce(complete, false)"
_HOLE = f"{_LACKING} AND coalesce({overlaps('primary_blind', 'held_ms', 'discard.at_ms')}, false)"
_AFTER = "coalesce(done_mono_ns > discard.mono_ns, done_ms > discard.at_ms + finest_ms)"
_ORDER = cases(
    ("discard IS NULL", not_asked()),
    (f"{_HOLE} AND all_visible_ms <= discard.at_ms + finest_ms", holds()),
    (_HOLE, unknown("the tracking log of {primary_server} has a hole there")),
    (_LACKING, violated("{server} let it go; {primary_server} did not log every recipient done")),
    (
        _AFTER,
        violated("{server} let it go {done_ms - discard.at_ms} ms before the last fork was done"),
    ),
    otherwise=holds(),
)

_NEAR = "exchange_ms + finest_ms + askew_ms"
# a row is written after the commit; a server that is paused in between writes it when it goes on
_HELD_UP = overlaps(
    "transform(primary_kills, k -> k.possible)",
    "least(delivered_at_ms, done_ms)", "greatest(delivered_at_ms, done_ms)",
)  # fmt: skip
_TOLD = cases(
    (f"delivered_at_ms IS NULL OR done_ms IS NULL OR {_LACKING}", not_asked()),
    (f"delivered_at_ms BETWEEN done_ms - ({_NEAR}) AND known_ms + {_NEAR}", holds()),
    (_HELD_UP, not_asked()),
    otherwise=violated(
        "{server} let it go as delivered at {@delivered_at_ms}; by the log of {primary_server} its "
        "last fork was done at {@done_ms}"
    ),
)

# a question asked in the last moment of the heartbeat still needs its answer
_WHOLE = "heartbeat_ms + slack_ms + finest_ms"
_CLEAR = first_clear("due_from_ms", "any_possible", _WHOLE)
_REACHABLE = f"IF(due_from_ms IS NULL, CAST(NULL AS BIGINT), {_CLEAR})"
_ENDED = "coalesce(discard.at_ms, end_ms)"

# the first answer, asked for well after delivery and well before the discard, that had room for it
# and did not bring it; the last one before the discard brought it, however long letting go took
_BROUGHT = last_before("contact_times", "discard.at_ms")
_UNTOLD = f"""IF({overlaps("any_possible", "reachable_ms", _ENDED)}, CAST(NULL AS BIGINT),
  array_min(transform(filter(told_all, c -> c.asked_ms >= reachable_ms + heartbeat_ms / 4
    AND c.at_ms <= coalesce(discard.at_ms - CAST(heartbeat_ms / 2 AS BIGINT), end_ms)
    AND (discard IS NULL OR c.at_ms < brought_ms)), c -> c.at_ms)))"""
_RELEASED_OTHERWISE = """(discard IS NULL AND (promoted IS NOT NULL OR kept_as_primary
  OR coalesce(own_lost_ms <= not_after_ms, false)
  OR coalesce(primary_lost_ms <= not_after_ms, false)))"""
# a shadow message that nobody let go goes of itself (SN-2)
_STILL_THERE = """(discard IS NOT NULL
  OR least(not_after_ms, untold_ms) <= stays_until_ms - askew_ms)"""
# a notification that nobody asked for is dropped after `auto_discard_ms` (SM-11), which may be
# before it has to be asked for
_ASKED = f"""(enabled AND claimed IS NOT NULL
  AND NOT coalesce(done_ms > forgotten_ms, false)
  AND (held IS NOT NULL OR kept_as_shadow) AND coalesce(complete, false)
  AND reachable_ms IS NOT NULL AND not_after_ms - due_from_ms < auto_discard_ms
  AND {_STILL_THERE}
  AND (discard IS NOT NULL OR not_after_ms <= end_ms OR untold_ms IS NOT NULL)
  AND NOT {_RELEASED_OTHERWISE})"""
_ASKED_IN_VAIN = (
    "{server} asked {primary_server} at {@untold_ms}, after delivery at {@known_ms}, and "
)
_DEADLINE = cases(
    (f"NOT coalesce({_ASKED}, false)", not_asked()),
    (coarse("heartbeat_ms"), too_coarse("a heartbeat", "heartbeat_ms")),
    ("discard.at_ms <= not_after_ms", holds()),
    ("discard IS NULL AND in_safety_net", holds()),
    (
        "untold_ms IS NOT NULL AND discard IS NULL",
        violated(_ASKED_IN_VAIN + "never let it go"),
    ),
    ("untold_ms IS NOT NULL", violated(_ASKED_IN_VAIN + "let it go only at {@discard.at_ms}")),
    (
        "discard IS NULL",
        violated(
            "{server} never let it go; delivered at {@known_ms}, both could be reached "
            "from {@reachable_ms}"
        ),
    ),
    otherwise=violated(
        "{server} let it go at {@discard.at_ms}, due {@reachable_ms + heartbeat_ms}"
    ),
)
