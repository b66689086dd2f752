"""By when a message that a server answers for should have arrived, recipient by recipient.

A server owes each recipient a delivery from the moment at which it became the primary server: it
accepted the message, promoted it, or gave it back from a Safety Net. Undisturbed, that takes no
longer than `BASE`. A fault in the way (`expected.ways`) that may begin before that was over puts it
off: to the fault's end, ConnectionInactivityTimeOut for an attempt that hangs still, the wait that
the retry ladder (RT-5) has reached by then, what queued up meanwhile, and `BASE` again. Faults that
follow each other sooner than the wait is over are one. A message that is sent anew, also after a
restart in the middle of that, may wait for a shadow first: at most ConnectionTimeout, where a
server that could take one is out of reach (SM-13). A server outside may put recipients off by
itself; each such answer, in time, puts the delivery off by a step of the ladder, and so does one to
another message of the same queue. Those of the lab never do, so where it made the record such an
answer is its server's word alone. What was lost with a queue database is owed no more by that
server.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.shadow_copies import FAR_ABOVE
from spark_eval.as_tables.transforms.hops import boundaries
from spark_eval.as_tables.transforms.pace import stood_still
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES
from spark_eval.spark.joins import joined, small

OWED = [*KEY, "recipient"]
MAIL = ["run", "message_id", "recipient"]
QUEUE = ["run", "server", "place"]
DEFERRED = "event = 'DEFER' AND startswith(context, '4')"
# handing over and storing, a wall second each (the measure of `expected.copies`)
EXCHANGES = 2
USUAL_MS = "CAST(1000 * speed AS BIGINT)"
# what a machine as slow as measured may need for all that happens beside it
TAKINGS = 5
BASE = (
    f"glitch_ms + {EXCHANGES} * {USUAL_MS} + {FAR_ABOVE} * finest_ms "
    f"+ {TAKINGS} * least(coalesce(taking_ms, 0L), {USUAL_MS})"
)
# lab ms of work for each lab ms in which a queue waits, a message taking what a sender waits
QUEUING = f"coalesce(per_ms * least(taking_ms, {USUAL_MS}), 0D)"
SERVER = (
    "run", "server", "glitches", "glitch_ms", "transients", "transient_ms", "outage_ms", "eras",
    "timeout_ms", "session_ms", "speed", "finest_ms", "resolution_ms", "is_made",
)  # fmt: skip
AT = "struct<at_ms: bigint, ref: struct<file: string, line: int>>"


def owed(primaries: DataFrame) -> DataFrame:
    """One row a primary message and recipient: `since_ms`, `is_anew` (promoted, resubmitted, or
    nobody knows), `is_back` (from a Safety Net).
    """
    known = primaries.where("born IS NOT NULL OR loaded IS NOT NULL")
    return known.selectExpr(
        *KEY, "message_id", "coalesce(born.at_ms, loaded.at_ms) AS since_ms",
        "coalesce(born.event = 'RESUBMIT', true) AS is_anew",
        "coalesce(born.event = 'RESUBMIT' AND born.source = 'SAFETYNET', false) AS is_back",
        "coalesce(born.ref, loaded.ref) AS since_ref",
        "explode(array_distinct(coalesce(born.recipients, loaded.recipients))) AS recipient",
    )  # fmt: skip


def destinations(sent: DataFrame, mailboxes: DataFrame, servers: DataFrame) -> DataFrame:
    """`run`, `recipient`, `place`: the mailbox database, or the server outside, of each recipient
    that the workload named.
    """
    named = sent.selectExpr("run", "explode(recipients) AS recipient").distinct()
    boxes = mailboxes.selectExpr("run", "mailbox AS recipient", "`database`")
    outside = servers.where("role = 'external'").selectExpr(
        "run", "lower(domain) AS domain", "server AS outside"
    )
    domain = named.withColumn("domain", F.expr("substring_index(recipient, '@', -1)"))
    known = domain.join(boxes, ["run", "recipient"], "left").join(
        outside, ["run", "domain"], "left"
    )
    return known.selectExpr(
        "run",
        "recipient",
        "coalesce(`database`, outside) AS place",
        "`database` IS NULL AS is_away",
    ).where("place IS NOT NULL")


def arrivals(visible: DataFrame, into: DataFrame | None) -> DataFrame:
    """`run`, `message_id`, `recipient`, `arrivals` (`at_ms`, `ref`), in order: what recipients see,
    and what was brought into copies of a database, some of which were lost with one.
    """
    seen = visible.where("copied_ms IS NOT NULL").selectExpr(*MAIL, "copied_ms AS at_ms", "ref")
    if into is not None:
        brought = into.where("event <> 'SEND'").selectExpr(
            "run", "message_id", "explode(recipients) AS recipient", "at_ms", "ref"
        )
        seen = seen.unionByName(brought)
    return seen.groupBy(*MAIL).agg(
        F.expr("array_sort(collect_list(struct(at_ms, ref))) AS arrivals")
    )


def final_legs(
    owed: DataFrame, destinations: DataFrame, arrivals: DataFrame, servers: DataFrame,
    places: DataFrame,
) -> DataFrame:  # fmt: skip
    """`owed` with `place`, `is_away` and `arrived` (struct): into the mailbox, or outside. What a
    server owes to a mailbox of another boundary is a leg of `crossings`.
    """
    inside = boundaries(servers)
    theirs = (
        joined(places, inside.withColumnRenamed("server", "peer"), ["run", "peer"])
        .groupBy("run", "place")
        .agg(F.min("boundary").alias("place_boundary"))
    )
    known = (
        joined(owed, destinations, ["run", "recipient"])
        .transform(joined, arrivals, MAIL)
        .transform(joined, inside, ["run", "server"])
        .join(theirs, ["run", "place"], "left")
        .where("coalesce(place_boundary = boundary, true)")
    )
    came = "filter(arrivals, a -> NOT is_back OR a.at_ms >= since_ms)"
    return known.selectExpr(*owed.columns, "place", "is_away", f"get({came}, 0) AS arrived")


def crossings(owed: DataFrame, hops: DataFrame, servers: DataFrame) -> DataFrame:
    """The same for what another boundary of the organisation took."""
    taken = hops.where("crossed").transform(
        joined, boundaries(servers).withColumnRenamed("server", "peer"), ["run", "peer"]
    )
    each = taken.selectExpr(
        *KEY, "explode(recipients) AS recipient", "boundary AS place",
        f"CAST(struct(at_ms, ref) AS {AT}) AS arrived",
    )  # fmt: skip
    first = each.groupBy(*OWED, "place").agg(F.min("arrived").alias("arrived"))
    return joined(owed, first, OWED).selectExpr(
        *owed.columns, "place", "false AS is_away", "arrived"
    )


def load(primaries: DataFrame) -> DataFrame:
    """`run`, `server`, `per_ms`: how many messages it came to answer for in a lab ms."""
    each = primaries.where("born IS NOT NULL").groupBy("run", "server")
    between = "nullif(max(born.at_ms) - min(born.at_ms), 0L)"
    return each.agg(F.expr(f"count(*) / {between} AS per_ms"))


def put_off(tracking: DataFrame) -> DataFrame:
    """`deferrals` (`at_ms`, `n`): when a recipient was put off by what its server answered, and the
    how manyeth time, in order.
    """
    said = tracking.where(DEFERRED).selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id",
        "explode(recipients) AS recipient", "at_ms",
    )  # fmt: skip
    times = "array_sort(collect_list(at_ms))"
    return said.groupBy(*OWED).agg(
        F.expr(f"transform({times}, (t, i) -> struct(t AS at_ms, i + 1 AS n)) AS deferrals")
    )


def given_up(tracking: DataFrame) -> DataFrame:
    """`given_up_ms`: when a server gave a recipient up."""
    said = tracking.where("event = 'FAIL' AND internal_id IS NOT NULL").selectExpr(
        "run", "server", "coalesce(database_id, '') AS database_id", "internal_id",
        "explode(recipients) AS recipient", "at_ms",
    )  # fmt: skip
    return said.groupBy(*OWED).agg(F.min("at_ms").alias("given_up_ms"))


def queues_put_off(tracking: DataFrame, destinations: DataFrame) -> DataFrame:
    """`queue_deferrals` (`at_ms`, `n`) of a server's queue to a server outside: whatever message it
    put off, and the how manyeth in a row. A server cannot know whether that was about the message.
    """
    putting_off = small(tracking.where(DEFERRED).select("run", "server").distinct())
    said = (
        tracking.where(f"event = 'SEND' OR ({DEFERRED})")
        .join(putting_off, ["run", "server"], "left_semi")
        .selectExpr(
            "run",
            "server",
            "at_ms",
            "event = 'DEFER' AS put_off",
            "internal_id",
            "explode(recipients) AS recipient",
        )
        .transform(joined, destinations.where("is_away"), ["run", "recipient"])
        .select(*QUEUE, "at_ms", "put_off", "internal_id")
        .distinct()
    )
    in_order = Window.partitionBy(*QUEUE).orderBy("at_ms", "put_off", "internal_id")
    taken = F.count_if(~F.col("put_off")).over(in_order)
    in_a_row = Window.partitionBy(*QUEUE, "taken").orderBy("at_ms", "internal_id")
    failed = said.withColumn("taken", taken).where("put_off")
    counted = failed.withColumn("n", F.row_number().over(in_a_row))
    return counted.groupBy(*QUEUE).agg(
        F.expr("array_sort(collect_list(struct(at_ms, n))) AS queue_deferrals")
    )


def with_due(
    legs: DataFrame, ways: DataFrame, troubles: DataFrame, histories: DataFrame, pace: DataFrame,
    deferrals: DataFrame, queue_deferrals: DataFrame, load: DataFrame,
) -> DataFrame:  # fmt: skip
    """`legs` with `due_ms`, `base_ms`, `queue_lost_ms` and `resolution_ms`. Nothing is put off that
    arrived before it would have been.
    """
    settings = (
        histories.selectExpr(*SERVER)
        .transform(joined, pace, "run")
        .join(load, ["run", "server"], "left")
        .selectExpr("*", f"{BASE} AS base_ms", f"{QUEUING} AS queuing")
    )
    mail = troubles.where("service = 'smtp'").groupBy("run", "server")
    anew = mail.agg(F.expr("flatten(collect_list(troubles)) AS around"))
    known = (
        joined(legs, small(settings), ["run", "server"])
        .join(small(ways), ["run", "server", "place"], "left")
        .join(small(anew), ["run", "server"], "left")
        .join(deferrals, OWED, "left")
        .join(small(queue_deferrals), QUEUE, "left")
    )
    met = f"coalesce(troubles, {NO_TROUBLES})"
    again = "named_struct('lo', x.lo, 'hi', x.hi, 'hangs', true)"
    tries = (
        f"exists(coalesce(around, {NO_TROUBLES}), "
        "x -> x.lo <= since_ms + session_ms AND x.hi + timeout_ms >= since_ms)"
    )
    lost = "try_element_at(filter(eras, e -> e.id = database_id), 1).lost_ms AS queue_lost_ms"
    return (
        known.selectExpr(
            "*",
            f"IF(is_anew, transform({met}, x -> {again}), {met}) AS met",
            f"since_ms + base_ms + IF(is_anew AND {tries}, session_ms, 0L) AS calm_due_ms",
            "timeout_ms + IF(is_anew, session_ms, 0L) AS hang_ms",
            lost,
        )
        .selectExpr("*", "coalesce(arrived.at_ms <= calm_due_ms, true) AS is_early",
                    "is_away AND NOT is_made AS may_answer")
        .selectExpr("*", f"IF(is_early, calm_due_ms, {_after_troubles('calm_due_ms')}) "
                    "AS first_due_ms")
        .selectExpr("*", f"IF(may_answer AND NOT is_early, {_AFTER_ANSWERS}, first_due_ms) "
                    "AS put_off_ms")
        .selectExpr("*", f"IF(put_off_ms > first_due_ms, {_after_troubles('put_off_ms')}, "
                    "first_due_ms) AS lab_due_ms")
        .selectExpr(
            *legs.columns, "base_ms", "queue_lost_ms", "resolution_ms",
            f"lab_due_ms + {stood_still('since_ms', 'arrived.at_ms')} AS due_ms",
        )
    )  # fmt: skip


def _step(failing_ms: str) -> str:
    """SQL: the longest wait that a queue may have reached that failed for so long (RT-5)."""
    return (
        f"CASE WHEN {failing_ms} < glitches * glitch_ms THEN glitch_ms "
        f"WHEN {failing_ms} < glitches * glitch_ms + transients * transient_ms "
        "THEN greatest(glitch_ms, transient_ms) "
        "ELSE greatest(glitch_ms, transient_ms, outage_ms) END"
    )


_NONE = "named_struct('lo', NULL, 'hi', NULL, 'waits', false, 'until', NULL, 'due', {due})"
_STATE = "struct<lo: bigint, hi: bigint, waits: boolean, until: bigint, due: bigint>"


def _after_troubles(due: str) -> str:
    """SQL: `due` put off by `met`: groups of faults, each with its end and the wait after it."""
    goes_on = "coalesce(x.lo <= acc.until, false)"
    lo, waits = f"IF({goes_on}, acc.lo, x.lo)", f"(x.hangs OR ({goes_on} AND acc.waits))"
    end = "x.hi + IF(x.hangs, hang_ms, 0L)"
    hi = f"IF({goes_on}, greatest(acc.hi, {end}), {end})"
    behind = f"CAST(({hi} - {lo}) * queuing AS BIGINT)"
    until = f"{hi} + IF({waits}, {_step(f'({hi} - {lo})')}, 0L) + {behind} + base_ms"
    put_off = f"IF(x.lo <= acc.due, greatest(acc.due, {until}), acc.due)"
    grown = (
        f"named_struct('lo', {lo}, 'hi', {hi}, 'waits', {waits}, 'until', {until}, "
        f"'due', {put_off})"
    )
    start = f"CAST({_NONE.format(due=due)} AS {_STATE})"
    return f"aggregate(met, {start}, (acc, x) -> CAST({grown} AS {_STATE}), acc -> acc.due)"


_NTH = (
    "CASE WHEN x.n <= glitches THEN glitch_ms WHEN x.n <= glitches + transients THEN transient_ms "
    "ELSE outage_ms END"
)
_NO_DEFERRALS = "CAST(array() AS array<struct<at_ms: bigint, n: int>>)"
_AFTER_ANSWERS = (
    f"aggregate(array_sort(concat(coalesce(deferrals, {_NO_DEFERRALS}), "
    f"coalesce(queue_deferrals, {_NO_DEFERRALS}))), CAST(first_due_ms AS BIGINT), (acc, x) -> "
    f"IF(x.at_ms <= acc, greatest(acc, CAST(x.at_ms + {_NTH} + base_ms AS BIGINT)), acc))"
)
