"""Who should have got what: one row for each message and recipient that the workload named.

A delivery is promised when the message was acknowledged. One that is promised and not visible is
lost, or excused with its reason; where the record of the place is missing, it is unknown. That a
server says it gave a message up excuses nothing: its sender must have been notified.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases, judgement, unknown

KEY = ["run", "message_id", "recipient"]
# a copy that came back too late for a Safety Net to have it still
EXPIRED = "expired"


def deliveries(
    sent: DataFrame, outcomes: DataFrame, visible: DataFrame, places: DataFrame
) -> DataFrame:
    """`promised`, `copies`, `first_ms`, `copy_refs`, `collected` (is the place's record there)."""
    named = sent.join(outcomes, ["run", "message_id"], "left").selectExpr(
        "run", "message_id", "submitted_ms", "ok.ended_ms AS acknowledged_ms",
        "ok.server AS server",
        "coalesce(outcome, 'in doubt') AS sending", "coalesce(ok.ref, ref) AS ref",
        "explode(recipients) AS recipient",
    )  # fmt: skip
    seen = visible.groupBy(*KEY).agg(
        F.expr("CAST(count(*) AS INT) AS copies"),
        F.min("copied_ms").alias("first_ms"),
        F.expr("slice(sort_array(collect_list(ref)), 1, 3) AS copy_refs"),
    )
    placed = named.join(seen, KEY, "left").join(places, ["run", "recipient"], "left")
    return placed.selectExpr(
        *KEY, "coalesce(kind, 'external') AS kind", "sending = 'acknowledged' AS promised",
        "sending", "coalesce(copies, 0) AS copies", "submitted_ms", "acknowledged_ms", "first_ms",
        "server", "coalesce(collected, false) AS collected", "ref", "copy_refs",
    )  # fmt: skip


def places(
    sent: DataFrame, mailboxes: DataFrame, servers: DataFrame, files: DataFrame
) -> DataFrame:
    """`run`, `recipient`, `kind`, `collected`: where a recipient or a sender reads mail, and is its
    record here.
    """
    boxes = mailboxes.selectExpr(
        "run", "mailbox AS recipient", "'mailbox' AS kind",
        "concat('mailboxes/', `database`, '.jsonl') AS file",
    )  # fmt: skip
    outside = servers.where("role = 'external'").selectExpr(
        "run", "lower(domain) AS domain", "concat('external/', server, '.jsonl') AS file"
    )
    both = "explode(concat(recipients, array(sender))) AS recipient"
    named = sent.selectExpr("run", both).distinct()
    away = (
        named.selectExpr("run", "recipient", "substring_index(recipient, '@', -1) AS domain")
        .transform(joined, outside, ["run", "domain"])
        .selectExpr("run", "recipient", "'external' AS kind", "file")
    )
    there = files.selectExpr("run", "file", "true AS collected")
    return boxes.unionByName(away).join(there, ["run", "file"], "left")


def judged(
    deliveries: DataFrame, custodians: DataFrame, failures: DataFrame, senders: DataFrame
) -> DataFrame:
    """Adds `outcome` and `reason`: delivered, lost, excused, unknown, rejected or in doubt."""
    known = (
        deliveries.join(custodians, ["run", "message_id"], "left")
        .join(failures, KEY, "left")
        .join(senders, ["run", "message_id"], "left")
    )
    decided = known.selectExpr("*", f"{_OUTCOME} AS decision")
    return decided.selectExpr(
        *KEY, "kind", "promised", "decision.status AS outcome", "decision.reason AS reason",
        "copies", "submitted_ms", "acknowledged_ms", "first_ms", "server", "unprotected",
        "concat(array(ref), coalesce(copy_refs, CAST(array() AS "
        "array<struct<file: string, line: int>>)), "
        "filter(array(failure_ref, coalesce(dsn_ref, dsn_given_up_ref)), r -> r IS NOT NULL)"
        ") AS refs",
    )  # fmt: skip


def failures(tracking: DataFrame) -> DataFrame:
    """Recipients whom a server gave up: `failed_at` (the server), `status`, `failure_ref`, null
    where all that is known is that a DSN was suppressed (`untold`).
    """
    ended = "(event = 'FAIL' AND source = 'QUEUE') OR event = 'SUPPRESSED'"
    each = tracking.where(ended).selectExpr(
        "run", "message_id", "explode(recipients) AS recipient",
        "IF(event = 'FAIL', struct(ref, server, recipient_status), NULL) AS failure",
        "event = 'SUPPRESSED' AS untold",
    )  # fmt: skip
    first = each.groupBy(*KEY).agg(F.min("failure").alias("f"), F.bool_or("untold").alias("untold"))
    return first.selectExpr(
        *KEY, "f.ref AS failure_ref", "f.server AS failed_at", "f.recipient_status AS status",
        "untold",
    )  # fmt: skip


def not_kept_longer(judged: DataFrame, expected: DataFrame) -> DataFrame:
    """`judged`, where what was lost with a copy of a database is excused if the Safety Net that had
    it could not be asked as long as it may keep it (`expected` of `expected.resubmission`).
    """
    kept = expected.where(f"j.kind = '{EXPIRED}' AND lost AND NOT seen").selectExpr(
        "run", "message_id", "explode(recipients) AS recipient",
        "concat('Safety Net may not keep it longer: ', j.reason) AS net",
    )  # fmt: skip
    first = kept.groupBy(*KEY).agg(F.min("net").alias("net"))
    known = judged.join(first, KEY, "left").withColumn(
        "let_go", F.expr("outcome = 'lost' AND net IS NOT NULL")
    )
    replaced = {
        "outcome": "IF(let_go, 'excused', outcome) AS outcome",
        "reason": "IF(let_go, net, reason) AS reason",
    }
    return known.selectExpr(*(replaced.get(name, name) for name in judged.columns))


# the record may not have what a DSN says
_IS_NAMED = "dsn_ref IS NOT NULL AND coalesce(array_contains(named, recipient), true)"
_NAMES = "{array_join(servers, ' and ')}"
_OUTCOME = cases(
    ("copies > 0", judgement("delivered")),
    ("NOT promised", "named_struct('status', sending, 'kind', '', 'reason', '')"),
    ("NOT collected", unknown("the record of what this recipient sees was not collected")),
    (
        "failure_ref IS NOT NULL AND untold",
        judgement(
            "excused", "lost with a copy, resubmitted, and expired in the queue without a DSN"
        ),
    ),
    (
        f"failure_ref IS NOT NULL AND {_IS_NAMED}",
        judgement("excused", "given up and its sender told by a DSN: {failed_at} said {status}"),
    ),
    (
        "lost = custodians AND size(servers) > 1",
        judgement("excused", f"both custodians failed: {_NAMES}"),
    ),
    (
        "lost = custodians AND unprotected",
        judgement("excused", f"accepted unprotected, then lost with the database of {_NAMES}"),
    ),
    (
        "failure_ref IS NOT NULL AND sender_collected = false",
        unknown("{failed_at} gave it up; the record of what its sender sees was not collected"),
    ),
    (
        "failure_ref IS NOT NULL AND dsn_ref IS NOT NULL",
        judgement("lost", "{failed_at} gave it up ({status}), and no DSN to {sender} says so"),
    ),
    (
        "failure_ref IS NOT NULL AND dsn_given_up_ref IS NOT NULL",
        judgement(
            "excused", "given up, and so was the DSN to its sender: {failed_at} said {status}"
        ),
    ),
    (
        "failure_ref IS NOT NULL",
        judgement("lost", "{failed_at} gave it up ({status}), and no DSN reached {sender}"),
    ),
    (
        "custodians IS NULL",
        judgement("lost", "acknowledged by {server}, which logged no such message"),
    ),
    otherwise=judgement("lost", f"acknowledged by {{server}}, held by {_NAMES}, never visible"),
)
