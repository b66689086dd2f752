"""Everything that was read of one or many runs, as typed tables keyed by run.

The few base tables that everything else scans are cached here; nothing is derived.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from spark_eval.read import clocks, connectivity_log, csv_log, damage, plan, records, tracking_log
from spark_eval.read.source import Source
from spark_eval.transforms.settled import settled

# times that a queue database has from its own server; others came with a message
KEPT_IN_QUEUES = {
    "entered_ms": "true",
    "delivered_ms": "queue <> 'shadow-safety-net'",
    "expires_ms": "queue <> 'shadow-safety-net'",
}


@dataclass(frozen=True, slots=True)
class Record:
    """The evidence. Each attribute is described by the function of `read` that makes it; times are
    lab time, whatever the clocks of the servers were.
    """

    runs: DataFrame
    servers: DataFrame
    databases: DataFrame
    mailboxes: DataFrame
    planned_faults: DataFrame
    expected_promotions: DataFrame
    expected_resubmissions: DataFrame
    operations: DataFrame
    operation_record: DataFrame
    ledger: DataFrame
    fault_record: DataFrame
    tracking: DataFrame
    contacts: DataFrame
    lifecycle: DataFrame
    queues: DataFrame
    files: DataFrame
    visible: DataFrame
    damaged_lines: DataFrame
    lives: DataFrame
    clocks_off: DataFrame


def read_record(source: Source) -> Record:
    """Reads `source` in three scans: plans, JSON Lines, logs."""
    plans = settled(plan.parsed_plans(source.plans()))
    runs = settled(plan.runs(plans))
    servers = settled(plan.servers(plans))
    sound = settled(records.with_soundness(source.records()))
    rows = settled(clocks.placed(csv_log.parse_rows(source.logs()), runs))
    lifecycle = settled(clocks.placed(records.lifecycle(sound), runs))
    lives = settled(clocks.lives(lifecycle))
    files = source.files()
    damaged = damage.damaged_lines(sound, rows).unionByName(damage.missing_logs(servers, files))
    return Record(
        runs=runs,
        servers=servers,
        databases=plan.databases(plans),
        mailboxes=plan.mailboxes(plans),
        planned_faults=plan.planned_faults(plans),
        expected_promotions=plan.expected_promotions(plans),
        expected_resubmissions=plan.expected_resubmissions(plans),
        operations=plan.operations(plans),
        operation_record=records.operation_record(sound),
        ledger=settled(records.ledger(sound)),
        fault_record=records.fault_record(sound),
        tracking=settled(tracking_log.tracking(rows.where("file LIKE '%/MSGTRK%'"))),
        contacts=connectivity_log.contacts(rows.where("file LIKE '%/CONNECTLOG%'")),
        lifecycle=lifecycle,
        queues=settled(clocks.with_kept(records.queues(sound), lives, KEPT_IN_QUEUES)),
        files=files,
        visible=settled(_visible(sound, runs, lives)),
        damaged_lines=settled(damaged),
        lives=lives,
        clocks_off=clocks.clocks_off(rows, lifecycle, runs),
    )


def _visible(sound: DataFrame, runs: DataFrame, lives: DataFrame) -> DataFrame:
    copies = clocks.placed(records.visible_copies(sound), runs, "copied_ms")
    known = clocks.with_kept(copies, lives, {"copied_ms": "kind = 'mailbox'"})
    return known.drop("server", "mono_ns", "off_ms")
