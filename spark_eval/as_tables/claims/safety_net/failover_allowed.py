"""failover_allowed: Active Manager mounts by itself no copy that it is not to (TP-6).

Asks each failover that nobody asked for, where the new copy was mounted, two questions. The
DatabaseCopyAutoActivationPolicy of the new copy's server permits it: it is not Blocked, and where
it is IntrasiteOnly both servers are of one site. And the new copy lacked no more logs than
AutoDatabaseMountDial allows of those that Active Manager surely knew of. The logs of the new copy
count as it was mounted, those of the copy before as they were NEED_MS (`failover_on_time`) before

    that one was silent for Active Manager
    or, if that is earlier, the first trouble within that time of the way to it, or of either end.

Each delivery is a log (of a probe too), and so is each mount; Active Manager writes down what it
hears of them, so a restart is no excuse.

Not asked about logs: a copy that did answer; where another trouble lies before the first, or Active
Manager lost its database, or had no room for it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.failover_on_time import DIAL
from spark_eval.as_tables.claims.safety_net.own_failovers import own_failovers
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

FULL = "transform(filter(kills, k -> k.kind = 'fill_disk'), k -> k.possible)"
HAD = "first_log + size(filter(made, t -> t <= known_ms))"
_SAID = "{manager} activated {database} on {to} by itself at {@decided_ms}; "
_POLICY = cases_of(
    ("policy = 'Blocked'", violated(_SAID + "its DatabaseCopyAutoActivationPolicy is Blocked")),
    ("policy = 'IntrasiteOnly' AND from_site <> to_site",
     violated(_SAID + "its DatabaseCopyAutoActivationPolicy is IntrasiteOnly, and {from} is of "
              "another site")),
    otherwise=holds(),
)  # fmt: skip
_LOGS = cases_of(
    ("NOT startswith(cause, 'silent') OR silent_ms IS NULL", not_asked()),
    ("first_log IS NULL OR mounted.last_log IS NULL", not_asked()),
    (overlaps("troubles", "known_ms", "known_ms + need_ms - 1"), not_asked()),
    (f"size(eras) > 1 OR {overlaps(FULL, 'known_ms', 'decided_ms')}", not_asked()),
    (
        f"had - had_new > {DIAL}",
        violated(
            _SAID + "that copy had {had_new} logs, and the one on {from} had {had} at {@known_ms}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    timed = own_failovers(tables).withColumn("known_ms", F.expr("last_well_ms - need_ms"))
    judged = timed.selectExpr("*", f"{HAD} AS had").selectExpr(
        "*", f"inline(array(named_struct('j', {_POLICY}), named_struct('j', {_LOGS})))"
    )
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch, ' on ', `to`)",
            detail="j.reason",
            at_ms="decided_ms",
            refs="decided_ref, mounted.ref",
            requirements="array('TP-6')",
            weight="had - had_new",
        )
    )


CLAIM = Claim("failover_allowed", ("TP-6",), cases, may_ask)
