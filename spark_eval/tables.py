"""What happened and what should have: the derived tables that claims ask, keyed by run.

Each is named after the function that makes it and described there. `build_tables` plans; what is
settled is computed on first use.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from pyspark.sql import DataFrame

from spark_eval.expected import copies, custody, deliveries, discard, hold, placement, promotion
from spark_eval.expected.resubmission import Resubmission, resubmission
from spark_eval.read.record import Record
from spark_eval.transforms import (
    acknowledged,
    attempts,
    fault_windows,
    histories,
    hops,
    primaries,
    shadows,
    talks,
)
from spark_eval.transforms.settled import settled


@dataclass(frozen=True, slots=True)
class Happened:
    """What the record says happened, before anything is expected of it."""

    windows: DataFrame
    histories: DataFrame
    attempts: DataFrame
    sent: DataFrame
    outcomes: DataFrame
    primaries: DataFrame
    forks: DataFrame
    acknowledged: DataFrame
    copies: DataFrame


@dataclass(frozen=True, slots=True)
class Tables(Happened):
    """`record` is what was read; what follows is what should have happened."""

    record: Record
    deliveries: DataFrame
    discards: DataFrame
    promotions: DataFrame
    stays: DataFrame
    shadow_rules: DataFrame
    resubmission: Resubmission | None
    crossings: DataFrame | None


def build_tables(record: Record, *, may_resubmit: bool = True, may_cross: bool = True) -> Tables:
    """Derives every table from the record; what several need is settled, so computed once.

    `may_resubmit` is false where no plan holds anything that makes somebody ask a Safety Net: then
    there is no `resubmission`, and nothing is spent on it; `may_cross` and `crossings`, which are
    the hops between servers, likewise where every plan has one boundary.
    """
    happened = what_happened(record)
    between = settled(hops.hops(record.tracking, record.servers))
    known = (
        resubmission(record, happened.windows, happened.histories, happened.primaries, between)
        if may_resubmit
        else None
    )
    delivered = _deliveries(record, happened, known)
    return Tables(
        **{field.name: getattr(happened, field.name) for field in fields(happened)},
        record=record,
        deliveries=delivered,
        discards=settled(discard.discards(happened.copies, happened.forks, delivered)),
        promotions=settled(promotion.promotions(happened.copies)),
        stays=hold.stays(happened.primaries, happened.forks, happened.copies, happened.histories),
        shadow_rules=settled(
            placement.rules(placement.candidates(record.servers), record.servers, record.runs)
        ),
        resubmission=known,
        crossings=between if may_cross else None,
    )


def what_happened(record: Record) -> Happened:
    """From rows of logs to messages, copies, faults and the history of each server."""
    windows = settled(fault_windows.fault_windows(record.planned_faults, record.fault_record))
    known = settled(
        histories.histories(
            record.servers, windows, record.tracking, record.lifecycle, record.damaged_lines,
            record.runs, record.lives,
        )
    )  # fmt: skip
    tried = settled(attempts.attempts(record.ledger))
    ended = settled(attempts.outcomes(tried))
    owned = settled(primaries.primaries(record.tracking))
    held = shadows.shadows(record.tracking, shadows.kept_copies(record.tracking, record.queues))
    return Happened(
        windows=windows,
        histories=known,
        attempts=tried,
        sent=settled(attempts.sent_messages(record.ledger)),
        outcomes=ended,
        primaries=owned,
        forks=settled(primaries.forks(owned, record.tracking)),
        acknowledged=settled(acknowledged.acknowledged(ended, owned)),
        copies=settled(copies.copies(held, talks.talks(record.contacts, windows), known)),
    )


def _deliveries(record: Record, happened: Happened, known: Resubmission | None) -> DataFrame:
    places = deliveries.places(happened.sent, record.mailboxes, record.servers, record.files)
    named = deliveries.deliveries(happened.sent, happened.outcomes, record.visible, places)
    held_by = custody.custodians(happened.primaries, happened.copies, happened.histories)
    judged = deliveries.judged(named, held_by, record.tracking)
    if known is not None:
        judged = deliveries.not_kept_longer(judged, known.expected)
    return settled(judged)
