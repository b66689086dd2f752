"""JSON Lines records as typed tables: ledger, faults, operations, lifecycle, queues, mailboxes,
external.

A line that is no JSON object is not used and is counted as damage. A line whose values have another
type than `schema.py` says reads as null in that value.
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

STEM = r"regexp_extract(file, '([^/]+)\\.jsonl$', 1)"


def with_soundness(lines: DataFrame) -> DataFrame:
    """`kind` from the file's name, and `sound`: the line is a whole JSON object."""
    kind = (
        "CASE WHEN file LIKE 'mailboxes/%' THEN 'mailbox' "
        f"WHEN file LIKE 'external/%' THEN 'external' ELSE {STEM} END"
    )
    sound = "json_object_keys(text) IS NOT NULL AS sound"
    return lines.selectExpr("*", f"{kind} AS kind", sound)


def _rows(records: DataFrame, kind: str, columns: schema.Columns, *more: str) -> DataFrame:
    """Values of one kind of record; `more` are SQL columns that replace those of the same name."""
    replaced = {column.rsplit(" AS ", 1)[1] for column in more}
    parsed = records.where(f"kind = '{kind}' AND sound").selectExpr(
        "run", "file", REF, f"from_json(text, '{schema.ddl(columns)}') AS record"
    )
    kept = [f"record.{name} AS {name}" for name, _ in columns if name not in replaced]
    return parsed.selectExpr("run", "file", "ref", *kept, *more)


def ledger(records: DataFrame) -> DataFrame:
    """Messages, attempts and outcomes together, told apart by `type`."""
    named = (
        f"{message_id('record.message_id')} AS message_id",
        f"{short_name('record.server')} AS server",
    )
    return without_probes(_rows(records, "ledger", schema.LEDGER, *named))


def fault_record(records: DataFrame) -> DataFrame:
    """One row a phase of a fault."""
    return _rows(records, "faults", schema.FAULTS)


def operation_record(records: DataFrame) -> DataFrame:
    """One row a phase of an operation."""
    return _rows(records, "operations", schema.OPERATIONS)


def lifecycle(records: DataFrame) -> DataFrame:
    """What servers tell of themselves: starts, databases and their copies, failed heartbeats,
    resubmit requests; by their dates.
    """
    return _rows(records, "lifecycle", schema.LIFECYCLE, f"{SERVER_OF_LOG} AS server")


def queues(records: DataFrame) -> DataFrame:
    """What the queue databases held at the end, one row an entry; by the servers' own clocks."""
    named = (f"{message_id('record.message_id')} AS message_id", f"{SERVER_OF_LOG} AS server")
    return without_probes(_rows(records, "queues", schema.QUEUES, *named))


def visible_copies(records: DataFrame) -> DataFrame:
    """One row a copy that a recipient sees, in a mailbox or at an external server.

    `kind` is `mailbox` or `external`; `copied_ms` is lab time of delivery, `dated_ms` the Date
    field. `server` kept it, and its clock says `copied_ms` where there is no `mono_ns`.
    """
    boxes = _rows(records, "mailbox", schema.MAILBOXES).selectExpr(
        "run", f"{message_id('message_id')} AS message_id", "lower(mailbox) AS recipient",
        "'mailbox' AS kind", "delivered_ms AS copied_ms", "submitted_ms AS dated_ms",
        f"{STEM} AS place", f"{short_name('server')} AS server",
        "CAST(NULL AS BIGINT) AS mono_ns", "ref",
    )  # fmt: skip
    received = _rows(records, "external", schema.EXTERNAL).selectExpr(
        "run", f"{message_id('message_id')} AS message_id",
        f"explode({lower_all('recipients')}) AS recipient", "'external' AS kind",
        "received_ms AS copied_ms", "CAST(NULL AS BIGINT) AS dated_ms", f"{STEM} AS place",
        f"lower({STEM}) AS server", "mono_ns", "ref",
    )  # fmt: skip
    return without_probes(boxes.unionByName(received))
