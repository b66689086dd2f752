"""The whole story of a message across servers: every line of the record that speaks of it, in order
of time, with the faults that held meanwhile.

A line speaks of a message by its Message-Id, by the network message id that a server gave it, or by
referring to it, as a delivery status notification does. Nothing is judged and nothing left out.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.record import Record
from spark_eval.sentences import sentence

KEY = ["run", "message_id"]
COLUMNS = ("run", "message_id", "at_ms", "mono_ns", "place", "what", "ref")
IN_ORDER = ("at_ms", "mono_ns", "ref.file", "ref.line")
NAMED_IN = "(<[^<> ]+>)"
MOST_RECIPIENTS = 8

LEDGER = f"""CASE type
  WHEN 'message' THEN {
    sentence("{mail} from {sender} to {array_join(recipients, ', ')}, {size_bytes} bytes")
}
  WHEN 'attempt' THEN {sentence("attempt {attempt} at {server}")}
  ELSE {sentence("attempt {attempt} at {server}: {outcome}")}
    || coalesce(', ' || nullif(reply, ''), '') || coalesce(', ' || nullif(reason, ''), '') END"""
TRACKED = f"""concat_ws(', ',
  concat_ws(' ', source, event),
  IF(peer <> server, 'with ' || peer, NULL),
  'for ' || array_join(slice(recipients, 1, {MOST_RECIPIENTS}), ', ')
    || IF(size(recipients) > {MOST_RECIPIENTS}, ', …', ''),
  'primary ' || primary_server, 'shadow ' || shadow_server, recipient_status, context)"""
LISTED = sentence("at the end in the {queue} queue") + " || coalesce(', ' || state, '')"
COPY_EVENTS = "'failover-decided', 'database-mounted', 'database-dismounted', 'active-copy'"
FAULT = """concat_ws(' ', kind, cut_kind, coalesce(server, concat_ws(' ',
  links[0].`from`, '→', links[0].`to`,
  IF(size(links) > 1, format_string('and %d more links', size(links) - 1), NULL))))"""


def stories(record: Record, windows: DataFrame, wanted: DataFrame) -> DataFrame:
    """Columns of `result_schema.STORIES`. `wanted` has `run` and `message_id`, a few of them."""
    few = F.broadcast(wanted.select(*KEY).distinct())
    told = (
        _ledger(record)
        .join(few, KEY)
        .unionByName(_tracked(record, few))
        .unionByName(_visible(record).join(few, KEY))
        .unionByName(_listed(record).join(few, KEY))
    )
    return told.unionByName(_meanwhile(record, windows, told))


def named_in(examples: DataFrame) -> DataFrame:
    """`run`, `message_id` of the messages that counter-examples are about."""
    named = examples.selectExpr("run", f"regexp_extract(subject, '{NAMED_IN}', 1) AS message_id")
    return named.where("message_id <> ''")


def _ledger(record: Record) -> DataFrame:
    at = "coalesce(submitted_ms, started_ms, ended_ms) AS at_ms"
    named = record.ledger.selectExpr(
        *KEY, at, "mono_ns", "'workload' AS place", f"{LEDGER} AS what", "ref"
    )
    return named.select(*COLUMNS)


def _tracked(record: Record, wanted: DataFrame) -> DataFrame:
    """Rows of the message itself, of its network message ids, and of those that refer to it."""
    rows = record.tracking
    networks = (
        rows.where("network_message_id IS NOT NULL")
        .join(wanted, KEY)
        .selectExpr("run", "network_message_id AS network", "message_id AS wanted")
        .distinct()
    )
    own = wanted.selectExpr("run", "message_id AS wanted")
    by_id = rows.join(own, "run").where("message_id = wanted OR contains(reference, wanted)")
    by_network = rows.where("message_id IS NULL").join(networks, "run")
    both = by_id.unionByName(
        by_network.where("network_message_id = network").drop("network"), allowMissingColumns=True
    )
    return both.selectExpr(
        "run", "wanted AS message_id", "at_ms", "mono_ns", "server AS place",
        f"{TRACKED} AS what", "ref",
    )  # fmt: skip


def _visible(record: Record) -> DataFrame:
    seen = "IF(kind = 'mailbox', 'visible in the mailbox of ', 'received for ')"
    return record.visible.selectExpr(
        *KEY, "copied_ms AS at_ms", "CAST(NULL AS BIGINT) AS mono_ns", "place",
        f"{seen} || recipient AS what", "ref",
    )  # fmt: skip


def _listed(record: Record) -> DataFrame:
    ended = record.queues.join(record.runs.select("run", "end_ms"), "run")
    return ended.selectExpr(
        *KEY, "end_ms AS at_ms", "CAST(NULL AS BIGINT) AS mono_ns", "server AS place",
        f"{LISTED} AS what", "ref",
    )  # fmt: skip


def _meanwhile(record: Record, windows: DataFrame, told: DataFrame) -> DataFrame:
    """Faults, operations and failovers between the first and the last line of each message."""
    lives = told.groupBy(*KEY).agg(F.min("at_ms").alias("from_ms"), F.max("at_ms").alias("to_ms"))
    return _faults(record, windows, lives).unionByName(_failovers(record, lives))


def _failovers(record: Record, lives: DataFrame) -> DataFrame:
    """What was asked of Active Manager, and which copies were activated and known."""
    planned = record.operations.selectExpr("run", "operation", "kind", "`database`", "`to`")
    asked = (
        record.operation_record.where("phase = 'applied'")
        .join(planned, ["run", "operation"])
        .selectExpr(
            "run", "at_ms", "mono_ns", "operation AS place",
            "concat_ws(' ', kind, 'of', `database`, 'to ' || `to`, 'asked for') AS what", "ref",
        )
    )  # fmt: skip
    activated = record.lifecycle.where(f"epoch > 0 AND event IN ({COPY_EVENTS})").selectExpr(
        "run", "at_ms", "mono_ns", "server AS place",
        "concat(event, ' ', `database`, ', epoch ', epoch) AS what", "ref",
    )  # fmt: skip
    within = "at_ms BETWEEN from_ms AND to_ms"
    return asked.unionByName(activated).join(lives, "run").where(within).select(*COLUMNS)


def _faults(record: Record, windows: DataFrame, lives: DataFrame) -> DataFrame:
    """When each fault that held then began and was over."""
    met = windows.join(lives, "run").where(
        "coalesce(intended_ms, applied_ms) <= to_ms AND over_ms >= from_ms"
    )
    phases = record.fault_record.where("phase IN ('applied', 'healed')").selectExpr(
        "run", "fault", "phase", "at_ms", "mono_ns", "ref"
    )
    return met.join(phases, ["run", "fault"]).selectExpr(
        *KEY, "at_ms", "mono_ns", "fault AS place", f"concat({FAULT}, ': ', phase) AS what", "ref"
    )
