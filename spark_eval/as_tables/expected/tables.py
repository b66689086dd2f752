"""What happened and what should have: the derived tables that claims ask, keyed by run.

Each is named after the function that makes it and described there, and is made when it is first
asked for.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.expected import custodians as custody
from spark_eval.as_tables.expected import (
    deliveries,
    discard,
    dsns_given_up,
    placement,
    promotion,
    questions,
    senders,
    ways,
)
from spark_eval.as_tables.expected import retention as hold
from spark_eval.as_tables.expected import shadow_copies as copies
from spark_eval.as_tables.expected.resubmission import Resubmission, resubmission
from spark_eval.as_tables.transforms import (
    acknowledged,
    attempts,
    dsns,
    fault_windows,
    hops,
    pace,
    primaries,
    resubmissions,
    shadows,
    troubles,
)
from spark_eval.as_tables.transforms import contacts as talks
from spark_eval.as_tables.transforms import server_histories as histories
from spark_eval.read.record import Record
from spark_eval.read.scope import ANYTHING, Scope
from spark_eval.spark.settled import on_demand, settled


class Happened:
    """What the record says happened, before anything is expected of it."""

    def __init__(self, record: Record) -> None:
        self.record = record

    @on_demand
    def windows(self) -> DataFrame:
        record = self.record
        return settled(fault_windows.fault_windows(record.planned_faults, record.fault_record))

    @on_demand
    def troubles(self) -> DataFrame:
        return settled(troubles.troubles(self.windows, self.record.servers))

    @on_demand
    def histories(self) -> DataFrame:
        record = self.record
        return settled(
            histories.histories(
                record.servers, self.windows, record.tracking, record.lifecycle,
                record.damaged_lines, record.runs, record.lives,
            )
        )  # fmt: skip

    @on_demand
    def attempts(self) -> DataFrame:
        return settled(attempts.attempts(self.record.ledger))

    @on_demand
    def sent(self) -> DataFrame:
        return settled(attempts.sent_messages(self.record.ledger))

    @on_demand
    def outcomes(self) -> DataFrame:
        return settled(attempts.outcomes(self.attempts))

    @on_demand
    def pace(self) -> DataFrame:
        return settled(pace.pace(self.record.runs, self.attempts, self.record.rows))

    @on_demand
    def primaries(self) -> DataFrame:
        return settled(primaries.primaries(self.record.tracking))

    @on_demand
    def forks(self) -> DataFrame:
        return settled(primaries.forks(self.primaries, self.record.tracking, self.dsns))

    @on_demand
    def dsns(self) -> DataFrame:
        return dsns.dsns(self.record.tracking)

    @on_demand
    def acknowledged(self) -> DataFrame:
        return settled(acknowledged.acknowledged(self.outcomes, self.primaries))

    @on_demand
    def copies(self) -> DataFrame:
        record = self.record
        kept = shadows.kept_copies(record.tracking, record.queues)
        held = shadows.shadows(record.tracking, kept)
        met = talks.talks(record.contacts, self.windows, record.servers)
        return settled(copies.copies(held, met, self.histories))

    @on_demand
    def hops(self) -> DataFrame:
        return settled(hops.hops(self.record.tracking, self.record.servers))


class Tables(Happened):
    """What follows is what should have happened.

    `scope` is what the plans may hold: where nothing makes somebody ask a Safety Net there is no
    `resubmission` and nothing that `came_back`, and nothing is spent on them; no `crossings`, the
    hops between servers, where every plan has one boundary.
    """

    def __init__(self, record: Record, scope: Scope = ANYTHING) -> None:
        super().__init__(record)
        self.scope = scope

    @on_demand
    def resubmission(self) -> Resubmission | None:
        if not self.scope.may_resubmit:
            return None
        return resubmission(
            self.record, self.windows, self.histories, self.primaries, self.dsns, self.hops
        )

    @on_demand
    def came_back(self) -> DataFrame | None:
        if self.resubmission is None:
            return None
        given, requests = self.resubmission.given, self.resubmission.requests
        return settled(resubmissions.came_back(given, self.primaries, self.copies, requests))

    @property
    def crossings(self) -> DataFrame | None:
        return self.hops if self.scope.may_cross else None

    @on_demand
    def places(self) -> DataFrame:
        record = self.record
        return settled(deliveries.places(self.sent, record.mailboxes, record.servers, record.files))

    @on_demand
    def senders(self) -> DataFrame:
        failed = self.dsns.where(dsns.FAILED)
        notified = dsns.notified(failed, self.record.visible, dsns.SAYS_FAILED)
        given_up = self._given_up(failed)
        return settled(senders.senders(self.sent, self.places, notified, given_up))

    @property
    def delay_dsns_given_up(self) -> DataFrame:
        return self._given_up(self.dsns.where(dsns.OF_DELAY))

    def _given_up(self, made: DataFrame) -> DataFrame:
        given_up = dsns_given_up.dsns_given_up(
            made, self.record.tracking, self.places, self.ways, self.histories
        )
        if self.resubmission is None:
            return given_up
        return dsns_given_up.or_lost(given_up, made, self.resubmission.expected)

    @on_demand
    def ways(self) -> DataFrame:
        known, record = self.resubmission, self.record
        moved = None if known is None else ways.moves(known.transitions, record.lifecycle)
        redundant = ways.making_redundant(record.servers, record.runs)
        return settled(
            ways.ways(self.troubles, self.ends_of_ways, self.histories, redundant, moved)
        )

    @property
    def ends_of_ways(self) -> DataFrame:
        return ways.places(self.record.database_copies, self.record.servers)

    @on_demand
    def deliveries(self) -> DataFrame:
        record = self.record
        named = deliveries.deliveries(self.sent, self.outcomes, record.visible, self.places)
        held_by = custody.custodians(self.primaries, self.copies, self.histories)
        failures = deliveries.failures(record.tracking)
        judged = deliveries.judged(named, held_by, failures, self.senders)
        if self.resubmission is not None:
            judged = deliveries.not_kept_longer(judged, self.resubmission.expected)
        return settled(judged)

    @on_demand
    def discards(self) -> DataFrame:
        forgotten = primaries.forgotten(self.primaries, self.histories)
        return settled(discard.discards(self.copies, self.forks, self.deliveries, forgotten))

    @on_demand
    def questions(self) -> DataFrame:
        record = self.record
        return questions.questions(
            record.sessions,
            record.contacts,
            record.lifecycle,
            self.copies,
            record.probes,
            self.histories,
        )

    @on_demand
    def promotions(self) -> DataFrame:
        return settled(promotion.promotions(self.copies))

    @on_demand
    def stays(self) -> DataFrame:
        return hold.stays(self.primaries, self.forks, self.copies, self.histories)

    @on_demand
    def shadow_rules(self) -> DataFrame:
        servers = self.record.servers
        return settled(placement.rules(placement.candidates(servers), servers, self.record.runs))
