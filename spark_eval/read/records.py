"""JSON Lines records as typed tables: ledger, faults, operations, strangers, lifecycle, queues,
copies, mailboxes, external.

A line is sound when it is one JSON object and no more, says what its kind must say, and its values
have the types of `schema.py`; anything else is damage, counted, unused. A number where a text
belongs is the text of it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval import schema
from spark_eval.read.names import (
    REF,
    SERVER_OF_LOG,
    lower_all,
    message_id,
    short_name,
    without_probes,
)
from spark_eval.sql.strict import DAMAGED, one_value, parsed

STEM = r"regexp_extract(file, '([^/]+)\\.jsonl$', 1)"
SENT = """CASE r.type
  WHEN 'message' THEN r.submitted_ms IS NOT NULL AND r.recipients IS NOT NULL
  WHEN 'attempt' THEN r.attempt IS NOT NULL AND r.server IS NOT NULL
  WHEN 'outcome' THEN r.attempt IS NOT NULL AND r.outcome IN ('ok', 'failed', 'unknown') END"""
HEARD = """r.stranger IS NOT NULL AND r.at_ms IS NOT NULL AND CASE r.type
  WHEN 'reply' THEN r.command IS NOT NULL AND r.reply IS NOT NULL
  WHEN 'end' THEN r.outcome IS NOT NULL END"""
# where there is a digest, it is one
DIGESTS = " AND ".join(
    f"coalesce(r.{name} RLIKE '^[0-9A-Fa-f]{{16,64}}$', true)"
    for name in ("header_sha256", "body_sha256")
)
# what the record does not say of a content is null
CONTENT = """struct(content_bytes AS bytes, lower(left(header_sha256, 16)) AS header,
  lower(left(body_sha256, 16)) AS body) AS content"""
SENDER = "lower(sender) AS sender"
# what a store holds though no promise keeps it; of such a thing its state says what is wrong
LEFT = "('left-body', 'left-fork', 'left-head', 'running-request')"
# a notification may outlive all that its server knew of the message
QUEUED = (
    "(r.message_id IS NOT NULL OR r.queue = 'discard' AND r.internal_id IS NOT NULL "
    f"OR r.queue IN {LEFT} AND r.state IS NOT NULL)"
)
NAMED = "r.message_id IS NOT NULL"
STANDS = (
    "r.database IS NOT NULL AND r.state IN ('active', 'dismounted', 'passive') "
    "AND r.epoch + r.last_log + r.last_log_epoch + r.received + r.messages IS NOT NULL "
    "AND r.content_sha256 RLIKE '^[0-9A-Fa-f]{16,64}$'"
)
# columns, and what a line must say: without it, it would be passed over as if it were not there
KINDS: dict[str, tuple[schema.Columns, str]] = {
    "ledger": (schema.LEDGER, f"{NAMED} AND {SENT} AND {DIGESTS}"),
    "faults": (schema.FAULTS, "r.fault IS NOT NULL AND r.phase IS NOT NULL"),
    "operations": (schema.OPERATIONS, "r.operation IS NOT NULL AND r.phase IS NOT NULL"),
    "strangers": (schema.STRANGERS, HEARD),
    "lifecycle": (schema.LIFECYCLE, "r.event IS NOT NULL"),
    "queues": (schema.QUEUES, f"r.queue IS NOT NULL AND {QUEUED}"),
    "copies": (schema.COPIES, STANDS),
    "mailbox": (schema.MAILBOXES, f"r.mailbox IS NOT NULL AND {NAMED} AND {DIGESTS}"),
    "external": (schema.EXTERNAL, f"r.recipients IS NOT NULL AND {NAMED} AND {DIGESTS}"),
}


def with_soundness(lines: DataFrame) -> DataFrame:
    """`kind` from the file's name, and `sound`."""
    kind = (
        "CASE WHEN file LIKE 'mailboxes/%' THEN 'mailbox' "
        f"WHEN file LIKE 'external/%' THEN 'external' ELSE {STEM} END"
    )
    fits = " ".join(f"WHEN '{name}' THEN {_fits(*known)}" for name, known in KINDS.items())
    sound = f"coalesce({one_value('text')} AND CASE kind {fits} END, false) AS sound"
    return lines.selectExpr("*", f"{kind} AS kind").selectExpr("*", sound)


def _fits(columns: schema.Columns, says: str) -> str:
    """SQL: the line has these types and says what it must. `exists` has it parsed once."""
    return f"exists(array({parsed('text', columns)}), r -> r.{DAMAGED} IS NULL AND {says})"


def _rows(records: DataFrame, kind: str, *more: str) -> DataFrame:
    """Values of one kind of record; `more` are SQL columns that replace those of the same name."""
    columns, _ = KINDS[kind]
    replaced = {column.rsplit(" AS ", 1)[1] for column in more}
    values = records.where(f"kind = '{kind}' AND sound").selectExpr(
        "run", "file", REF, f"from_json(text, '{schema.ddl(columns)}') AS record"
    )
    kept = [f"record.{name} AS {name}" for name, _ in columns if name not in replaced]
    return values.selectExpr("run", "file", "ref", *kept, *more)


def ledger(records: DataFrame) -> DataFrame:
    """Messages, attempts and outcomes together, distinguished by `type`."""
    named = (
        f"{message_id('record.message_id')} AS message_id",
        f"{short_name('record.server')} AS server",
    )
    return without_probes(_rows(records, "ledger", *named))


def fault_record(records: DataFrame) -> DataFrame:
    """One row a phase of a fault."""
    return _rows(records, "faults")


def operation_record(records: DataFrame) -> DataFrame:
    """One row a phase of an operation."""
    return _rows(records, "operations")


def stranger_record(records: DataFrame) -> DataFrame:
    """Replies that strangers heard and ends of their sessions, distinguished by `type`."""
    return _rows(records, "strangers", f"{short_name('record.server')} AS server")


def lifecycle(records: DataFrame) -> DataFrame:
    """What servers report of themselves: starts, databases and their copies, failed heartbeats,
    resubmit requests; by their dates. `peer` is the server that a row is about, where that is not
    the one that writes.
    """
    peer = f"{short_name('record.server')} AS peer"
    return _rows(records, "lifecycle", f"{SERVER_OF_LOG} AS server", peer)


def queues(records: DataFrame) -> DataFrame:
    """What the queue databases held at the end, one row an entry; by the servers' own clocks."""
    named = (f"{message_id('record.message_id')} AS message_id", f"{SERVER_OF_LOG} AS server")
    return without_probes(_rows(records, "queues", *named))


def database_copies(records: DataFrame) -> DataFrame:
    """Where copies of mailbox databases stood at the end, one row a copy; by their own clocks."""
    return _rows(records, "copies", f"{SERVER_OF_LOG} AS server")


def visible_copies(records: DataFrame) -> DataFrame:
    """One row a copy that a recipient sees, in a mailbox or at an external server.

    `kind` is `mailbox` or `external`; `copied_ms` is lab time of delivery, `dated_ms` the Date
    field; `sender` is that of its envelope (lower case, empty for the null sender); `content` is as
    in `CONTENT`, `reports` what a DSN says of whom. `server` kept it: its clock says `copied_ms`
    where there is no `mono_ns`.
    """
    boxes = _rows(records, "mailbox").selectExpr(
        "run", f"{message_id('message_id')} AS message_id", "lower(mailbox) AS recipient",
        "'mailbox' AS kind", "delivered_ms AS copied_ms", "submitted_ms AS dated_ms",
        f"{STEM} AS place", f"{short_name('server')} AS server",
        "CAST(NULL AS BIGINT) AS mono_ns", SENDER, CONTENT, "reports", "ref",
    )  # fmt: skip
    received = _rows(records, "external").selectExpr(
        "run", f"{message_id('message_id')} AS message_id",
        f"explode({lower_all('recipients')}) AS recipient", "'external' AS kind",
        "received_ms AS copied_ms", "CAST(NULL AS BIGINT) AS dated_ms", f"{STEM} AS place",
        f"lower({STEM}) AS server", "mono_ns", SENDER, CONTENT, "reports", "ref",
    )  # fmt: skip
    return without_probes(boxes.unionByName(received))
