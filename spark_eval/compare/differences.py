"""Where the fates of a message part: field by field, left open by a rule of timing or a
disagreement.

Which rules may leave a field open is the table below. A message that is lost on one side is never
left open, and neither is a second copy in a mailbox: timing is no excuse for either (no_loss,
DD-1). What is unknown on one side cannot be compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.compare.fates import FIELDS
from spark_eval.compare.timing import RULES

SAME, OPEN, DISAGREES, UNKNOWN = "same", "open", "disagrees", "unknown"
SENT = ("in_doubt", "sent_at_edge")
DONE = (*SENT, "delivered_at_edge")
LEFT_OPEN_BY: Mapping[str, tuple[str, ...]] = {
    "sending": SENT,
    "protection": SENT,
    "promotion": RULES,
    "inside": DONE,
    "outside": RULES,
    "loss": DONE,
}
LEFT_OPEN_IF: Mapping[str, str] = {
    # where the other run had let the shadow message go before, no deadline explains it
    "before_deadline": "coalesce({other}.let_go_ms >= {side}.deadline_ms, true)",
}
LOST = "contains(concat(a.loss, b.loss), ' lost')"
NOT_COLLECTED = "contains(concat(a.loss, b.loss), ' unknown')"
# a copy less or more is a matter of timing only where somebody promised none
PROMISED = (
    "a.sending = 'acknowledged' AND b.sending = 'acknowledged' "
    "AND NOT contains(concat(a.loss, b.loss), 'excused')"
)
# field -> conditions under which it disagrees and is unknown, whatever timing leaves open
NEVER_OPEN: Mapping[str, tuple[str, str]] = {
    "inside": (f"{PROMISED} AND NOT {NOT_COLLECTED}", NOT_COLLECTED),
    "outside": ("false", NOT_COLLECTED),
    "loss": (LOST, NOT_COLLECTED),
}


def compared(first: tuple[DataFrame, DataFrame], second: tuple[DataFrame, DataFrame]) -> DataFrame:
    """One row a message and field: `a`, `b` (text or null), `status`, and `rule`, `side`, `why`.

    Each argument is what `fates` and `left_open` made of one run.
    """
    a, b = (_side(name, *each) for name, each in (("a", first), ("b", second)))
    both = a.join(b, "message_id", "full")
    at = "coalesce(a.submitted_ms, b.submitted_ms) AS submitted_ms"
    fields = ", ".join(_field(name) for name in FIELDS)
    each = both.selectExpr("message_id", at, f"inline(array({fields}))")
    return each.selectExpr(
        "message_id", "submitted_ms", "field", "a", "b", "status",
        "left_open.rule AS rule", "left_open.side AS side", "left_open.why AS why",
    )  # fmt: skip


def _side(name: str, fates: DataFrame, rules: DataFrame) -> DataFrame:
    joined = fates.join(rules, "message_id")
    columns = [column for column in joined.columns if column != "message_id"]
    return joined.select("message_id", F.struct(*columns).alias(name))


def _field(name: str) -> str:
    disagrees, unknown = NEVER_OPEN.get(name, ("false", "false"))
    left_open = f"get(filter(array({_reasons(name)}), r -> r.why IS NOT NULL), 0)"
    status = (
        f"CASE WHEN a.{name} <=> b.{name} THEN '{SAME}' "
        f"WHEN a IS NULL OR b IS NULL OR {disagrees} THEN '{DISAGREES}' "
        f"WHEN {unknown} THEN '{UNKNOWN}' "
        f"WHEN {left_open} IS NOT NULL THEN '{OPEN}' ELSE '{DISAGREES}' END"
    )
    return (
        f"named_struct('field', '{name}', 'a', a.{name}, 'b', b.{name}, 'status', {status}, "
        f"'left_open', IF({status} = '{OPEN}', {left_open}, NULL))"
    )


def _reasons(name: str) -> str:
    """The rules of a field on both sides, as structs whose `why` is null where one says nothing."""
    told = []
    for rule in LEFT_OPEN_BY[name]:
        for side, other in (("a", "b"), ("b", "a")):
            if_ = LEFT_OPEN_IF.get(rule, "true").format(side=side, other=other)
            why = f"IF({if_}, {side}.{rule}, NULL)"
            told.append(f"named_struct('rule', '{rule}', 'side', '{side}', 'why', {why})")
    return ", ".join(told)
