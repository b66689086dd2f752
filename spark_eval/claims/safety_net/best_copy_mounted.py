"""best_copy_mounted: Active Manager mounts by itself no copy while another one is better (TP-6).

Asks each failover that nobody asked for once for each copy of the database that was passed over.
Better is the copy with more logs, and of equals the one with the lower activation preference. What
the mounted copy had is in the row of its mount; the other one had at least the logs that were made

    `log_shipping.late_ms`, within which logs are shipped, and then
    `active_manager.need_ms`, within which a copy is asked what it has,

before the copy before was silent for Active Manager, or in trouble. Whether the mounted copy may
lack so many logs is the question of `failover_allowed`.

Not asked: a failed or a lagged copy, or one that DatabaseCopyAutoActivationPolicy forbids; where
the way for logs was in trouble while they had to be shipped, or Active Manager's way to the copy
from then on; where the copy before was mounted less than that before, or Active Manager has lost
its database.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.active_manager import is_permitted
from spark_eval.expected.safety_net.log_shipping import log_ways
from spark_eval.expected.safety_net.own_failovers import OwnFailover, own_failovers
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.histories.ways import MANAGEMENT
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for failover in own_failovers(run):
        for other in run.databases[failover.change.database].copies:
            if other not in (failover.to.name, failover.before.name):
                yield from _case(failover, other, run)


def _case(failover: OwnFailover, other: str, run: Run) -> Iterator[Case]:
    had, had_new = _had(failover, other, run), failover.had_new
    if had is not None and had_new is not None:
        status, detail = fits(_wrong(failover, other, had, had_new, run))
        yield from asked(
            status, f"{failover.name} on {failover.to.name}, not on {other}", ("TP-6",), detail,
            failover.decided.at_ms, failover.decided, failover.change.mounted, weight=had - had_new,
        )  # fmt: skip


def _had(failover: OwnFailover, other: str, run: Run) -> int | None:
    """How many logs the other copy surely had; None where it is not asked."""
    copy, way = run.servers.get(other), log_ways(run).get((failover.before.name, other))
    since_ms = failover.logs.since_ms
    if copy is None or way is None or failover.last_well_ms is None or since_ms is None:
        return None
    database = failover.change.database
    if (database, other) in run.organisation.lagged or not is_permitted(copy, failover.before):
        return None
    if _has_failed(failover, other, run) or len(failover.manager.eras) > 1:
        return None
    asked_ms = failover.last_well_ms - failover.need_ms
    shipped_ms = asked_ms - way.late_ms
    if since_ms > shipped_ms - way.late_ms:
        return None
    if touches(way.catching_up, shipped_ms, asked_ms):
        return None
    to_copy = run.ways.troubles(failover.manager.name, other, MANAGEMENT)
    if touches((each.at for each in to_copy), asked_ms, failover.decided.at_ms or asked_ms):
        return None
    return failover.had(shipped_ms)


def _has_failed(failover: OwnFailover, other: str, run: Run) -> bool:
    return any(
        row.database == failover.change.database
        and other in (row.server, row.peer)
        and (row.at_ms or 0) <= (failover.decided.at_ms or 0)
        for row in run.said("copy-failed")
    )


def _wrong(failover: OwnFailover, other: str, had: int, had_new: int, run: Run) -> str:
    """Why the other copy is better, or the empty text."""
    more = (
        f"{failover.manager.name} activated {failover.change.database} on {failover.to.name} by "
        f"itself at {stamp(failover.decided.at_ms)}; that copy had {had_new} logs, and the one on "
        f"{other} {had} or more"
    )
    if had > had_new:
        return more
    database = run.databases[failover.change.database]
    mine, theirs = database.preference(failover.to.name), database.preference(other)
    if had == had_new and mine is not None and theirs is not None and theirs < mine:
        return f"{more}, and is preferred"
    return ""


CLAIM = Claim("best_copy_mounted", ("TP-6",), needs=frozenset({LIFECYCLE}), of_run=_cases)
