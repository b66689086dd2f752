"""failover_on_time: a mailbox database whose active copy is gone fails over as soon as Active
Manager can see that (TP-6).

Asks each time that a fault surely took the server of an active copy away, for longer than

    SILENT_MS (three questions fifteen seconds apart, for each of which an answer is awaited for
    half a minute) + one more question
    + two exchanges of a wall second each, in lab time
    + five times the clock's resolution (host.json), and how far clocks are apart

from then on, or from when on Active Manager was there and could reach another copy of the database
all that time: by then it has decided for another copy, or one was mounted.

Not asked: while an earlier failover of the database is under way; where the other copies have
failed; or where Active Manager says that none may be mounted by itself, and each that it can reach
is not to be (DatabaseCopyAutoActivationPolicy), or may lack more logs than AutoDatabaseMountDial
allows: the way of logs to it was in trouble, and for as long again and ConnectionInactivityTimeOut
after that, or so many were made since the last that it surely has (`copies_follow`).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.copies_follow import CATCHING_UP, followed
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.shadow_copies import FAR_ABOVE
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.troubles import NO_TROUBLES
from spark_eval.fault_kinds import AWAY_KINDS, is_one_of
from spark_eval.spark.joins import joined, small
from spark_eval.spark.settled import settled
from spark_eval.sql.intervals import first_clear, overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

DATABASE, SERVER = ["run", "database"], ["run", "server"]
ASKED_EVERY_MS, NO_ANSWER_MS, MISSES = 15_000, 30_000, 3
SILENT_MS = MISSES * (ASKED_EVERY_MS + NO_ANSWER_MS)
EXCHANGES = "2 * CAST(1000 * speed AS BIGINT)"
NEED_MS = f"{SILENT_MS + ASKED_EVERY_MS} + {EXCHANGES} + {FAR_ABOVE} * finest_ms + askew_ms"
# GoodAvailability, which no scenario changes; the mount is a log, too
DIAL = 6
LACKING = "transform(caught_up, x -> named_struct('lo', x.lo, 'hi', x.hi + late_ms))"
PERMITTED = (
    "(auto_activation = 'Unrestricted' OR (auto_activation = 'IntrasiteOnly' AND peer_site = site))"
)
NO_DECISIONS = "CAST(array() AS array<struct<at_ms: bigint, epoch: int>>)"
NEVER = "CAST(array() AS array<bigint>)"
_IN_THE_WAY = (
    "concat(transform(c.troubles, x -> named_struct('lo', x.lo, 'hi', x.hi)), manager_downs)"
)
_READY_MS = f"{first_clear('gone.certain.lo', _IN_THE_WAY, NEED_MS)} + {NEED_MS}"
_IS_WHOLE = (
    "(c.is_permitted "
    "AND NOT exists(c.lacking, x -> x.lo < gone.possible.lo AND x.hi >= gone.possible.lo))"
)
# by when Active Manager can mount one of the copies that have not failed; by itself, if it says not
_MOUNTABLE = "filter(others, c -> NOT c.failed AND ({wanted}))"
_BY = f"array_min(transform({_MOUNTABLE}, c -> {_READY_MS}))"
_SAYS_NOT = "exists(impossible, t -> t BETWEEN gone.certain.lo AND gone.certain.hi)"
DUE_MS = (
    f"IF({_SAYS_NOT}, IF(recent < {DIAL}, {_BY.format(wanted=_IS_WHOLE)}, NULL), "
    f"{_BY.format(wanted='true')})"
)
MEANWHILE = "BETWEEN gone.certain.lo AND due_ms"
_JUDGED = cases_of(
    ("due_ms IS NULL OR due_ms > least(gone.certain.hi, end_ms)", not_asked()),
    ("exists(decided, d -> d.epoch > epoch AND d.at_ms < gone.certain.lo)", not_asked()),
    (f"exists(decided, d -> d.epoch > epoch AND d.at_ms {MEANWHILE}) OR "
     f"coalesce(followed_ms {MEANWHILE}, false)", holds()),
    (overlaps("manager_holes", "gone.certain.lo", "due_ms"), not_asked()),
    otherwise=violated(
        "{server} had the active copy of {database} and was away from {@gone.certain.lo} on; "
        "{manager} decided for no other one by {@due_ms}"
    ),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    known = _gone(tables).selectExpr("*", f"{DUE_MS} AS due_ms")
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ' on ', server)",
            detail="j.reason",
            at_ms="due_ms",
            refs="mounted.ref",
            requirements="array('TP-6')",
        )
    )


def _gone(tables: Tables) -> DataFrame:
    """One row a time that the server of an active copy was away: `gone` (possible, certain); and
    what Active Manager said and could do.
    """
    downs = tables.histories.selectExpr(
        *SERVER, "dag", "speed", "finest_ms", "askew_ms", "end_ms",
        f"explode(filter(kills, k -> k.{is_one_of(AWAY_KINDS)})) AS gone",
    )  # fmt: skip
    managers = tables.histories.where("role = 'active_manager'").selectExpr(
        "run", "dag", "server AS manager", "transform(kills, k -> k.possible) AS manager_downs",
        "blind AS manager_holes",
    )  # fmt: skip
    gone = (
        _active(tables)
        .transform(joined, small(downs), SERVER)
        .where("gone.certain.lo >= since_ms AND gone.certain.lo < coalesce(followed_ms, end_ms)")
        .transform(joined, small(managers), ["run", "dag"])
        .transform(joined, small(_others(tables)), [*DATABASE, "server", "manager"])
        .transform(settled)
    )
    return (
        gone.join(_recent(tables, gone), [*DATABASE, "server", "gone"], "left")
        .join(small(_said(tables.record.lifecycle)), DATABASE, "left")
        .selectExpr(
            "*",
            f"coalesce(decisions, {NO_DECISIONS}) AS decided",
            f"coalesce(refusals, {NEVER}) AS impossible",
        )
        .fillna({"recent": 0})
    )


def _active(tables: Tables) -> DataFrame:
    """`since_ms` and `followed_ms`: from when on a copy was active, and when another one was."""
    known = tables.resubmission
    assert known is not None
    reigns = known.actives.selectExpr(
        *DATABASE, "epoch", "server", "mounted", "coalesce(mounted.at_ms, 0L) AS since_ms"
    )
    row = "struct(epoch, since_ms)"
    in_order = reigns.groupBy(*DATABASE).agg(F.expr(f"array_sort(collect_list({row})) AS reigns"))
    later = "get(filter(reigns, r -> r.epoch > epoch), 0).since_ms AS followed_ms"
    return reigns.transform(joined, in_order, DATABASE).selectExpr("*", later).drop("reigns")


def _others(tables: Tables) -> DataFrame:
    """`others`: by server and manager, each other copy: whether its activation `is_permitted`, the
    `troubles` of the way of Active Manager to it, when it may have been `lacking` logs, and whether
    it `failed` at some time.
    """
    copies = tables.record.database_copies.select(*DATABASE, "server")
    servers = tables.record.servers
    sites = servers.select(*SERVER, "site")
    policies = servers.selectExpr("run", "server AS peer", "site AS peer_site", "auto_activation")
    managers = servers.where("role = 'active_manager'").selectExpr("run", "server AS manager")
    ways = tables.troubles.where("service = 'management'").selectExpr(
        "run", "server AS manager", "peer", "troubles AS unreachable"
    )
    logs = followed(tables).selectExpr(
        "run", "server", "peer", f"{CATCHING_UP} AS caught_up", "failed", "late_ms"
    )
    each = (
        copies.transform(joined, copies.withColumnRenamed("server", "peer"), DATABASE)
        .where("server <> peer")
        .transform(joined, managers, "run")
        .transform(joined, sites, SERVER)
        .transform(joined, policies, ["run", "peer"])
        .join(ways, ["run", "manager", "peer"], "left")
        .join(logs, ["run", "server", "peer"], "left")
    )
    other = (
        f"struct(coalesce(unreachable, {NO_TROUBLES}) AS troubles, {LACKING} AS lacking, "
        f"size(failed) > 0 AS failed, {PERMITTED} AS is_permitted)"
    )
    return each.groupBy(*DATABASE, "server", "manager").agg(
        F.expr(f"collect_list({other}) AS others"), F.expr("max(late_ms) AS late_ms")
    )


def _recent(tables: Tables, gone: DataFrame) -> DataFrame:
    """`recent`: how many logs the copy that is gone had made since the last that others surely
    have.
    """
    known = tables.resubmission
    assert known is not None
    made = known.into.where("event = 'DELIVER'").selectExpr(
        *DATABASE, "copy AS server", "at_ms AS made_ms"
    )
    near = gone.transform(joined, made, [*DATABASE, "server"]).where(
        "made_ms BETWEEN gone.certain.lo - late_ms AND gone.possible.hi"
    )
    count = F.expr("CAST(count(*) AS INT) AS recent")
    return near.groupBy(*DATABASE, "server", "gone").agg(count)


def _said(lifecycle: DataFrame) -> DataFrame:
    """By database, the `decisions` of Active Manager, and its `refusals` to make one."""
    rows = lifecycle.where("event IN ('failover-decided', 'failover-impossible')")
    decision = "IF(event = 'failover-decided', struct(at_ms, epoch), NULL)"
    return rows.groupBy(*DATABASE).agg(
        F.expr(f"collect_list({decision}) AS decisions"),
        F.expr("collect_list(at_ms) FILTER (WHERE event = 'failover-impossible') AS refusals"),
    )


CLAIM = Claim("failover_on_time", ("TP-6",), cases, may_ask)
