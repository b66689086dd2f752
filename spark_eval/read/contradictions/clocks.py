"""Lines that say two times of one moment, lab time and the host's monotonic clock, which differ.

Both come from one reading, so they agree to the millisecond; dates of servers' logs are held to no
less than the clock resolves. A server whose clock a fault was to set is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.read.clocks import LabClock
from spark_eval.read.contradictions.made_by_lab import ROUNDED_MS, found_at
from spark_eval.read.damage import Damage
from spark_eval.read.heading import Heading
from spark_eval.read.mail import Mail
from spark_eval.read.names import Ref
from spark_eval.read.record import Record

TWO_TIMES = "a time that its monotonic clock denies"


def of_clocks(record: Record) -> Iterator[Damage]:
    """Of the lab's journals, and of servers' logs."""
    rows, clock = record.rows, record.heading.clock
    for journal in (rows.faults, rows.operations, rows.strangers):
        for row in journal:
            yield from _of_row(row.ref, row.at_ms, row.mono_ns, clock)
    yield from (found_at(ref, TWO_TIMES) for ref in record.off.denied)


def of_senders_clocks(mail: Mail, heading: Heading) -> Iterator[Damage]:
    clock = heading.clock
    for sent in mail.sent:
        yield from _of_row(sent.ref, sent.submitted_ms, sent.mono_ns, clock)
    for attempt in mail.attempts:
        yield from _of_row(attempt.ref, attempt.started_ms, attempt.mono_ns, clock)
    for outcome in mail.outcomes:
        yield from _of_row(outcome.ref, outcome.ended_ms, outcome.mono_ns, clock)


def _of_row(ref: Ref, at_ms: int | None, mono_ns: int | None, clock: LabClock) -> Iterator[Damage]:
    lab_ms = clock.lab_ms(mono_ns)
    if at_ms is not None and lab_ms is not None and abs(at_ms - lab_ms) > ROUNDED_MS:
        yield found_at(ref, TWO_TIMES)
