"""content_intact: what a recipient sees is what was sent (TL-10).

Asks every visible copy of a message of the workload, and compares what its sender wrote down with
what was read where it is seen: size, header and body, but for the trace fields in front, and whom
the envelope names as its sender. Nothing excuses another text. A record that says nothing of the
content, on either side, or of the sender, leaves it unknown.
What nobody of the workload sent, such as a DSN, is not asked. Of strangers whose message has a CR
or LF that stands alone every reply to the dot is: a server that takes such a message can send it on
only as another one, so it refuses it (RFC 5321 section 2.3.8).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import joined
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

NO_BODY = "e3b0c44298fc1c14"  # SHA-256 of nothing
PARTS = {"bytes": "the size", "header": "the header", "body": "the body"}


def _is_other(part: str) -> str:
    """SQL: known on both sides, and not the same."""
    return f"coalesce(seen.{part} <> sent.{part}, false)"


def _is_missing(side: str) -> str:
    return " OR ".join(f"{side}.{part} IS NULL" for part in PARTS)


def _told(side: str) -> str:
    """SQL: `4096 bytes, header 0a1b…, body 2c3d…`; what is not known is a question mark."""
    body = f"IF({side}.body = '{NO_BODY}', 'no body', concat('body ', {side}.body))"
    known = f"concat({side}.bytes, ' bytes, header ', {side}.header, ', ', {body})"
    return f"coalesce({known}, concat('body ', {side}.body))"


_WHAT = ", ".join(f"IF({_is_other(part)}, '{name}', NULL)" for part, name in PARTS.items())
_BOTH = f"{{place}} has {{{_told('seen')}}}; sent were {{{_told('sent')}}}"
_JUDGED = cases_of(
    (f"{_is_other('body')} AND whose IS NOT NULL", violated(
        f"shows the text of {{whose.message_id}}: {_BOTH}")),
    (" OR ".join(map(_is_other, PARTS)), violated(
        f"not as it was sent in {{concat_ws(' and ', {_WHAT})}}: {_BOTH}")),
    ("coalesce(sender <> sent_by, false)", violated(
        "{place} has it from <{sender}>; it was sent by <{sent_by}>")),
    (_is_missing("sent"), unknown("the ledger has no digest of what was sent")),
    (_is_missing("seen"), unknown("{place} has no digest of what is seen there")),
    ("sender IS NULL", unknown("{place} does not say who sent it")),
    otherwise=holds(),
)  # fmt: skip

_ANSWERED = cases_of(
    ("reply RLIKE '^2'", violated(
        "{server} took a message with a CR or LF that stands alone: {reply}")),
    ("reply RLIKE '^5'", holds()),
    otherwise=not_asked(),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    seen = _seen(tables)
    return seen.unionByName(_taken(tables)) if tables.scope.has_strangers else seen


def _taken(tables: Tables) -> DataFrame:
    """Each answer to a message that could not be sent on as it is."""
    record = tables.record
    replies = record.stranger_record.where("type = 'reply' AND command = '.'").drop("server")
    kinds = record.strangers.where("kind = 'bare-line-ends'")
    judged = joined(replies, kinds, ["run", "stranger"]).selectExpr("*", f"{_ANSWERED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(stranger, ' (', kind, ')')",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref",
            requirements="array('TL-10')",
            weight="0",
        )
    )


def _seen(tables: Tables) -> DataFrame:
    """Each visible copy of a message of the workload."""
    sent = tables.sent.selectExpr(
        "run", "message_id", "content AS sent", "sender AS sent_by", "ref AS sent_ref"
    )
    seen = tables.record.visible.selectExpr(
        "run", "message_id", "recipient", "place", "copied_ms", "sender", "content AS seen",
        "content.body AS text", "ref",
    )  # fmt: skip
    known = joined(seen, sent, ["run", "message_id"]).join(_texts(sent), ["run", "text"], "left")
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' to ', recipient)",
            detail="j.reason",
            at_ms="copied_ms",
            refs="ref, sent_ref, IF(whose.message_id <> message_id, whose.sent_ref, NULL)",
            requirements="array('TL-10')",
            weight=f"abs(seen.bytes - sent.bytes) + 1e9 * CAST({_is_other('body')} AS INT)",
        )
    )


def _texts(sent: DataFrame) -> DataFrame:
    """`whose` message each text is; of messages that share one, any will do."""
    texts = sent.where(f"sent.body IS NOT NULL AND sent.body <> '{NO_BODY}'")
    return texts.groupBy("run", F.col("sent.body").alias("text")).agg(
        F.min(F.struct("message_id", "sent_ref")).alias("whose")
    )


CLAIM = Claim("content_intact", ("TL-10",), cases)
