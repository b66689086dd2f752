"""failover_allowed: Active Manager mounts by itself no copy that it is not to (TP-6).

Asks each failover that nobody asked for, where the new copy was mounted, two questions. The
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

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.own_failovers import OwnFailover, own_failovers
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LIFECYCLE


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for failover in own_failovers(run):
        yield _case(failover, *_policy(failover), 0)
        if (judged := _logs(failover)) is not None:
            yield _case(failover, *judged)


def _case(failover: OwnFailover, status: Status, detail: str, lacking: int) -> Case:
    return Case(
        status, f"{failover.name} on {failover.to.name}", ("TP-6",), detail,
        failover.decided.at_ms, (failover.decided.ref, failover.change.mounted.ref), lacking,
    )  # fmt: skip


def _said(failover: OwnFailover) -> str:
    return (
        f"{failover.manager.name} activated {failover.change.database} on {failover.to.name} by "
        f"itself at {stamp(failover.decided.at_ms)}"
    )


def _policy(failover: OwnFailover) -> tuple[Status, str]:
    policy, of = failover.to.auto_activation, "its DatabaseCopyAutoActivationPolicy is"
    if policy == "Blocked":
        return VIOLATED, f"{_said(failover)}; {of} Blocked"
    if policy == "IntrasiteOnly" and failover.before.site != failover.to.site:
        return VIOLATED, (
            f"{_said(failover)}; {of} IntrasiteOnly, and {failover.before.name} is of another site"
        )
    return HOLDS, ""


def _logs(failover: OwnFailover) -> tuple[Status, str, int] | None:
    """None where nothing is asked."""
    well_ms, cause = failover.last_well_ms, failover.change.cause or ""
    if not cause.startswith("silent") or well_ms is None or failover.had_new is None:
        return None
    known_ms = well_ms - failover.need_ms
    had = failover.had(known_ms)
    if had is None or len(failover.manager.eras) > 1:
        return None
    troubles = (each.at for each in failover.troubles)
    if touches(troubles, known_ms, well_ms - 1) or _was_full(failover, known_ms):
        return None
    lacking = had - failover.had_new
    if lacking <= failover.to.mount_dial:
        return HOLDS, "", lacking
    detail = (
        f"{_said(failover)}; that copy had {failover.had_new} logs, and the one on "
        f"{failover.before.name} had {had} at {stamp(known_ms)}"
    )
    return VIOLATED, detail, lacking


def _was_full(failover: OwnFailover, known_ms: int) -> bool:
    downs = failover.manager.downs
    full = (down.outage.possible for down in downs if down.kind == "fill_disk")
    return touches(full, known_ms, failover.decided.at_ms or known_ms)


CLAIM = Claim("failover_allowed", ("TP-6",), needs=frozenset({LIFECYCLE}), of_run=_cases)
