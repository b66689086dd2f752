"""rows_fit: what a row of a tracking log says of a message is what the message is (TL-1).

Asks every row about a message of the workload, in a record that the lab made: its sender and its
size are those with which it was sent, and it names nobody to whom it was not sent. RECEIVE has all
of its recipients, where the workload handed it over; what is said of the second copy of a message
(HAREDIRECT, HARECEIVE, HADISCARD, and RESUBMIT where it is promoted) has the recipients for whom
its primary server answers. Of a server that a row names: the reply of HAREDIRECT is that of the
shadow server; the server of a SEND is the one outside for the recipient's domain, or one whose log
says that it took the message for him; that of every other row is the one that writes it.

Not asked: whether the peer of a SEND says so, where in ConnectionInactivityTimeOut before its log
has a hole, or it was away or its disk full. Records that the lab did not make are not asked at all:
real servers expand groups, and count what they put in front of a message.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, violated

MAIL, TAKER = ["run", "message_id"], ["run", "peer", "message_id"]
CLIENT = ["run", "server", "message_id"]
OWNER = ["run", "owner", "owner_database", "owner_id"]
TAKEN = "event IN ('RECEIVE', 'DELIVER', 'DUPLICATEDELIVER')"
# rows that say of a second copy what its primary server said of the first
AT_SHADOW = (
    "(event IN ('HARECEIVE', 'HADISCARD') OR (event = 'RESUBMIT' AND source = 'REDUNDANCY'))"
)
NOBODY = "CAST(array() AS array<string>)"
AWAY = "transform(kills, k -> k.possible)"
MEANWHILE = ("at_ms - timeout_ms - vague_ms", "at_ms + vague_ms")
_ROW = "its {event} row at {server} "
# source-context of HAREDIRECT has the name of the server that took it, and its reply (F§1.6)
_ANSWERED = "lower(regexp_extract(context, '^([^. ]+)', 1))"
_HANDED_OVER = "exists(tries, t -> mono_ns BETWEEN t.began AND coalesce(t.ended, mono_ns))"
_OUTSIDE = "exists(recipients, r -> substring_index(r, '@', -1) <> domain)"
_NOT_TAKEN = f"array_except(recipients, coalesce(took, {NOBODY}))"
_IS_VAGUE = f"({overlaps(AWAY, *MEANWHILE)} OR {overlaps('blind', *MEANWHILE)})"
_JUDGED = cases_of(
    ("sender <> sent_by", violated(_ROW + "says that <{sender}> sent it; <{sent_by}> did")),
    ("size_bytes <> sent_bytes", violated(
        _ROW + "says that it has {size_bytes} bytes; it was sent with {sent_bytes}")),
    ("recipient_count <> size(recipients)", violated(
        _ROW + "counts {recipient_count} recipients, and names {size(recipients)}")),
    ("size(array_except(recipients, sent_to)) > 0", violated(
        _ROW + "names {array_except(recipients, sent_to)[0]}, to whom it was not sent")),
    (f"event = 'RECEIVE' AND size(array_except(sent_to, recipients)) > 0 AND {_HANDED_OVER}",
     violated(_ROW + "does not name {array_except(sent_to, recipients)[0]}, to whom it was sent")),
    ("size(array_except(owed, recipients)) > 0 OR size(array_except(recipients, owed)) > 0",
     violated(_ROW + "names {size(recipients)} recipients; for others, {size(owed)}, its primary "
              "server answers")),
    (f"event = 'HAREDIRECT' AND {_ANSWERED} <> shadow_server", violated(
        _ROW + f"has a reply of {{{_ANSWERED}}}, and names {{shadow_server}} as shadow server")),
    ("event <> 'SEND' AND peer <> server", violated(
        _ROW + "names {peer} as the server that did it")),
    ("event = 'SEND' AND peer = server", violated(
        _ROW + "names this server itself as the one that it was sent to")),
    (f"event = 'SEND' AND domain IS NOT NULL AND {_OUTSIDE}", violated(
        _ROW + "names {peer}, which is not the server of each recipient's domain")),
    (f"event = 'SEND' AND domain IS NULL AND size({_NOT_TAKEN}) > 0 AND NOT {_IS_VAGUE}", violated(
        _ROW + f"names {{peer}}, whose log does not say that it took it for {{{_NOT_TAKEN}[0]}}")),
    otherwise=holds(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    known = _rows(tables).selectExpr("*", f"{_JUDGED} AS j")
    return known.selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, sent_ref",
            requirements="array('TL-1')",
        )
    )


def _rows(tables: Tables) -> DataFrame:
    """Rows about messages of the workload: beside what each says, what it is to say."""
    made = tables.record.runs.where("is_made").select("run")
    owner = f"IF({AT_SHADOW}, primary_server, IF(event = 'HAREDIRECT', server, NULL)) AS owner"
    said = tables.record.tracking.transform(joined, small(made), "run").selectExpr(
        "run", "server", "event", "message_id", "sender", "size_bytes", "recipient_count",
        "recipients", "peer", "context", "shadow_server", "at_ms", "mono_ns", "ref", owner,
        f"IF({AT_SHADOW}, primary_database_id, coalesce(database_id, '')) AS owner_database",
        f"IF({AT_SHADOW}, primary_internal_id, internal_id) AS owner_id",
    )  # fmt: skip
    return (
        said.transform(joined, _sent(tables.sent), MAIL)
        .join(_tries(tables.attempts), CLIENT, "left")
        .join(_owed(tables.primaries), OWNER, "left")
        .join(_taken(tables.record.tracking), TAKER, "left")
        .join(small(_peers(tables.histories)), ["run", "peer"], "left")
    )


def _sent(sent: DataFrame) -> DataFrame:
    return sent.selectExpr(
        *MAIL, "sender AS sent_by", "content.bytes AS sent_bytes", "recipients AS sent_to",
        "ref AS sent_ref",
    )  # fmt: skip


def _tries(attempts: DataFrame) -> DataFrame:
    """`tries` of the workload to hand a message over to a server: `began`, `ended` (mono_ns)."""
    each = "struct(started_mono_ns AS began, ended_mono_ns AS ended)"
    return attempts.groupBy(*CLIENT).agg(F.expr(f"collect_list({each}) AS tries"))


def _owed(primaries: DataFrame) -> DataFrame:
    """`owed`: for whom a server answers for a message, by its key there."""
    return primaries.where("born IS NOT NULL").selectExpr(
        "run", "server AS owner", "database_id AS owner_database", "internal_id AS owner_id",
        "born.recipients AS owed",
    )  # fmt: skip


def _taken(tracking: DataFrame) -> DataFrame:
    """`took`: for whom a server says that it took a message."""
    rows = tracking.where(TAKEN).groupBy("run", F.col("server").alias("peer"), "message_id")
    return rows.agg(F.expr("flatten(collect_set(recipients)) AS took"))


def _peers(histories: DataFrame) -> DataFrame:
    """Whom a row may name: a server outside, with its `domain`, or one with a tracking log."""
    return histories.where("role IN ('mailbox', 'external')").selectExpr(
        "run", "server AS peer", "IF(role = 'external', lower(domain), NULL) AS domain",
        "kills", "blind", "timeout_ms", f"{VAGUE_MS} AS vague_ms",
    )  # fmt: skip


CLAIM = Claim("rows_fit", ("TL-1",), cases)
