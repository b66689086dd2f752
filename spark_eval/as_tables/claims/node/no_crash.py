"""no_crash: no server ends by a mistake of its own, or works for ever on one moment.

Asks each server of the organisation: `crashed` in its lifecycle log is the end of a process by its
own mistake, `session-failed` that of a session; a log that does not say `started` before anything
else was received hides both (TL-4). A server that the simulator stopped since it span has crashed,
too. What a server that was killed did is for other claims.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER = ["run", "server"]
MISTAKES = "('crashed', 'session-failed')"
# the last line of a traceback
WHY = "element_at(split(trim(BOTH '\\n' FROM first.reason), '\\n'), -1)"
_ROW = "struct(at_ms, mono_ns, event, coalesce(reason, 'no reason given') AS reason, ref)"
# of servers that are not the lab's own nobody has such a log
_HAS_LOGS = "is_made OR sum(starts) OVER (PARTITION BY run) > 0"
_JUDGED = cases_of(
    ("first IS NULL AND starts > 0", holds()),
    (f"first IS NULL AND (coalesce(is_damaged, false) OR NOT ({_HAS_LOGS}))", not_asked()),
    ("first IS NULL", violated("the lifecycle log of {server} has no start of it")),
    (
        "first.event = 'crashed'",
        violated(f"{{server}} crashed at {{@first.at_ms}}: {{{WHY}}}"),
    ),
    otherwise=violated(f"a session of {{server}} failed at {{@first.at_ms}}: {{{WHY}}}"),
)


def cases(tables: Tables) -> DataFrame:
    rows = tables.record.lifecycle.select(*SERVER, "at_ms", "mono_ns", "event", "reason", "ref")
    silent = tables.record.servers.where("role = 'mailbox'").select(*SERVER)
    lives = (
        rows.unionByName(silent, allowMissingColumns=True)
        .groupBy(*SERVER)
        .agg(
            F.expr(f"min({_ROW}) FILTER (WHERE event IN {MISTAKES}) AS first"),
            F.expr(f"count_if(event IN {MISTAKES}) AS mistakes"),
            F.expr("count_if(event = 'started') AS starts"),
            F.expr("min(struct(at_ms, ref)) FILTER (WHERE event IS NOT NULL) AS began"),
        )
    )
    damaged = tables.record.damaged_lines.select(*SERVER).distinct()
    known = joined(lives, tables.record.runs.select("run", "is_made"), "run").join(
        damaged.withColumn("is_damaged", F.lit(True)), SERVER, "left"
    )
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="server",
            detail="j.reason",
            at_ms="coalesce(first.at_ms, began.at_ms)",
            refs="coalesce(first.ref, began.ref)",
            requirements="array('TL-4')",
            weight="mistakes",
        )
    )


CLAIM = Claim("no_crash", ("TL-4",), cases)
