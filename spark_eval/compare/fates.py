"""The fate of each message, as text that is the same where the fate is: one row a Message-Id.

`sending`: acknowledged, rejected or in doubt. `protection`: shadowed, unprotected, or neither.
`promotion`: the causes it was promoted for. `inside` and `outside`: recipients with the number of
copies they see, in mailboxes and at external servers. `loss`: what became of each promised delivery
that is not visible. Names of servers and times are no part of it: timing chooses among equals.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

FIELDS = ("sending", "protection", "promotion", "inside", "outside", "loss")
NONE = "none"

_SEEN = "concat(recipient, ' x', copies)"
_EXCUSE = r"regexp_extract(reason, '^[^:,]*', 0)"
_LOST = (
    f"concat(recipient, ' ', outcome, IF(outcome = 'excused', concat(' (', {_EXCUSE}, ')'), ''))"
)


def fates(tables: Mapping[str, DataFrame]) -> DataFrame:
    """`message_id`, `submitted_ms` and FIELDS, from the result tables of one run."""
    own = tables["messages"].selectExpr(
        "message_id", "submitted_ms", "outcome AS sending",
        "CASE WHEN coalesce(unprotected, false) THEN 'unprotected' "
        "WHEN size(shadow_servers) > 0 THEN 'shadowed' ELSE 'none' END AS protection",
    )  # fmt: skip
    joined = own.join(_visible(tables["deliveries"]), "message_id", "left").join(
        _promoted(tables["promotions"]), "message_id", "left"
    )
    late = [f"coalesce(nullif({name}, ''), '{NONE}') AS {name}" for name in FIELDS[2:]]
    return joined.selectExpr("message_id", "submitted_ms", *FIELDS[:2], *late)


def _visible(deliveries: DataFrame) -> DataFrame:
    gone = "promised AND outcome <> 'delivered'"
    return deliveries.groupBy("message_id").agg(
        _listed(_SEEN, "kind = 'mailbox' AND copies > 0").alias("inside"),
        _listed(_SEEN, "kind <> 'mailbox' AND copies > 0").alias("outside"),
        _listed(_LOST, gone).alias("loss"),
    )


def _promoted(promotions: DataFrame) -> DataFrame:
    made = promotions.where("promoted_ms IS NOT NULL")
    causes = "array_join(array_sort(collect_set(cause)), ', ')"
    return made.groupBy("message_id").agg(F.expr(causes).alias("promotion"))


def _listed(text: str, where: str) -> Column:
    return F.expr(f"array_join(array_sort(collect_list({text}) FILTER (WHERE {where})), ', ')")
