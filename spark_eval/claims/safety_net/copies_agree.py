"""copies_agree: at the end a passive copy of a mailbox database has what the active one has (TP-4).

Asks every passive copy that stands at the log at which the active copy stands: both store the same
messages, show them in the same mailboxes since the same times, and say so by the same digest. Asks
every other passive copy, where what logs take on their way (`expected.log_shipping`) is over since
the last log of the active one: it has replayed that log, or where it is lagged (ReplayLagTime)
received it.
Accuses a server of each copy that it gives up as failed: no fault of a lab harms the file of a
mailbox database.

The active copy is the one that recipients see: of those that are not passive, that of the latest
epoch. One that is still to be seeded is `copies_seeded`'s. Not asked whether a copy is behind:
while the way from it or one of its ends was in trouble, and for as long again and
ConnectionInactivityTimeOut after it; once a copy failed, until it is seeded; near a hole of the
log; where the time of the last log is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import VIOLATED, Case, asked
from spark_eval.cases.forms import agreement, bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.log_shipping import LogWay, log_ways
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import COPIES
from spark_eval.read.rows import CopyRow

REQUIRED = ("TP-4",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    if run.active_copies:
        yield from _given_up(run)
    for database in run.databases:
        copies = [row for row in run.copies if row.database == database]
        shown = (row for row in copies if row.state not in ("passive", "seeding"))
        active = max(shown, key=_latest, default=None)
        for row in copies:
            way = log_ways(run).get((active.server, row.server)) if active else None
            if active is not None and row.state == "passive" and way is not None:
                yield from _compared(row, active, way, run)


def _latest(row: CopyRow) -> tuple[int, str, int]:
    return row.epoch, row.server, row.last_log


def _given_up(run: Run) -> Iterator[Case]:
    for row in run.said("copy-failed"):
        detail = f"{row.server} gave its copy up at {stamp(row.at_ms)}: {row.reason or '?'}"
        subject = f"{row.database} on {row.server}"
        yield from asked(VIOLATED, subject, REQUIRED, detail, row.at_ms, row)


def _compared(row: CopyRow, active: CopyRow, way: LogWay, run: Run) -> Iterator[Case]:
    is_lagged = (row.database, row.server) in run.organisation.lagged
    has = row.received if is_lagged else row.last_log
    if (row.last_log, row.last_log_epoch) == (active.last_log, active.last_log_epoch):
        status = agreement(row.content_sha256, active.content_sha256)
        detail = (
            f"{row.server} stands at log {row.last_log} of {row.database} as {active.server} does, "
            f"with {row.messages} messages where that has {active.messages}, or with others"
        )
    else:
        is_excused = _may_be_behind(active.last_log_ms, way, run)
        # what a copy of another epoch has is none of these logs
        of_epoch = has if row.epoch == active.epoch else -1
        status = bound(of_epoch, active.last_log, None, is_excused=is_excused)
        detail = (
            f"{active.server} made log {active.last_log} of {row.database} at "
            f"{stamp(active.last_log_ms)}; at the end {row.server} has received {row.received}, "
            f"and replayed {row.last_log}"
        )
    yield from asked(
        status, f"{row.database} on {row.server}", REQUIRED, detail, run.end_ms, row, active,
        weight=active.last_log - has,
    )  # fmt: skip


def _may_be_behind(since_ms: int | None, way: LogWay, run: Run) -> bool:
    """At the end, without the last log of the active copy, which was made at `since_ms`."""
    end_ms, server = run.end_ms, way.server
    if not server.lives or since_ms is None or end_ms is None:
        return True
    return (
        since_ms + server.askew_ms + way.late_ms > end_ms
        or not server.shows(since_ms, end_ms)
        or touches(way.catching_up, since_ms, end_ms)
        or any(failed_ms >= since_ms for failed_ms in way.failed_ms)
    )


CLAIM = Claim("copies_agree", REQUIRED, needs=frozenset({COPIES}), of_run=_cases)
