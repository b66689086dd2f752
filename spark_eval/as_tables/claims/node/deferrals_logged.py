"""deferrals_logged: where a server could not send a message on and put it off, its tracking log
says so (TL-2).

Asks every session that was opened for a delivery and given up before it stood, while a message
waited for the server that was called: it came before, and was sent there afterwards. Whichever of
the messages that waited was tried, a DEFER row says that it was put off; where several sessions
were given up at about the same time, as many rows do. The connectivity log and the tracking log of
one server are compared, nothing else.

Not asked: where another server could be tried at once instead, of another boundary, of the same
domain, or with another copy of a mailbox database; what is near a kill, a pause, a restart, a full
disk or a hole of the log; sessions that stood, since they may have been lost over a question.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, PAIR = ["run", "server"], ["run", "server", "peer"]
AWAY = "transform(kills, k -> k.possible)"
NEAR = ("at_ms - 2 * vague_ms", "at_ms + vague_ms")
GIVEN_UP = "size(filter(ends, t -> t BETWEEN at_ms - vague_ms AND at_ms))"
PUT_OFF = f"coalesce(size(filter(deferred, t -> t BETWEEN {NEAR[0]} AND {NEAR[1]})), 0)"
BOUNDARY = "IF(role = 'mailbox', coalesce(concat('dag:', dag), concat('site:', site)), NULL)"
_JUDGED = cases_of(
    (f"{overlaps(AWAY, *NEAR)} OR {overlaps('blind', *NEAR)}", not_asked()),
    (
        f"{PUT_OFF} < {GIVEN_UP}",
        violated(
            "{server} called {peer} for a delivery at {@opened_ms} and gave up at {@at_ms} "
            "({reason}), {message.id} waited for it from {@message.since_ms} to "
            "{@message.sent_ms}; DEFER rows about then: "
            f"{{{PUT_OFF}}}, sessions given up: {{{GIVEN_UP}}}"
        ),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    paces = tables.histories.selectExpr(*SERVER, "kills", "blind", f"{VAGUE_MS} AS vague_ms")
    asked = _given_up(tables).transform(joined, small(paces), SERVER)
    ends = asked.groupBy(*SERVER).agg(F.expr("collect_list(at_ms) AS ends"))
    put_off = tables.record.tracking.where("event = 'DEFER'").groupBy(*SERVER)
    deferred = put_off.agg(F.expr("collect_list(at_ms) AS deferred"))
    known = asked.transform(joined, ends, SERVER).join(deferred, SERVER, "left")
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(session, ' of ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, message.ref, message.sent_ref",
            requirements="array('TL-2')",
            weight="message.sent_ms - at_ms",
        )
    )


def _given_up(tables: Tables) -> DataFrame:
    """One row a session that was opened for a delivery and never stood, to a server that alone
    could be tried: `message`, one that waited for that server all the while.
    """
    failed = (
        tables.record.given_up.where("opened_ms IS NOT NULL")
        .transform(joined, small(_alone(tables)), PAIR)
        .selectExpr("*", "opened_ms AS began_ms", "1 AS place")
    )
    until_then = (
        Window.partitionBy(*PAIR)
        .orderBy("began_ms", "place")
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    return (
        failed.unionByName(_waits(tables), allowMissingColumns=True)
        .withColumn("message", F.max("wait").over(until_then))
        .where("place = 1 AND message.sent_ms >= at_ms")
        .drop("began_ms", "place", "wait")
    )


def _waits(tables: Tables) -> DataFrame:
    """One row a message that was sent to another server, from when it came, or was loaded."""
    sent = tables.record.tracking.where("event = 'SEND' AND internal_id IS NOT NULL").selectExpr(
        *SERVER, "coalesce(database_id, '') AS database_id", "internal_id", "peer",
        "at_ms AS sent_ms", "ref AS sent_ref",
    )  # fmt: skip
    came = tables.primaries.selectExpr(
        *KEY, "message_id AS id", "coalesce(born, loaded).at_ms AS since_ms",
        "coalesce(born, loaded).ref AS ref",
    )  # fmt: skip
    return sent.transform(joined, came, list(KEY)).selectExpr(
        *PAIR, "since_ms AS began_ms", "0 AS place",
        "struct(sent_ms, since_ms, id, ref, sent_ref) AS wait",
    )  # fmt: skip


def _alone(tables: Tables) -> DataFrame:
    """Pairs of servers of which the second is the only one that the first can try for a message: of
    its own boundary, without a copy of a database that has others, or the one outside of its
    domain.
    """
    record = tables.record
    servers = record.servers.selectExpr("run", "server", "role", "domain", f"{BOUNDARY} AS place")
    several = record.databases.where("copies > 1").select("run", "database")
    movable = record.database_copies.join(several, ["run", "database"], "left_semi")
    of_domain = F.count("*").over(Window.partitionBy("run", "role", "domain"))
    called = (
        servers.withColumn("n", of_domain)
        .join(movable, SERVER, "left_anti")
        .selectExpr("run", "server AS peer", "role AS what", "place AS theirs", "n")
    )
    return (
        servers.where("role = 'mailbox'")
        .transform(joined, called, "run")
        .where("(what = 'external' AND n = 1) OR place = theirs")
        .select(*PAIR)
    )


CLAIM = Claim("deferrals_logged", ("TL-2",), cases)
