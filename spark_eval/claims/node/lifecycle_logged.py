"""lifecycle_logged: the lifecycle log of a server has each start and each stop in good order
(TL-4).

Asks every `started` of a server that keeps anything, Active Manager among them: before it, in the
same life, a row says which database was opened or created, and it is the one that the start names.
A life begins with `configured`, or where a server writes none, after the start before it. Asks
every stop and every restart of the plan that is shown to have ended a process: before the server is
back its log says `stopped`, and nothing more of that life.

Not asked: a stop while another fault had the server away; what is near a kill or a hole of the log,
or while a disk was full; servers outside, and those without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.disk import is_lost
from spark_eval.histories.faults import Fault
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

OPENS = ("database-created", "database-opened")
PARTS_LIVES = ("configured", "started")
BEGINS_A_LIFE = ("configured", "configuration-refused", "database-opened")


def _cases(server: Server, run: Run) -> Iterator[Case]:
    # a date may jump between two rows; the monotonic clock does not
    rows = sorted(
        (row for row in run.lifecycle if row.server == server.name),
        key=lambda row: (row.mono_ns or 0, row.ref),
    )
    for place, row in enumerate(rows):
        if row.event == "started" and not server.is_front_end:
            yield from _start(server, row, rows[:place])
    if server.lives:
        for fault in run.faults:
            is_stop = fault.kind in ("stop", "restart") and fault.took_effect
            if is_stop and fault.server == server.name:
                yield from _stop(server, fault, rows)


def _start(server: Server, row: LifecycleRow, before: list[LifecycleRow]) -> Iterator[Case]:
    opened, parted = _last(before, OPENS), _last(before, PARTS_LIVES)
    opened_row = before[opened] if opened is not None else None
    since_ms, at_ms = (before[parted].at_ms or 0) if parted is not None else 0, row.at_ms or 0
    is_in_this_life = opened is not None and (parted is None or opened > parted)
    named = opened_row.database_id if opened_row else None
    holds = is_in_this_life and named is not None and named == row.database_id
    if not holds and is_lost(server, since_ms, at_ms):
        return
    started = f"{server.name} started at {stamp(at_ms)} with {row.database_id or 'no database'}"
    detail = f"{started}; by its lifecycle log it had opened {named}"
    if not is_in_this_life:
        detail = f"{started}; its lifecycle log does not say before which one it opened"
    yield from asked(
        HOLDS if holds else VIOLATED, server.name, ("TL-4",), detail, at_ms, opened_row, row
    )


def _last(rows: list[LifecycleRow], events: tuple[str, ...]) -> int | None:
    places = (place for place, row in enumerate(rows) if row.event in events)
    return max(places, default=None)


def _stop(server: Server, fault: Fault, rows: list[LifecycleRow]) -> Iterator[Case]:
    """That a fault was applied says that the process was asked to end, and may have work left; it
    has ended when its server is back.
    """
    if fault.outage is None:
        return
    possible = fault.outage.possible
    from_ms, to_ms = possible.lo - server.slack_ms, possible.hi
    others = (
        down.outage.possible
        for down in server.downs
        if (down.kind, down.outage.possible.lo) != (fault.kind, possible.lo)
    )
    if touches(others, from_ms, to_ms) or not server.shows(from_ms, to_ms):
        return
    stops = [
        place
        for place, row in enumerate(rows)
        if row.event == "stopped" and row.at_ms is not None and from_ms <= row.at_ms <= to_ms
    ]
    ended = min(stops, key=lambda place: rows[place].at_ms or 0, default=None)
    last = [row for row in rows if row.at_ms is not None and row.at_ms <= possible.lo][-1:]
    detail = ""
    if ended is None:
        detail = (
            f"{server.name} was asked to stop at {stamp(possible.lo)} and ended; its lifecycle log "
            "does not say that it stopped"
        )
    elif ended + 1 < len(rows) and rows[ended + 1].event not in BEGINS_A_LIFE:
        said, when = rows[ended + 1].event, stamp(rows[ended].at_ms)
        detail = f"{server.name} stopped at {when}; then its lifecycle log says {said}"
    status, detail = fits(detail)
    yield from asked(
        status, f"{server.name}, {fault.id}", ("TL-4",), detail, possible.lo,
        rows[ended].ref if ended is not None else (last[0].ref if last else None),
    )  # fmt: skip


CLAIM = Claim("lifecycle_logged", ("TL-4",), needs=frozenset({LIFECYCLE}), of_server=_cases)
