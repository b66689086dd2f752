"""delivered_in_time: outside of what faults excuse a delivery takes no longer than a bound, and
inside no longer than they explain (RT-5).

Asks every primary message of every server, recipient by recipient, that the recipient sees in the
end, or that another boundary took. Undisturbed it arrives within

    QueueGlitchRetryInterval (one failure that nobody knows the reason of)
    + two exchanges of a wall second each, in lab time
    + five times the clock's resolution (host.json)
    + five times what a sender waits for its 250 in the median, at most a wall second (ledger)

of the moment at which that server accepted, promoted or resubmitted it. A fault in its way puts
that off, to the fault's end, ConnectionInactivityTimeOut, the next step of the retry ladder
(QueueGlitchRetryCount and so on) and what queued up meanwhile; `expected.due` says how. On
containers, a wall second and more in which a sender waits for its 250 and no server writes a line
does not count. The order of messages is no promise. What never arrives is `no_loss`'s, and what a
server gave up (FAIL) before it arrived by another one is `dsn_sent`'s.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected import due
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.spark.joins import small
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

_JUDGED = cases_of(
    ("arrived IS NULL", not_asked()),
    ("coalesce(arrived.at_ms > least(queue_lost_ms, given_up_ms), false)", not_asked()),
    ("resolution_ms IS NULL", unknown("the record does not say how finely its clock resolves")),
    ("arrived.at_ms <= due_ms", holds()),
    otherwise=violated(
        "{server} had it for {recipient} from {@since_ms} on; it arrived at {@arrived.at_ms}, due "
        "by {@due_ms}"),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    given_up = small(due.given_up(tables.record.tracking))
    known = _with_due(tables).join(given_up, due.OWED, "left")
    judged = known.selectExpr("*", f"{_JUDGED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="arrived.at_ms",
            refs="since_ref, arrived.ref",
            requirements="array('RT-5')",
            weight="arrived.at_ms - due_ms",
        )
    )


def _with_due(tables: Tables) -> DataFrame:
    record, safety_nets = tables.record, tables.resubmission
    into = None if safety_nets is None else safety_nets.into
    named = due.destinations(tables.sent, record.mailboxes, record.servers)
    return due.with_due(
        _legs(tables, named, tables.ends_of_ways, into), tables.ways, tables.troubles,
        tables.histories, tables.pace,
        due.put_off(record.tracking), due.queues_put_off(record.tracking, named),
        due.load(tables.primaries),
    )  # fmt: skip


def _legs(tables: Tables, named: DataFrame, places: DataFrame, into: DataFrame | None) -> DataFrame:
    record = tables.record
    owed = due.owed(tables.primaries)
    came = due.arrivals(record.visible, into)
    legs = due.final_legs(owed, named, came, record.servers, places)
    if tables.crossings is None:
        return legs
    return legs.unionByName(due.crossings(owed, tables.crossings, record.servers))


CLAIM = Claim("delivered_in_time", ("RT-5",), cases)
