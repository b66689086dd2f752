"""Everything that was read of one or many runs, as typed tables keyed by run.

The few base tables that everything else scans are settled here; nothing is derived.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame

from spark_eval.read import clocks, connectivity_log, csv_log, damage, plan, records, tracking_log
from spark_eval.read.contradictions.clocks import of_clocks
from spark_eval.read.contradictions.copies import of_copies
from spark_eval.read.contradictions.databases import of_databases
from spark_eval.read.contradictions.journals import of_journals
from spark_eval.read.contradictions.made_by_lab import made_by_lab
from spark_eval.read.contradictions.messages import of_messages
from spark_eval.read.contradictions.silent_servers import of_silent_servers
from spark_eval.read.contradictions.whole_files import of_whole_files
from spark_eval.read.source import Source
from spark_eval.spark.settled import on_demand, settled
from spark_eval.sql.unions import union_of

# times that a queue database has from its own server; others came with a message
KEPT_IN_QUEUES = {
    "entered_ms": "true",
    "delivered_ms": "queue <> 'shadow-safety-net'",
    "expires_ms": "queue <> 'shadow-safety-net'",
}


class Record:
    """The evidence. Each attribute is described by the function of `read` that makes it, when it is
    first asked for; times are lab time, whatever the clocks of the servers were.

    `source` is read in three scans: plans, JSON Lines, logs.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    @on_demand
    def plans(self) -> DataFrame:
        return settled(plan.parsed_plans(self.source.plans()))

    @on_demand
    def runs(self) -> DataFrame:
        return settled(plan.runs(self.plans))

    @on_demand
    def servers(self) -> DataFrame:
        return settled(plan.servers(self.plans))

    @on_demand
    def databases(self) -> DataFrame:
        return plan.databases(self.plans)

    @on_demand
    def database_copies(self) -> DataFrame:
        return plan.database_copies(self.plans)

    @on_demand
    def mailboxes(self) -> DataFrame:
        return plan.mailboxes(self.plans)

    @on_demand
    def planned_faults(self) -> DataFrame:
        return plan.planned_faults(self.plans)

    @on_demand
    def expected_promotions(self) -> DataFrame:
        return plan.expected_promotions(self.plans)

    @on_demand
    def expected_resubmissions(self) -> DataFrame:
        return plan.expected_resubmissions(self.plans)

    @on_demand
    def operations(self) -> DataFrame:
        return plan.operations(self.plans)

    @on_demand
    def strangers(self) -> DataFrame:
        return plan.strangers(self.plans)

    @on_demand
    def sound(self) -> DataFrame:
        return settled(records.with_soundness(self.source.records()))

    @on_demand
    def operation_record(self) -> DataFrame:
        return records.operation_record(self.sound)

    @on_demand
    def stranger_record(self) -> DataFrame:
        return records.stranger_record(self.sound)

    @on_demand
    def ledger(self) -> DataFrame:
        return settled(records.ledger(self.sound))

    @on_demand
    def fault_record(self) -> DataFrame:
        return records.fault_record(self.sound)

    @on_demand
    def rows(self) -> DataFrame:
        return settled(clocks.placed(csv_log.parse_rows(self.source.logs()), self.runs))

    @on_demand
    def tracking(self) -> DataFrame:
        return settled(tracking_log.tracking(self.rows))

    @on_demand
    def probes(self) -> DataFrame:
        return tracking_log.probes(self.rows)

    @on_demand
    def connectivity(self) -> DataFrame:
        return connectivity_log.rows(self.rows)

    @on_demand
    def contacts(self) -> DataFrame:
        return settled(connectivity_log.contacts(self.connectivity))

    @on_demand
    def openings(self) -> DataFrame:
        return connectivity_log.openings(self.connectivity)

    @on_demand
    def turns(self) -> DataFrame:
        return settled(connectivity_log.turns(self.connectivity))

    @on_demand
    def given_up(self) -> DataFrame:
        return connectivity_log.given_up(self.turns)

    @on_demand
    def sessions(self) -> DataFrame:
        return connectivity_log.sessions(self.turns)

    @on_demand
    def lifecycle(self) -> DataFrame:
        return settled(clocks.placed(records.lifecycle(self.sound), self.runs))

    @on_demand
    def lives(self) -> DataFrame:
        return settled(clocks.lives(self.lifecycle))

    @on_demand
    def queues(self) -> DataFrame:
        return settled(clocks.with_kept(records.queues(self.sound), self.lives, KEPT_IN_QUEUES))

    @on_demand
    def copies(self) -> DataFrame:
        standing = records.database_copies(self.sound)
        return clocks.with_kept(standing, self.lives, {"last_log_ms": "true"})

    @on_demand
    def files(self) -> DataFrame:
        return self.source.files()

    @on_demand
    def visible(self) -> DataFrame:
        copies = clocks.placed(records.visible_copies(self.sound), self.runs, "copied_ms")
        known = clocks.with_kept(copies, self.lives, {"copied_ms": "kind = 'mailbox'"})
        return settled(known.drop("server", "mono_ns", "off_ms"))

    @on_demand
    def damaged_lines(self) -> DataFrame:
        departed, made = self.source.departures(), made_by_lab(self.plans)
        found = [
            damage.damaged_lines(self.sound, self.rows),
            damage.misplaced_logs(self.servers, self.files, made),
            damage.damaged_plans(self.plans),
            *([] if departed is None else [damage.departed(departed)]),
            *self._contradictions(made),
        ]
        return settled(union_of(found))

    def _contradictions(self, made: DataFrame) -> Iterator[DataFrame]:
        yield of_messages(made, self.plans, self.ledger, self.tracking, self.queues, self.visible)
        yield of_journals(made, self.plans, self.sound)
        yield of_clocks(made, self.sound, self.ledger, self.rows, self.lifecycle)
        yield of_databases(made, self.tracking, self.lifecycle)
        yield of_silent_servers(made, self.ledger, self.tracking)
        yield of_copies(made, self.lifecycle, self.copies)
        yield of_whole_files(self.plans)

    @on_demand
    def clocks_off(self) -> DataFrame:
        return clocks.clocks_off(self.rows, self.lifecycle, self.runs)
