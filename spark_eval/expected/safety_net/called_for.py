"""Whether a failover, or an administrator, called for what a Safety Net gave back, or for a request
to give back (SN-4, SN-8): it belongs to a change of the active copy that lost something, or to what
was asked for, is for mailboxes of that database alone, and lies in the interval.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Judged
from spark_eval.cases.words import stamp
from spark_eval.expected.mail.addressees import resolved_at
from spark_eval.expected.moves.where_now import possibly_in
from spark_eval.expected.safety_net.asked_resubmissions import asked_of, of_administrator
from spark_eval.expected.safety_net.operations import Operation
from spark_eval.expected.safety_net.resubmissions import PRIMARY, Given
from spark_eval.expected.safety_net.safety_net_requests import (
    Asking,
    Request,
    askings,
    home_servers,
)
from spark_eval.histories.run import Run
from spark_eval.read.rows import grouped

ONLY_TOLD = "belongs to a failover of which only Active Manager tells"
LOSSLESS = "follows a switchover that lost nothing"
Failover = tuple[str | None, int | None]


class CopyBack(NamedTuple):
    """A copy that came back for one request: its rows, and recipients that have no mailbox in the
    database that was resubmitted to.
    """

    rows: tuple[Given, ...]
    strangers: tuple[str, ...]
    is_at_home: bool

    @property
    def first(self) -> Given:
        return self.rows[0]

    @property
    def most_often(self) -> int:
        """How often for one recipient. Each fork comes back by itself: that of those who have moved
        since went into another database.
        """
        named = Counter(who for each in self.rows for who in each.row.recipients or ())
        return max(named.values(), default=len(self.rows))


def copies_back(given: list[Given], run: Run) -> list[CopyBack]:
    """Of each copy and request."""
    return [_copy_back(rows, run) for rows in grouped(given, _copy).values()]


def _copy(each: Given) -> tuple[str, str | None, str | None, str | None, str | None]:
    row = each.row
    return row.server, row.database_id, row.context, row.copy_internal_id, row.safety_net


def _copy_back(rows: list[Given], run: Run) -> CopyBack:
    named = dict.fromkeys(who for each in rows for who in each.row.recipients or ())
    row = rows[0].row
    span = resolved_at(row, run)
    strangers = tuple(
        who for who in named if not possibly_in(row.destination or "", who, span, run)
    )
    return CopyBack(tuple(rows), strangers, is_at_home(row.server, row.destination, run))


def is_at_home(server: str, database: str | None, run: Run) -> bool:
    """Whether a server is in a boundary of the database."""
    return any(each.name == server for each in home_servers(database or "", run))


def of_copy(copy: CopyBack, run: Run) -> Judged:
    first, row, to = copy.first, copy.first.row, copy.first.row.destination
    named = f"{row.server}: {row.context or '?'}"
    if (times := copy.most_often) > 1:
        return VIOLATED, f"{named} resubmitted its copy {row.copy_internal_id} {times} times"
    ordered = of_administrator(row.context, run)
    if ordered is None and first.epoch is None:
        return VIOLATED, f"{named} names no failover, and no administrator asked for it"
    if to is not None and to != (first.database if ordered is None else ordered.database):
        return VIOLATED, f"{named} resubmitted to {to}"
    if copy.strangers:
        return VIOLATED, f"{named} resubmitted for {', '.join(copy.strangers)}, no mailbox of {to}"
    if not copy.is_at_home:
        return VIOLATED, f"{named} resubmitted to {to}, which is in another boundary"
    if ordered is not None:
        return _in_its_interval(first, ordered, named, run)
    failover = (first.database, first.epoch)
    asking = next((a for a in _of_failover(failover, run) if a.server.name == row.server), None)
    return _no_failover(named, failover, run) if asking is None else _inside(first, asking, named)


def _in_its_interval(given: Given, ordered: Operation, named: str, run: Run) -> Judged:
    """A Shadow Safety Net says when the last fork was delivered, and its first may lie before."""
    of, delivered_ms = (ordered.id, given.row.server), given.row.delivered_at_ms
    asked = next((a for a in asked_of(run) if (a.operation, a.server.name) == of), None)
    if asked is None or delivered_ms is None:
        return FITS
    is_late = given.row.safety_net == PRIMARY and delivered_ms >= asked.outside_from_ms
    if delivered_ms < asked.outside_before_ms or is_late:
        when = f"{stamp(delivered_ms)}; asked for: {ordered.planned.words}"
        return VIOLATED, f"{named} resubmitted what was delivered at {when}"
    return FITS


def _inside(given: Given, asking: Asking, named: str) -> Judged:
    if asking.is_lossless:
        return VIOLATED, f"{named} {LOSSLESS}"
    delivered_ms, to = given.row.delivered_at_ms, asking.change.after.server
    before_ms, after_ms = asking.outside_before_ms, asking.outside_after_ms
    if delivered_ms is None:
        return FITS
    delivered = f"delivered at {stamp(delivered_ms)}"
    if before_ms is not None and delivered_ms < before_ms:
        survived = f"that {to} replayed is not older than {stamp(asking.limits.survived_ms)}"
        return VIOLATED, f"{named} resubmitted what was {delivered}; the last log {survived}"
    if given.row.safety_net == PRIMARY and after_ms is not None and delivered_ms > after_ms:
        known = f"and knew of {to} at {stamp(after_ms - asking.server.askew_ms)}"
        return VIOLATED, f"{named} resubmitted what it {delivered}, {known}"
    return FITS


def of_request(request: Request, database: str | None, run: Run, *, is_known: bool) -> Judged:
    """For a database; `is_known`: by the word of the new copy, or of an administrator."""
    named, failover = f"{request.server}: {request.request_id}", (request.database, request.epoch)
    if database is not None and not is_at_home(request.server, database, run):
        return VIOLATED, f"{named} asks a server outside the boundary of {database}"
    if not is_known:
        return _no_failover(named, failover, run)
    if any(each.is_lossless for each in _of_failover(failover, run)):
        return VIOLATED, f"{named} {LOSSLESS}"
    return FITS


def _of_failover(failover: Failover, run: Run) -> list[Asking]:
    return [a for a in askings(run) if (a.change.database, a.change.after.epoch) == failover]


def _no_failover(named: str, failover: Failover, run: Run) -> Judged:
    told = {(row.database, row.epoch) for row in run.said("failover-mounted")}
    if failover in told:
        return UNKNOWN, f"{named} {ONLY_TOLD}"
    return VIOLATED, f"{named} belongs to no failover"
