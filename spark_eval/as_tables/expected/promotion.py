"""Which shadow messages should have been promoted, and when (SM-6, SM-7, SM-8, SR-10).

Two causes. The primary's database changed: from the moment it did, at most a heartbeat after its
banner, once the shadow server can ask. No contact for `ShadowResubmitTimeSpan`: from last contact +
span of all that is held, late by at most a heartbeat and one attempt, which lasts from when it was
begun, as logged, and no longer than its time-out. Last contact is read from the connectivity log;
where that names none at all, it lies within a heartbeat before the outage, and what falls inside
that interval is unknown. Anything else that was promoted is spurious.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.expected.shadow_copies import coarse, too_coarse
from spark_eval.sql.intervals import FOREVER_MS, first_clear, last_before, overlaps
from spark_eval.sql.reasons import cases, holds, not_asked, unknown, violated

ATTEMPT = "(heartbeat_ms + timeout_ms + slowed_ms + finest_ms)"
PROMPT = "(heartbeat_ms + exchange_ms + slowed_ms + finest_ms)"
# a row follows the commit, from which its stay counts; the message came before both
STILL_THERE_MS = "(stays_until_ms - exchange_ms - askew_ms)"
CAME_MS = "held_ms - exchange_ms"
AT = "promoted.at_ms"


def promotions(copies: DataFrame) -> DataFrame:
    """`copies` with both causes' windows, and three-valued `timeliness` and `earliness` with
    reasons.

    A status is null where nothing is asked: `timeliness` of copies neither promoted nor expected to
    be, `earliness` of copies whose primary was never out of reach.
    """
    in_pair = Window.partitionBy("run", "server", "primary_server")
    known = copies.where("enabled AND (held IS NOT NULL OR kept_as_shadow)").withColumn(
        "first_came_ms", F.min(F.expr(CAME_MS)).over(in_pair)
    )
    return _judged(_by_span(_by_database(known)))


def _by_database(known: DataFrame) -> DataFrame:
    """`changed`: held when the primary lost its database; `changed_by_ms`: promoted by then."""
    held_then = (
        "primary_lost_ms IS NOT NULL AND held_ms <= primary_lost_ms "
        "AND coalesce(discard.at_ms > primary_lost_ms, true) "
        f"AND coalesce({AT} >= primary_lost_ms - finest_ms, true) "
        "AND coalesce(own_lost_ms > primary_lost_ms, true)"
    )
    timed = known.selectExpr(
        "*", f"({held_then}) AS changed", f"{_reach('primary_back_ms')} AS changed_reach_ms"
    )
    bounded = timed.selectExpr("*", f"changed_reach_ms + {PROMPT} AS changed_by_ms")
    return bounded.selectExpr(
        "*",
        f"coalesce(changed AND changed_by_ms <= least(end_ms, {STILL_THERE_MS}), false) "
        "AND coalesce(own_lost_ms > changed_by_ms, true) "
        "AND coalesce(discard.at_ms > changed_by_ms, true) AS changed_surely",
    )


def _reach(since: str) -> str:
    """Since when nothing keeps a question from its answer for a whole heartbeat."""
    clear = first_clear(since, "any_possible", PROMPT)
    return f"IF({since} IS NULL, CAST(NULL AS BIGINT), {clear})"


def _by_span(known: DataFrame) -> DataFrame:
    """`spent`: the certain outage, if any, during which the span surely ran out and was acted on.

    It holds `due_ms` (last contact + span) and `by_ms`. `contact_ms` is the last contact before the
    promotion, as an interval `contact_lo_ms`..`contact_hi_ms` where no log row names it.
    """
    contact = f"coalesce({last_before('contact_times', 'o.hi')}, o.lo)"
    due = f"greatest({contact}, held_ms) + span_ms"
    acted = first_clear("d.due_ms", "own_possible", ATTEMPT)
    dues = f"transform(peer_certain, o -> named_struct('o', o, 'due_ms', {due}))"
    bound = f"named_struct('o', d.o, 'due_ms', d.due_ms, 'by_ms', {acted} + {ATTEMPT})"
    surely = (
        f"s.o.lo <= s.due_ms AND s.by_ms <= s.o.hi AND s.by_ms <= least(end_ms, {STILL_THERE_MS}) "
        "AND coalesce(discard.at_ms > s.by_ms, true) AND coalesce(own_lost_ms > s.by_ms, true) "
        f"AND coalesce({AT} >= s.o.lo, true)"
    )
    spent = f"try_element_at(filter(transform({dues}, d -> {bound}), s -> {surely}), 1) AS spent"
    return _with_contact(known.selectExpr("*", spent))


def _with_contact(known: DataFrame) -> DataFrame:
    around = f"o.lo <= {AT} + finest_ms AND (o.hi >= {AT} - finest_ms OR {_FAILED_WITH_IT})"
    last = known.selectExpr(
        "*",
        f"{last_before('contact_times', AT)} AS contact_ms",
        f"try_element_at(filter(peer_possible, o -> {around}), 1) AS outage",
    )
    bounded = last.selectExpr(
        "*",
        f"coalesce(contact_ms, {_NO_CONTACT_LO}) AS contact_lo_ms",
        f"coalesce(contact_ms, {_NO_CONTACT_HI}) AS contact_hi_ms",
    )
    together = Window.partitionBy("run", "server", "primary_server", "contact_hi_ms")
    stayed = F.expr("IF(discard IS NULL AND promoted IS NOT NULL, held_ms, NULL)")
    since = bounded.withColumn("oldest_ms", F.min(stayed).over(together)).selectExpr(
        "*", f"{_SPAN_DUE} AS span_due_ms"
    )
    clear = first_clear("span_due_ms", "own_possible", ATTEMPT)
    return since.selectExpr(
        "*",
        "contact_lo_ms + span_ms AS span_over_ms",
        "contact_hi_ms + span_ms AS span_surely_over_ms",
        f"IF(contact_hi_ms IS NULL, CAST(NULL AS BIGINT), {clear} + heartbeat_ms "
        f"+ finest_ms + least({_TOOK}, timeout_ms + slowed_ms)) AS span_by_ms",
    )


# when the attempts were begun that failed just before; what failed is acted on at once
_TRIED = f"""transform(filter(failures, f -> f.at_ms BETWEEN {AT} - exchange_ms AND {AT}),
  f -> f.asked_ms)"""
_FAILED_WITH_IT = f"coalesce(o.hi >= array_min({_TRIED}) - finest_ms, false)"

# those that are held together go together; what came after that has a span of its own
_SPAN_DUE = """IF(held_ms < greatest(contact_hi_ms, oldest_ms) + span_ms,
  greatest(contact_hi_ms, coalesce(oldest_ms, held_ms)), held_ms) + span_ms"""
# since the attempt was begun that failed, after the span was over; without one it may be any time
_TOOK = f"""coalesce({AT} - array_min(filter({_TRIED}, t -> t >= span_due_ms - near_ms)) + near_ms,
  timeout_ms + slowed_ms)"""


# Since when it counts where no row names a contact. A server that names other questions and their
# answers had none, so from the first shadow; or it had one in a hole of its log. One that names
# none at all may have had any: the last in the heartbeat before the outage, if it was there to ask.
_NAMES_QUESTIONS = "size(contact_times) + size(failures) > 0"
_HOLES = f"filter(own_blind, b -> b.lo <= {AT} AND b.hi >= first_came_ms)"
_WAS_AWAY = f"coalesce({overlaps('own_possible', 'outage.lo - heartbeat_ms', 'outage.lo')}, false)"
_NO_CONTACT_LO = f"""IF({_NAMES_QUESTIONS} OR {_WAS_AWAY}, first_came_ms,
  greatest(first_came_ms, outage.lo - heartbeat_ms))"""
_NO_CONTACT_HI = f"""greatest(first_came_ms,
  IF({_NAMES_QUESTIONS}, array_max(transform({_HOLES}, b -> b.hi)), outage.lo))"""


def _judged(known: DataFrame) -> DataFrame:
    named = known.selectExpr("*", f"{_CAUSE} AS cause").selectExpr(
        "*",
        "cause = 'database-id-changed' AS by_database",
        "changed_surely OR spent IS NOT NULL AS expected",
        f"{overlaps('any_possible', 'held_ms', _HELD_TO)} AS tempted",
    )
    bounds = named.selectExpr(
        "*",
        "IF(by_database, primary_lost_ms, coalesce(span_over_ms, spent.due_ms)) AS not_before_ms",
        "IF(by_database, changed_by_ms, coalesce(span_by_ms, spent.by_ms)) AS not_after_ms",
        "IF(by_database, primary_back_ms, coalesce(span_over_ms, spent.due_ms)) AS due_ms",
    )
    early = bounds.selectExpr("*", f"{_EARLINESS} AS e")
    return early.selectExpr("*", f"{_TIMELINESS} AS t").selectExpr(
        "*", "e.status AS earliness", "e.kind AS early_kind", "e.reason AS early_reason",
        "t.status AS timeliness", "t.kind AS late_kind", "t.reason AS reason",
    )  # fmt: skip


_HELD_TO = f"coalesce(discard.at_ms, {AT}, end_ms)"
_CAUSE = """coalesce(promoted.context, CASE WHEN changed_surely THEN 'database-id-changed'
  WHEN spent IS NOT NULL THEN 'resubmit-time-span' END)"""
_WHO = "{server} promoted at {@promoted.at_ms}: "
_IN_REACH = violated(_WHO + "{primary_server} was not out of reach", "spurious")
_LET_GO = (
    f"discard IS NOT NULL AND coalesce(discard.mono_ns < promoted.mono_ns, discard.at_ms < {AT})"
)

_EARLINESS = cases(
    ("promoted IS NULL AND tempted", holds()),
    ("promoted IS NULL", not_asked()),
    ("promotions > 1", violated(_WHO + "promoted {promotions} times", "spurious")),
    (
        _LET_GO,
        violated(_WHO + "its discard notification had come at {@discard.at_ms}", "spurious"),
    ),
    (
        "by_database AND NOT era_known",
        unknown(_WHO + "nothing tells which database {primary_server} had"),
    ),
    (
        "by_database AND primary_lost_ms IS NULL",
        violated(_WHO + "{primary_server} still had the database it was made under", "spurious"),
    ),
    (
        f"by_database AND {AT} < primary_lost_ms - finest_ms",
        violated(_WHO + "the new database came at {@primary_lost_ms}", "early"),
    ),
    ("by_database", holds()),
    (coarse("span_ms"), too_coarse("the resubmit time span", "span_ms")),
    ("outage IS NULL AND contact_ms IS NULL", _IN_REACH),
    (
        f"{AT} < span_over_ms - finest_ms",
        violated(
            _WHO + "last contact {@contact_lo_ms}, so not before {@contact_lo_ms + span_ms}",
            "early",
        ),
    ),
    ("outage IS NULL", _IN_REACH),
    (
        f"{AT} < span_surely_over_ms - finest_ms",
        unknown(_WHO + "last contact lies between {@contact_lo_ms} and {@contact_hi_ms}"),
    ),
    otherwise=holds(),
)

_MISSING_BY = "IF(changed_surely, changed_by_ms, spent.by_ms)"
_IN_A_HOLE = overlaps("own_blind", "held_ms", _MISSING_BY)
_SWALLOWED = f"(coalesce(loaded_ms, {FOREVER_MS}) <= {_MISSING_BY} OR {_IN_A_HOLE})"
_MAY_BE_DUE = """(changed AND changed_reach_ms + heartbeat_ms + slack_ms <= end_ms
  AND end_ms < stays_until_ms
  AND discard IS NULL AND own_lost_ms IS NULL AND NOT kept_as_primary)"""
_TIMELINESS = cases(
    (f"promoted IS NULL AND expected AND kept_as_primary AND {_SWALLOWED}", holds()),
    (
        "promoted IS NULL AND expected AND kept_as_primary",
        unknown("the store of {server} shows it promoted, its log does not say when"),
    ),
    # let go before a kill that came between its commit and its row
    (f"promoted IS NULL AND expected AND in_safety_net AND {_IN_A_HOLE}", not_asked()),
    (
        f"promoted IS NULL AND expected AND {coarse('heartbeat_ms')}",
        too_coarse("a heartbeat", "heartbeat_ms"),
    ),
    (
        "promoted IS NULL AND expected",
        violated(f"{{server}} never promoted it; due by {{@{_MISSING_BY}}}: {{cause}}", "missing"),
    ),
    (
        f"promoted IS NULL AND {_MAY_BE_DUE}",
        unknown("the run ended before it was surely due, at {@changed_by_ms}"),
    ),
    ("promoted IS NULL OR e.kind = 'spurious' OR not_after_ms IS NULL", not_asked()),
    (coarse("heartbeat_ms"), too_coarse("a heartbeat", "heartbeat_ms")),
    (f"{AT} > not_after_ms", violated(_WHO + "due by {@not_after_ms}: {cause}", "late")),
    (
        f"by_database AND {AT} > not_after_ms - exchange_ms + near_ms",
        unknown(
            _WHO
            + "due by {@not_after_ms - exchange_ms}, and nothing tells how long its question took"
        ),
    ),
    otherwise=holds(),
)
