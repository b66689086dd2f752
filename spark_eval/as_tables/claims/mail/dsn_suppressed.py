"""dsn_suppressed: whatever becomes of a resubmitted message, its sender hears nothing (SN-10).

Asks every message that came back from a Safety Net, and every shadow message of one that was
promoted: one that failed or expired says SUPPRESSED, and of which request, and causes no DSN; any
other causes neither (that it is late is `delay_dsn_sent`'s). A DSN names the message by its
Message-Id, which the copy that was accepted first has too: so there may be as many as that one has
failures of its own. What may be accepted mail, since a kill swallowed its first row, is not asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms import dsns
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, violated

COPY = ["run", "server", "database_id", "internal_id"]
MAIL = ["run", "server", "message_id"]
FAILED = "event = 'FAIL' AND source = 'QUEUE'"
_JUDGED = cases_of(
    ("dsns > own_failures", violated(
        "it came from a Safety Net, and {server} told its sender by {dsns} DSNs; it failed "
        "{own_failures} times before that")),
    ("failures IS NOT NULL AND suppressed IS NULL AND tellable", violated(
        "it came from a Safety Net and failed at {server}; no row says that its DSN was "
        "suppressed")),
    ("failures IS NULL AND suppressed IS NOT NULL", violated(
        "it came from a Safety Net, and {server} suppressed a DSN though it did not fail")),
    ("suppressed.requests <> array(request_id)", violated(
        "it came from a Safety Net for {request_id}, and {server} says that its DSN was "
        "suppressed for {coalesce(nullif(array_join(suppressed.requests, ', '), ''), 'none')}")),
    otherwise=holds(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    assert tables.came_back is not None
    back = tables.came_back.where("is_sure")
    rows = tables.record.tracking.withColumn("database_id", F.coalesce("database_id", F.lit("")))
    failures = _first(rows.where(FAILED), COPY, "failures")
    suppressed = (
        rows.where("event = 'SUPPRESSED'")
        .groupBy(*COPY)
        .agg(F.expr("struct(min(ref) AS ref, collect_set(context) AS requests) AS suppressed"))
    )
    told = _first(tables.dsns.where(dsns.FAILED), MAIL, "reports")
    own = rows.where(FAILED).join(back.select(*COPY), COPY, "left_anti")
    known = (
        back.join(failures, COPY, "left")
        .join(suppressed, COPY, "left")
        .join(told, MAIL, "left")
        .join(_first(own, MAIL, "own"), MAIL, "left")
        .join(tables.senders, ["run", "message_id"], "left")
        .selectExpr(
            "*", "coalesce(reports.n, 0L) AS dsns", "coalesce(own.n, 0L) AS own_failures"
        )
    )  # fmt: skip
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="coalesce(failures.at_ms, at_ms)",
            refs="ref, failures.ref, coalesce(reports.ref, suppressed.ref)",
            requirements="IF(failures IS NULL AND j.status = 'holds', array(), array('SN-10'))",
        )
    )


def _first(rows: DataFrame, key: list[str], name: str) -> DataFrame:
    counted = rows.groupBy(*key).agg(
        F.count("*").alias("n"), F.expr("max(struct(at_ms, ref)) AS row")
    )
    return counted.selectExpr(*key, f"struct(n, row.at_ms, row.ref) AS {name}")


CLAIM = Claim("dsn_suppressed", ("SN-10",), cases, may_ask)
