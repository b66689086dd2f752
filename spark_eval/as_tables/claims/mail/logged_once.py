"""logged_once: a tracking log says once what becomes once of a message (TL-1).

Asks, in a record that the lab made, each kind of row that a server wrote about a message in one
life: it names each recipient once, in however many rows. A message is its internal id in one queue
database, of which what comes again has another.

Not asked: DEFER, since mail may be put off again and again. Records that the lab did not make are
not asked at all: real servers have more kinds of rows than F§1.4 lists.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.spark.joins import joined, small
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, violated

SERVER = ["run", "server"]
ONCE = "event <> 'DEFER' AND internal_id IS NOT NULL"
# the life that the row belongs to
BEGAN = "array_max(filter(lives.lo_ms, t -> t <= at_ms)) AS began_ms"
NAMED = "IF(coalesce(size(recipients), 0) > 0, recipients, array(''))"
_JUDGED = cases_of(
    ("size(array_distinct(named)) = size(named)", holds()),
    otherwise=violated(
        "{server} has {size(rows)} {event} rows from {source} of {internal_id}, from "
        "{@rows[0].at_ms} to {@array_max(rows).at_ms}, which name a recipient twice"
    ),
)


def cases(tables: Tables) -> DataFrame:
    made = tables.record.runs.where("is_made").select("run")
    histories = tables.histories.select(*SERVER, "lives")
    rows = (
        tables.record.tracking.where(ONCE)
        .transform(joined, small(made), "run")
        .join(small(histories), SERVER, "left")
        .selectExpr(
            *SERVER, "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
            "event", "source", BEGAN, f"{NAMED} AS recipients", "struct(at_ms, ref) AS row",
        )
    )  # fmt: skip
    together = rows.groupBy(*KEY, "message_id", "event", "source", "began_ms").agg(
        F.expr("flatten(collect_list(recipients)) AS named"),
        F.expr("array_sort(collect_list(row)) AS rows"),
    )
    return together.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="rows[0].at_ms",
            refs="rows[0].ref, get(rows, 1).ref",
            requirements="array('TL-1')",
        )
    )


CLAIM = Claim("logged_once", ("TL-1",), cases)
