"""The run that messages are judged in: what its record says beside them, and what they show of it
all together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from spark_eval.expected.mail.deliveries_by_copy import deliveries_by_copy, stored_by_copy
from spark_eval.expected.mail.waiting import waits
from spark_eval.expected.safety_net.failover_limits import Change_, Found, found_by
from spark_eval.expected.shadow.mail_of_pairs import mail_of_pairs, oldest_of_pairs
from spark_eval.histories.deliveries import DeliveriesByCopy, StoredByCopy, add_deliveries, in_order
from spark_eval.histories.log_sums import LogSums
from spark_eval.histories.mail_of_pairs import MailOfPairs
from spark_eval.histories.run import Run, Wait, run_of
from spark_eval.histories.stores import Stores
from spark_eval.histories.traffic import Traffic, owners_of, silences, traffic_of
from spark_eval.intervals.interval import Interval
from spark_eval.judging.parts import Part, Parts
from spark_eval.read.contradictions import contradictions
from spark_eval.read.damage import Damage
from spark_eval.read.misplaced import misplaced
from spark_eval.read.names import Ref
from spark_eval.read.record import Record


def run_of_parts(record: Record, departed: Sequence[Damage], sums: LogSums, parts: Parts) -> Run:
    """`record` need not hold what `parts` do. `departed`: files that are not as the lab left
    them.
    """
    first = parts.sum(_first, silences(sums.logs))
    if first.traffic.strange:
        first.traffic.add(parts.sum(_owners, first.traffic.strange))
    twice = [*contradictions(record, sums.logs), *first.damage]
    damage = [*record.damage, *departed, *misplaced(record.heading), *twice]
    run = run_of(replace(record, damage=damage), sums, first.traffic, first.stores)
    all_mail = parts.sum(_all_mail, run)
    run = replace(
        run,
        limits={change: each.limits() for change, each in all_mail.changes.items()},
        mail_of_pairs=all_mail.pairs,
        delivered=in_order(all_mail.delivered),
        stored=all_mail.stored,
        waits=all_mail.waits,
    )
    run.mail_of_pairs.add(parts.sum(_oldest, run))
    return run


@dataclass(slots=True)
class _First:
    """What mail shows before anything is known of its run."""

    traffic: Traffic
    stores: Stores
    damage: list[Damage]

    def add(self, other: _First) -> None:
        self.traffic.add(other.traffic)
        self.stores.add(other.stores)
        self.damage += other.damage


def _first(part: Part, silent: Sequence[Interval]) -> _First:
    found = _First(traffic_of(part.messages, silent), Stores(), list(part.damage))
    found.stores.add(part.stores)
    return found


def _owners(part: Part, strange: Collection[str]) -> Traffic:
    return owners_of(strange, part.messages)


@dataclass(slots=True)
class _AllMail:
    changes: dict[Change_, Found]
    pairs: MailOfPairs
    delivered: DeliveriesByCopy
    stored: StoredByCopy
    waits: dict[Ref, Wait]

    def add(self, other: _AllMail) -> None:
        for change, found in other.changes.items():
            self.changes.setdefault(change, Found()).add(found)
        self.pairs.add(other.pairs)
        add_deliveries(self.delivered, other.delivered)
        add_deliveries(self.stored, other.stored)
        for ref, wait in other.waits.items():
            self.waits[ref] = max(self.waits.get(ref, wait), wait)


def _all_mail(part: Part, run: Run) -> _AllMail:
    messages = part.messages
    return _AllMail(
        found_by(messages, run), mail_of_pairs(messages, run), deliveries_by_copy(messages, run),
        stored_by_copy(messages), waits(messages, run),
    )  # fmt: skip


def _oldest(part: Part, run: Run) -> MailOfPairs:
    return oldest_of_pairs(part.messages, run)
