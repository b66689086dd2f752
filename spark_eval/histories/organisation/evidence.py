"""What the record of each server can show, where its plan does not say it.

Of the lab's own servers everything. Of anybody else's what all are asked for, whose absence leaves
a claim unknown, and besides the logs that only some write, where they have written any.
"""

from __future__ import annotations

from spark_eval.histories.organisation.server import EXTERNAL
from spark_eval.read.plan import (
    COMMON_CLOCK,
    CONNECTIVITY,
    COPIES,
    EXACT_TRACKING,
    LEDGER,
    LIFECYCLE,
    MAILBOXES,
    QUEUES,
    TRACKING,
    Evidence,
    PlannedServer,
)
from spark_eval.read.record import Record

OF_ALL = frozenset({LEDGER, MAILBOXES, TRACKING, QUEUES, COPIES, COMMON_CLOCK})


def evidence_of(server: PlannedServer, record: Record) -> frozenset[Evidence]:
    if server.evidence is not None:
        return frozenset(Evidence(word) for word in server.evidence)
    found = of_unplanned((server.name or "").lower(), record)
    # servers outside have no such logs, whoever runs them
    return found - {CONNECTIVITY, LIFECYCLE} if server.role == EXTERNAL else found


def of_unplanned(name: str, record: Record) -> frozenset[Evidence]:
    """Of a server of which the plan says nothing."""
    if record.heading.is_made:
        return OF_ALL | {EXACT_TRACKING, CONNECTIVITY, LIFECYCLE}
    rows = record.rows.lifecycle
    written = {
        # where one server says of each start, all do
        LIFECYCLE: any(row.server == name or row.event == "started" for row in rows),
        CONNECTIVITY: any(row.server == name for row in record.connectivity),
    }
    return OF_ALL | {kind for kind, is_there in written.items() if is_there}
