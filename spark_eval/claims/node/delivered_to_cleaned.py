"""delivered_to_cleaned: every copy of a mailbox database removes from DeliveredTo what no window
covers any more, each `Background Cleanup`, and nothing else (DD-5).

Asks each copy whose interval the plan says: an interval after the start of its server, or after the
clean-up before, its lifecycle log says the next one, neither later nor earlier. Asks after each
how many entries are left: no more than its servers logged deliveries within `Track Duplicates`
before it; and of a database with one copy, no fewer than those that were not given again.

Not asked: what an absence of the server, a full disk, a hole of the log, a clock that was wrong, or
a clean-up that failed lies in; how many are left, where a server of the database may have logged
less than it stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.deliveries_by_copy import stored_by_copy
from spark_eval.expected.node.disk import is_lost
from spark_eval.expected.totals import Totals
from spark_eval.histories.deliveries import Stored
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.database import Database
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE, TRACKING
from spark_eval.read.rows import LifecycleRow

CLEANED = "delivered-to-cleaned-up"
_BEGINS = ("started", CLEANED)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    probes = stored_by_copy([Message("", tracking=list(run.probes))])
    for database in run.databases.values():
        places = {name: (database.name, name) for name in database.copies}
        stored = {
            name: [*run.stored.get(place, ()), *probes.get(place, ())]
            for name, place in places.items()
        }
        for name in database.copies:
            server = run.servers.get(name)
            if server is not None and server.lives and database.cleanup_ms is not None:
                rows = list(_rows(server, database.name, run))
                yield from _paced(server, database, database.cleanup_ms, rows, run)
                for row in rows:
                    if row.event == CLEANED:
                        yield from _left(server, database, row, stored, run)


def _rows(server: Server, database: str, run: Run) -> Iterator[LifecycleRow]:
    """Its starts and its clean-ups of that database, in order."""
    rows = (row for event in _BEGINS for row in run.said(event) if row.server == server.name)
    for row in sorted(rows, key=lambda row: (row.mono_ns or 0, row.ref)):
        if row.at_ms is not None and row.database in (None, database):
            yield row


def _paced(
    server: Server, database: Database, interval_ms: int, rows: Sequence[LifecycleRow], run: Run
) -> Iterator[Case]:
    late_ms = slack_ms(run) + server.slack_ms
    failed = [
        row.at_ms or 0
        for row in run.said("cleanup-failed")
        if (row.server, row.database) == (server.name, database.name)
    ]
    for before, after in pairwise([*rows, None]):
        since_ms = before.at_ms or 0 if before else 0
        due_ms = since_ms + interval_ms
        came_ms = after.at_ms if after else run.end_ms
        if before is None or came_ms is None or (after and after.event != CLEANED):
            continue
        to_ms = max(due_ms + late_ms, came_ms)
        if after is None and due_ms + late_ms > came_ms:
            continue
        is_excused = (
            is_lost(server, since_ms, to_ms)
            or touches(server.away(), since_ms, to_ms)
            or touches(run.wrong_clocks.get(server.name, ()), since_ms, to_ms)
            or any(since_ms <= each <= to_ms for each in failed)
        )
        detail = (
            f"{server.name} began to wait for a clean-up of DeliveredTo of {database.name} at "
            f"{stamp(since_ms)}, due at {stamp(due_ms)}; "
            + (f"it came at {stamp(came_ms)}" if after else f"none came by {stamp(came_ms)}")
        )
        yield from asked(
            bound(came_ms, due_ms - late_ms, due_ms + late_ms, is_excused=is_excused),
            f"{database.name} on {server.name}", ("DD-5",), detail, due_ms, before, after,
            weight=abs(came_ms - due_ms), server=server.name,
        )  # fmt: skip


def _left(
    server: Server, database: Database, row: LifecycleRow, stored: dict[str, list[Stored]], run: Run
) -> Iterator[Case]:
    window_ms, at_ms = database.window_ms, row.at_ms or 0
    if window_ms is None or row.left is None:
        return
    near_ms = slack_ms(run) + server.slack_ms + server.askew_ms
    from_ms, to_ms = at_ms - window_ms - near_ms, at_ms + near_ms
    least = None
    if len(database.copies) == 1:
        least = sum(_is_left(each, at_ms, window_ms, near_ms) for each in stored[server.name])
    most = sum(from_ms <= each.at_ms <= to_ms for here in stored.values() for each in here)
    detail = (
        f"{server.name} says {row.left} entries are left in DeliveredTo of {database.name} at "
        f"{stamp(at_ms)}; by deliveries within its window it is "
        f"{most if least is None else f'{least} to {most}'}"
    )
    yield from asked(
        bound(row.left, least, most, is_excused=_may_differ(database, from_ms, to_ms, run)),
        f"{database.name} on {server.name}", ("DD-5",), detail, at_ms, row,
        weight=max(row.left - most, (least or 0) - row.left), server=server.name,
    )  # fmt: skip


def _is_left(each: Stored, at_ms: int, window_ms: int, near_ms: int) -> bool:
    """Surely: what is given again later has one entry."""
    is_in = at_ms - window_ms + near_ms <= each.at_ms <= at_ms - near_ms
    return is_in and (each.again_ms is None or each.again_ms > at_ms + near_ms)


def _may_differ(database: Database, from_ms: int, to_ms: int, run: Run) -> bool:
    return any(
        server is None
        or is_lost(server, from_ms, to_ms)
        or touches(run.wrong_clocks.get(name, ()), 0, to_ms)
        for name, server in ((name, run.servers.get(name)) for name in database.copies)
    )


CLAIM = Claim(
    "delivered_to_cleaned", ("DD-5",), needs=frozenset({LIFECYCLE, TRACKING}), of_run=_cases
)
