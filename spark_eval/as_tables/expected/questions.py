"""What shadow servers ask, and what primary servers answer, a pair of servers at a time.

Each session that a shadow server opens to a primary server while it surely holds shadow messages of
it begins with a question, at once, whatever it is for (SM-2), but for those that it has just begun
to promote, or to let go; an answer names no more messages than that server can still have to be
notified of (SM-3); an attempt that failed is event 22004 (SM-18); and an answer is logged for each
message that it lets go (TL-4). All four are judged by the shadow server's own logs, and by its
clock alone.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.spark.joins import joined
from spark_eval.sql.intervals import FOREVER_MS, overlaps

HEARTBEAT_FAILED = 22004
PAIR = ["run", "server", "primary_server"]
# what a row of the union may hold; the sums are over all rows before it
NOTHING = {
    "holding": "0",
    "had": "0",
    "gone": "0",
    "asked": "CAST(NULL AS BOOLEAN)",
    "waited_ms": "CAST(NULL AS BIGINT)",
    "begun_ms": "CAST(NULL AS BIGINT)",
    "notifications": "CAST(NULL AS INT)",
    "ref": "CAST(NULL AS struct<file: string, line: int>)",
}
# with its message expired, a copy is held no more, and no row says so (SM-12); nor does one where a
# kill came between the commit of its promotion and the row: the next LOAD shows it
GONE = f"""least(coalesce(discard.at_ms, promoted.at_ms, own_lost_ms, {FOREVER_MS}),
  coalesce(loaded_ms, {FOREVER_MS}), held_ms + expiration_ms - askew_ms)"""
SURE = f"held IS NOT NULL AND held_ms + exchange_ms < {GONE} - exchange_ms"
# by a row that is far from any hole: what a kill swallowed may be the answer
_LET_GO = f"discard IS NOT NULL AND NOT {overlaps('own_blind', 'discard.at_ms', 'discard.at_ms')}"


def _step(at_ms: str, what: str, by: int) -> str:
    known = {"holding": 0, "had": 0, "gone": 0} | {what: by}
    told = ", ".join(f"'{name}', {count}" for name, count in known.items())
    return f"named_struct('at_ms', {at_ms}, {told})"


# one whose answer is under way may be named once more, and so may whatever a server with a new
# queue database has forgotten that it confirmed
STEPS = ", ".join(
    (
        _step(f"IF({SURE}, held_ms + exchange_ms, NULL)", "holding", 1),
        _step(f"IF({SURE}, {GONE} - exchange_ms, NULL)", "holding", -1),
        _step("held_ms", "had", 1),
        _step("IF(own_lost_ms IS NULL, discard.at_ms + exchange_ms + slowed_ms, NULL)", "gone", 1),
    )
)
# what is kept of a probe is asked about only as part of an answer; its store was the first one
_EVER_LOST = "array_min(transform(eras, e -> e.lost_ms))"
PROBE_STEPS = ", ".join(
    (
        _step("IF(event = 'HARECEIVE', at_ms, NULL)", "had", 1),
        _step("IF(event = 'HADISCARD' AND lost_ms IS NULL, at_ms + prompt_ms, NULL)", "gone", 1),
    )
)


def questions(
    sessions: DataFrame,
    contacts: DataFrame,
    lifecycle: DataFrame,
    copies: DataFrame,
    probes: DataFrame,
    histories: DataFrame,
) -> DataFrame:
    """One row a pair: `asked` and `unasked` (sessions; `first_unasked` is the row of one), `told`
    and `too_many` (answers; `most`: `notifications`, `open`, `at_ms`, `ref`), `failed` and `logged`
    (attempts), `kills` (of the shadow server); `let_go` (shadow messages, by tracking rows that no
    kill came close to; `first_let_go` is one of them) and `named` (notifications that the answers
    brought).
    """
    pairs = copies.groupBy(*PAIR).agg(
        F.expr("max(any_possible) AS outages"),
        F.expr("max(timeout_ms + slowed_ms) AS longest_ms"),
        F.expr("max(exchange_ms + slowed_ms) AS prompt_ms"),
        F.expr("max(size(own_possible)) AS kills"),
        F.expr(f"count_if({_LET_GO}) AS let_go"),
        F.expr(f"min(IF({_LET_GO}, struct(discard.at_ms, discard.ref), NULL)) AS first_let_go"),
    )
    steps = (
        copies.selectExpr(*PAIR, f"inline(array({STEPS}))")
        .unionByName(_probed(probes, pairs, histories))
        .unionByName(_swallowed(contacts, histories))
    )
    stood = _stood(sessions, contacts, steps, _begun(lifecycle, contacts)).transform(
        joined, pairs.drop("kills", "let_go", "first_let_go"), PAIR
    )
    return (
        _let_go(pairs, sessions, contacts, histories)
        .join(_counted(stood), PAIR, "left")
        .join(_named(contacts), PAIR, "left")
        .join(_failed(sessions, contacts), PAIR, "left")
        .join(_logged(lifecycle), PAIR, "left")
    )


_CLEAR = (
    "NOT exists(outages, "
    "o -> o.lo <= at_ms + coalesce(waited_ms, 0L) AND o.hi + longest_ms >= at_ms)"
)
_ASKS = (
    "IF(holding > 0 AND asked IS NOT NULL, "
    "CASE WHEN asked AND waited_ms <= prompt_ms THEN true "
    f"WHEN at_ms <= begun_ms + prompt_ms AND NOT ({_CLEAR}) THEN NULL "
    f"WHEN NOT asked OR {_CLEAR} THEN false END, NULL) AS asks"
)
_EXCEEDS = f"IF(notifications > 0 AND {_CLEAR}, notifications > had - gone, NULL) AS exceeds"


def _counted(stood: DataFrame) -> DataFrame:
    """By pair, the sessions that began with a question and those that did not, and the answers."""
    return (
        stood.selectExpr("*", _ASKS, _EXCEEDS)
        .groupBy(*PAIR)
        .agg(
            F.expr("count_if(asks) AS asked"),
            F.expr("count_if(NOT asks) AS unasked"),
            F.expr("min(struct(at_ms, ref)) FILTER (WHERE NOT asks) AS first_unasked"),
            F.expr("count(exceeds) AS told"),
            F.expr("count_if(exceeds) AS too_many"),
            F.expr(
                "max(struct(notifications - had + gone AS over, notifications, had - gone AS "
                "open, at_ms, ref)) FILTER (WHERE exceeds) AS most"
            ),
        )
    )


def _probed(probes: DataFrame, pairs: DataFrame, histories: DataFrame) -> DataFrame:
    """Steps of shadow messages of probes, which an answer to XQDISCARD names beside all others."""
    shadows = probes.where("event IN ('HARECEIVE', 'HADISCARD')")
    lost = histories.selectExpr("run", "server", f"{_EVER_LOST} AS lost_ms")
    known = joined(shadows, pairs, PAIR).join(lost, ["run", "server"], "left")
    return known.selectExpr(*PAIR, f"inline(array({PROBE_STEPS}))")


def _swallowed(contacts: DataFrame, histories: DataFrame) -> DataFrame:
    """What an answer named just before a kill may be let go, with no row that says so."""
    holes = histories.select("run", "server", "blind")
    named = contacts.where("reached AND notifications > 0").transform(
        joined, holes, ["run", "server"]
    )
    return named.where(overlaps("blind", "at_ms", "at_ms")).selectExpr(
        "run", "server", "peer AS primary_server", "at_ms", "-notifications AS holding",
        "0 AS had", "0 AS gone",
    )  # fmt: skip


def _begun(lifecycle: DataFrame, contacts: DataFrame) -> DataFrame:
    """What is begun with shadow messages: their promotion, or with an answer that names them their
    end. On a full disk either ends where it began, and is begun anew.
    """
    promoting = lifecycle.where("event = 'promotion-begun'").selectExpr(
        "run", "server", "lower(primary) AS primary_server", "at_ms"
    )
    letting_go = contacts.where("reached AND notifications > 0").selectExpr(
        "run", "server", "peer AS primary_server", "at_ms"
    )
    return promoting.unionByName(letting_go).withColumn("begun_ms", F.col("at_ms"))


def _stood(
    sessions: DataFrame, contacts: DataFrame, steps: DataFrame, begun: DataFrame
) -> DataFrame:
    """Sessions and answers, each with how many shadow messages are held, were had, and are gone,
    and when a promotion was begun last.
    """
    used = sessions.where("asked IS NOT NULL")
    answers = contacts.where("reached AND notifications IS NOT NULL")
    timed = steps.where("at_ms IS NOT NULL")
    events = (
        _event(timed, 0, "holding", "had", "gone")
        .unionByName(_event(begun, 0, "begun_ms"))
        .unionByName(_event(_of(used), 1, "asked", "waited_ms", "ref"))
        .unionByName(_event(_of(answers), 1, "notifications", "ref"))
    )
    before = (
        Window.partitionBy(*PAIR)
        .orderBy("at_ms", "rank")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    sums = {name: F.sum(name).over(before) for name in ("holding", "had", "gone")}
    return events.withColumns(sums | {"begun_ms": F.max("begun_ms").over(before)}).where("rank = 1")


def _of(rows: DataFrame) -> DataFrame:
    """What was exchanged with a peer, as rows of a pair."""
    return rows.withColumnRenamed("peer", "primary_server")


def _event(rows: DataFrame, rank: int, *given: str) -> DataFrame:
    columns = [
        name if name in given else f"{nothing} AS {name}" for name, nothing in NOTHING.items()
    ]
    return rows.selectExpr(*PAIR, "at_ms", f"{rank} AS rank", *columns)


def _let_go(
    pairs: DataFrame, sessions: DataFrame, contacts: DataFrame, histories: DataFrame
) -> DataFrame:
    """`let_go` is 0 where nobody but the lab's own servers would log an answer, and none is."""
    logs = sessions.select("run", "server").unionByName(contacts.select("run", "server"))
    logging = logs.distinct().withColumn("logs", F.lit(True))
    made = histories.where("is_made").select("run", "server", "is_made")
    known = pairs.join(logging, ["run", "server"], "left").join(made, ["run", "server"], "left")
    return known.selectExpr(
        *PAIR, "kills", "first_let_go", "IF(logs OR is_made, let_go, 0L) AS let_go"
    )


def _named(contacts: DataFrame) -> DataFrame:
    """By the connectivity log: of how many messages a server was notified, some twice."""
    named = contacts.where("reached").withColumnRenamed("peer", "primary_server")
    return named.groupBy(*PAIR).agg(F.expr("sum(notifications) AS named"))


def _failed(sessions: DataFrame, contacts: DataFrame) -> DataFrame:
    """By the connectivity log: questions without an answer, and sessions for one that never stood;
    the latter are among the former.
    """
    lost = sessions.where("lost").selectExpr(
        "run", "server", "peer", "1 AS lost", "0 AS unanswered"
    )
    unanswered = contacts.where("failed").selectExpr(
        "run", "server", "peer", "0 AS lost", "1 AS unanswered"
    )
    both = lost.unionByName(unanswered).withColumnRenamed("peer", "primary_server")
    return both.groupBy(*PAIR).agg(F.expr("greatest(sum(lost), sum(unanswered)) AS failed"))


def _logged(lifecycle: DataFrame) -> DataFrame:
    named = lifecycle.where(f"event_id = {HEARTBEAT_FAILED}")
    return named.groupBy("run", "server", F.expr("lower(primary) AS primary_server")).agg(
        F.count("*").alias("logged")
    )
