"""lag_kept: a lagged copy stands exactly its ReplayLagTime behind, and one that is activated has
what it is to have (TP-4, SN-5, SN-20).

Asks each lagged copy at its activation: as it stands, it had the logs that were made before its lag
began, all of them and no other; at a point in time, those that were made before that. Asks each
lagged copy that is passive at the end whether it has replayed the same. Logs are counted as
`failover_allowed` counts them. A log that is replayed has come and was written before, so the least
is what had been made `log_shipping.late_ms` earlier.

Not asked whether logs are missing: where the way of logs to it, or its server, was in trouble since
they were made, or its log has a hole.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.lagged_copies import Stood, stood
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE, TRACKING


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for each in stood(run):
        lo, hi = each.bounds(run)
        if hi is None:
            continue
        is_excused = each.had <= hi and each.is_excused(run)
        yield from asked(
            bound(each.had, lo, hi, is_excused=is_excused),
            f"{each.database} on {each.server.name}", _requirements(each), _detail(each, lo, hi),
            each.at_ms, each.row, weight=max(each.had - hi, (lo or 0) - each.had),
        )  # fmt: skip


def _requirements(each: Stood) -> tuple[str, ...]:
    return ("TP-4",) if each.before_ms is None else ("TP-4", "SN-20")


def _detail(each: Stood, lo: int | None, hi: int) -> str:
    should = f"{hi}" if lo in (None, hi) else f"{lo} to {hi}"
    since = "its ReplayLagTime" if each.before_ms is None else stamp(each.before_ms)
    return (
        f"{each.server.name} had replayed {each.had} logs of {each.database} at "
        f"{stamp(each.at_ms)}; by {since} there were {should}"
    )


CLAIM = Claim("lag_kept", ("TP-4", "SN-20"), needs=frozenset({LIFECYCLE, TRACKING}), of_run=_cases)
