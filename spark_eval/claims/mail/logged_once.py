"""logged_once: a tracking log says once what becomes once of a message (TL-1).

Asks each kind of row that a server wrote about a message in one
life: it names each recipient once, in however many rows, of an expansion once for each group. A
message is its internal id in one queue database, of which what comes again has another.

Not asked: DEFER, since mail may be put off again and again. Real servers have more kinds of rows
than F§1.4 lists: their tracking is not exact.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, Case, of_row
from spark_eval.cases.forms import agreement
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import TrackingRow, grouped

Kind = tuple[Key, str, str | None, int | None, str | None]
EXPANSIONS = ("EXPAND", "DUPLICATEEXPAND")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        rows = [row for row in each.tracking if row.event != "DEFER" and key_of(row) is not None]
        for kind, alike in grouped(rows, lambda row: _kind(row, run)).items():
            yield from _case(kind, alike)


def _kind(row: TrackingRow, run: Run) -> Kind:
    """The same event, from the same source, in one life of one server."""
    key, server = key_of(row), run.servers.get(row.server)
    assert key is not None
    began_ms = server.life_at(row.at_ms) if server else None
    group = row.reference if row.event in EXPANSIONS else None
    return key, row.event, row.source, began_ms, group


def _case(kind: Kind, rows: list[TrackingRow]) -> tuple[Case, ...]:
    key, event, source, _, _ = kind
    named = [recipient for row in rows for recipient in row.recipients or ("",)]
    status = agreement(len(set(named)), len(named))
    if status == HOLDS:
        return of_row(status, rows[0], ("TL-1",), "")
    first, *more = sorted(rows, key=lambda row: (row.at_ms, row.ref))
    detail = (
        f"{key.server} has {len(rows)} {event} rows from {source} of {key.internal_id}, from "
        f"{stamp(first.at_ms)} to {stamp([first, *more][-1].at_ms)}, which name a recipient twice"
    )
    return of_row(status, first, ("TL-1",), detail, *more[:1])


CLAIM = Claim("logged_once", ("TL-1",), needs=frozenset({EXACT_TRACKING}), of_message=_cases)
