"""no_crash: no server ends by a mistake of its own, or works for ever on one moment.

Asks each server whose lifecycle log starts: `crashed` is the end of a process by its own mistake,
`session-failed` that of a session. A server that the simulator stopped since it span has crashed,
too. What a server that was killed did is for other claims.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.claim import Claim, case
from spark_eval.expected.tables import Tables
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, violated

MISTAKES = "('crashed', 'session-failed')"
# the last line of a traceback
WHY = "element_at(split(trim(BOTH '\\n' FROM first.reason), '\\n'), -1)"
_JUDGED = cases_of(
    ("first IS NULL", holds()),
    (
        "first.event = 'crashed'",
        violated(f"{{server}} crashed at {{@first.at_ms}}: {{{WHY}}}"),
    ),
    otherwise=violated(f"a session of {{server}} failed at {{@first.at_ms}}: {{{WHY}}}"),
)


def cases(tables: Tables) -> DataFrame:
    lives = tables.record.lifecycle.groupBy("run", "server").agg(
        F.expr(
            "min(struct(at_ms, mono_ns, event, coalesce(reason, 'no reason given') AS reason, ref))"
            f" FILTER (WHERE event IN {MISTAKES}) AS first"
        ),
        F.expr(f"count_if(event IN {MISTAKES}) AS mistakes"),
        F.expr("min(struct(at_ms, ref)) AS began"),
    )
    return lives.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="server",
            detail="j.reason",
            at_ms="coalesce(first.at_ms, began.at_ms)",
            refs="coalesce(first.ref, began.ref)",
            requirements="array()",
            weight="mistakes",
        )
    )


CLAIM = Claim("no_crash", (), cases)
