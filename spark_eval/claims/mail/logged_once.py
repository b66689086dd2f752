"""logged_once: a tracking log says once what becomes once of a message (TL-1).

Asks each kind of row that a server wrote about a message in one
life: it names each recipient once, in however many rows. A message is its internal id in one queue
database, of which what comes again has another.

Not asked: DEFER, since mail may be put off again and again. Real servers have more kinds of rows
than F§1.4 lists: their tracking is not exact.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import TrackingRow

Kind = tuple[Key, str, str | None, int | None]


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        for kind, rows in _by_kind(each, run).items():
            yield _case(kind, rows)


def _by_kind(message: Message, run: Run) -> dict[Kind, list[TrackingRow]]:
    """The same event, from the same source, in one life of one server."""
    found: dict[Kind, list[TrackingRow]] = {}
    for row in message.tracking:
        if row.event != "DEFER" and (key := key_of(row)) is not None:
            server = run.servers.get(row.server)
            began_ms = server.life_at(row.at_ms) if server else None
            found.setdefault((key, row.event, row.source, began_ms), []).append(row)
    return found


def _case(kind: Kind, rows: list[TrackingRow]) -> Case:
    key, event, source, _ = kind
    named = [recipient for row in rows for recipient in row.recipients or ("",)]
    subject = f"{rows[0].message_id} at {key.server}"
    if len(set(named)) == len(named):
        return Case(HOLDS, subject, ("TL-1",), server=key.server)
    rows = sorted(rows, key=lambda row: (row.at_ms, row.ref))
    detail = (
        f"{key.server} has {len(rows)} {event} rows from {source} of {key.internal_id}, from "
        f"{stamp(rows[0].at_ms)} to {stamp(rows[-1].at_ms)}, which name a recipient twice"
    )
    shown = tuple(row.ref for row in rows[:2])
    return Case(VIOLATED, subject, ("TL-1",), detail, rows[0].at_ms, shown, server=key.server)


CLAIM = Claim("logged_once", ("TL-1",), needs=frozenset({EXACT_TRACKING}), of_message=_cases)
