"""Lines that say two times of one moment, lab time and the host's monotonic clock, which differ.

Both come from one reading, so they agree to the millisecond; dates of servers' logs are held to no
less than the clock resolves. A server whose clock a fault was to set is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.next.read.contradictions.made_by_lab import ROUNDED_MS, askew, found_at
from spark_eval.next.read.damage import Damage
from spark_eval.next.read.names import Ref, server_of
from spark_eval.next.read.record import Record

TWO_TIMES = "a time that its monotonic clock denies"


def of_clocks(record: Record) -> Iterator[Damage]:
    for ref, at_ms, mono_ns in _of_lab(record):
        lab_ms = record.clock.lab_ms(mono_ns)
        if at_ms is not None and lab_ms is not None and abs(at_ms - lab_ms) > ROUNDED_MS:
            yield found_at(ref, TWO_TIMES)
    wrong = askew(record)
    for row in record.off:
        if server_of(row.ref.file) not in wrong:
            yield found_at(row.ref, TWO_TIMES)


def _of_lab(record: Record) -> Iterator[tuple[Ref, int | None, int | None]]:
    """What the lab and its workload wrote."""
    rows = record.rows
    for journal in (rows.faults, rows.operations, rows.strangers):
        for row in journal:
            yield row.ref, row.at_ms, row.mono_ns
    for sent in rows.sent:
        yield sent.ref, sent.submitted_ms, sent.mono_ns
    for attempt in rows.attempts:
        yield attempt.ref, attempt.started_ms, attempt.mono_ns
    for outcome in rows.outcomes:
        yield outcome.ref, outcome.ended_ms, outcome.mono_ns
