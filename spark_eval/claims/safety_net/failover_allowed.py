"""failover_allowed: Active Manager mounts by itself no copy that it is not to (TP-6).

Asks each failover that nobody asked for, where the new copy was mounted, four questions. The
database is of the DAG of that Active Manager. The new copy is not a lagged one (ReplayLagTime). The
DatabaseCopyAutoActivationPolicy of the new copy's server permits it: it is not Blocked, and where
it is IntrasiteOnly both servers are of one site. And the new copy lacked no more logs than
AutoDatabaseMountDial allows of those that Active Manager surely knew of. The logs of the new copy
count as it was mounted, those of the copy before as they were `active_manager.need_ms` before

    that one was silent for Active Manager
    or, if that is earlier, the first trouble within that time of the way to it, or of either end.

Each delivery is a log (of a probe too), and so is each mount; Active Manager writes down what it
hears of them, so a restart is no excuse.

Not asked about logs: a copy that did answer; where another trouble lies before the first, or Active
Manager lost its database, or had no room for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import NOT_ASKED, Case, Status, asked, fits
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.disk import full
from spark_eval.expected.safety_net.own_failovers import OwnFailover, own_failovers
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for failover in own_failovers(run):
        yield from _case(failover, *fits(_other_dag(failover)), 0)
        yield from _case(failover, *fits(_lag(failover, run)), 0)
        yield from _case(failover, *fits(_policy(failover)), 0)
        yield from _case(failover, *_logs(failover))


def _case(
    failover: OwnFailover, status: Status | None, detail: str, lacking: int
) -> tuple[Case, ...]:
    return asked(
        status, f"{failover.name} on {failover.to.name}", ("TP-6",), detail, failover.decided.at_ms,
        failover.decided, failover.change.mounted, weight=lacking,
    )  # fmt: skip


def _said(failover: OwnFailover) -> str:
    return (
        f"{failover.manager.name} activated {failover.change.database} on {failover.to.name} by "
        f"itself at {stamp(failover.decided.at_ms)}"
    )


def _other_dag(failover: OwnFailover) -> str:
    """What does not fit, or the empty text."""
    manager, to = failover.manager, failover.to
    if manager.dag == to.dag:
        return ""
    return f"{_said(failover)}; it is Active Manager of {manager.dag}, that server is of {to.dag}"


def _lag(failover: OwnFailover, run: Run) -> str:
    """What does not fit, or the empty text."""
    database, server = failover.change.database, failover.to.name
    is_lagged = (database, server) in run.organisation.lagged
    return f"{_said(failover)}; that is a lagged copy" if is_lagged else ""


def _policy(failover: OwnFailover) -> str:
    """What does not fit, or the empty text."""
    policy, before = failover.to.auto_activation, failover.before
    said = f"{_said(failover)}; its DatabaseCopyAutoActivationPolicy is {policy}"
    if policy == "Blocked":
        return said
    if policy == "IntrasiteOnly" and before.site != failover.to.site:
        return f"{said}, and {before.name} is of another site"
    return ""


def _logs(failover: OwnFailover) -> tuple[Status | None, str, int]:
    """With how many logs the new copy lacked."""
    well_ms, had_new, cause = failover.last_well_ms, failover.had_new, failover.change.cause or ""
    if not cause.startswith("silent") or well_ms is None or had_new is None:
        return *NOT_ASKED, 0
    known_ms = well_ms - failover.need_ms
    had = failover.had(known_ms)
    if had is None or _may_not_know(failover, known_ms, well_ms):
        return *NOT_ASKED, 0
    detail = (
        f"{_said(failover)}; that copy had {had_new} logs, and the one on {failover.before.name} "
        f"had {had} at {stamp(known_ms)}"
    )
    lacking = had - had_new
    return bound(lacking, None, failover.to.mount_dial), detail, lacking


def _may_not_know(failover: OwnFailover, known_ms: int, well_ms: int) -> bool:
    troubles, manager = (each.at for each in failover.troubles), failover.manager
    return (
        len(manager.eras) > 1
        or touches(troubles, known_ms, well_ms - 1)
        or touches(full(manager), known_ms, failover.decided.at_ms or known_ms)
    )


CLAIM = Claim("failover_allowed", ("TP-6",), needs=frozenset({LIFECYCLE}), of_run=_cases)
