"""copies_logged: the lifecycle log of a server has what becomes of its copies of mailbox databases
(TL-4).

Asks every start of a server with a copy of a database of several: in the same life a row says that
the copy was opened, or that it failed. Asks every delivery into such a database: the same life has
a row before it by which its copy was mounted. Asks every transition of which Active Manager says
that the new copy is mounted: so does the server of that copy, under the same epoch; and every copy
that was mounted under a later epoch: Active Manager says that it decided so. Asks whoever learnt of
a later epoch while its own copy was active, or dismounted: a row says what became of it.

Not asked: a life that was over, or a server that was away, before a row must be there; what is near
a kill or a hole of the log, or while a disk was full; a copy that follows already, since logs alone
take it to a later epoch; servers without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.calls import SLACK
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.copy_deliveries import INTO, PLACED, STORED
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.spark.settled import settled
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER, COPY = ["run", "server"], ["run", "database", "server"]
REQUIRED = "array('TL-4')"
WORDS = (
    "('copy-opened', 'copy-passive', 'copy-seeded-here', 'copy-failed', 'database-mounted', "
    "'database-dismounted')"
)
# what a disk takes to open a copy, or to have it follow
DISK_MS = 30_000
LATE_MS = f"{DISK_MS} + {SLACK} + {VAGUE_MS}"
# least() passes over what is null
OVER_MS = "least(end_ms, life.next_ms, life.ended_ms)"
# a process is away from when it certainly was; a start may lie within what possibly is
STAYS = "k.kind IN ('pause', 'fill_disk')"
AWAY = (
    f"transform(kills, k -> IF({STAYS}, k.possible, "
    "named_struct('lo', k.possible.lo, 'hi', k.certain.lo)))"
)
FULL = "transform(filter(kills, k -> k.kind = 'fill_disk'), k -> k.possible)"
ITS_LOG = "its lifecycle log does not say"


def _lost(since: str, until: str) -> str:
    """SQL: whether a row of that time may be missing for no fault of the server's."""
    return f"{overlaps('blind', since, until)} OR {overlaps(FULL, since, until)}"


def cases(tables: Tables) -> DataFrame:
    told = settled(_told(tables))
    return (
        _starts(told)
        .unionByName(_deliveries(tables, told))
        .unionByName(_activations(tables, told))
        .unionByName(_decisions(tables))
        .unionByName(_followers(tables, told))
    )


def _told(tables: Tables) -> DataFrame:
    """One row a copy of a database of several: `words`, what its server says of it, in order, each
    with its `life`; `told_lives`, the lives by that log; and the history of the server.
    """
    rows = _rows(tables)
    several = tables.record.databases.where("copies > 1").select("run", "database")
    copies = joined(tables.record.database_copies.select(*COPY), several, ["run", "database"])
    word = "struct(placed, at_ms, event, epoch, life, ref)"
    said = rows.where(f"event IN {WORDS}").groupBy(*COPY)
    words = said.agg(F.expr(f"array_sort(collect_list({word})) AS words"))
    paces = tables.histories.where("lives IS NOT NULL").selectExpr(
        *SERVER, "kills", "blind", "end_ms", f"{LATE_MS} AS late_ms", f"{VAGUE_MS} AS vague_ms"
    )
    known = (
        copies.join(words, COPY, "left")
        .transform(joined, _lives(rows), SERVER)
        .transform(joined, small(paces), SERVER)
    )
    return known.withColumn("words", F.expr("coalesce(words, array())"))


def _rows(tables: Tables) -> DataFrame:
    """The lifecycle logs, each row with the number of its `life`, and whether it `begins` one."""
    log = Window.partitionBy(*SERVER)
    until_then = log.orderBy("placed", "ref").rowsBetween(Window.unboundedPreceding, 0)
    first = "IF(max(event = 'configured') OVER (PARTITION BY run, server), 'configured', 'started')"
    said = tables.record.lifecycle.selectExpr(
        *COPY, "at_ms", f"{PLACED} AS placed", "event", "epoch", "ref", f"event = {first} AS begins"
    )
    return said.withColumn("life", F.sum(F.expr("IF(begins, 1, 0)")).over(until_then))


def _lives(rows: DataFrame) -> DataFrame:
    """One row a server: `told_lives`, each with when it began (`at_ms`, `placed`), `started` (null:
    never), when a row ended it, and when the next one began.
    """
    ends = "event IN ('stopped', 'crashed', 'configuration-refused')"
    each = rows.where("life > 0").groupBy(*SERVER, "life").agg(
        F.expr("min(placed) AS placed"),
        F.expr("min(at_ms) FILTER (WHERE begins) AS at_ms"),
        F.expr("min_by(struct(at_ms, ref), ref) FILTER (WHERE event = 'started') AS started"),
        F.expr(f"min(at_ms) FILTER (WHERE {ends}) AS ended_ms"),
    )  # fmt: skip
    followed = each.withColumn(
        "next_ms", F.lead("at_ms").over(Window.partitionBy(*SERVER).orderBy("life"))
    )
    life = "struct(placed, at_ms, life, started, ended_ms, next_ms)"
    return followed.groupBy(*SERVER).agg(F.expr(f"array_sort(collect_list({life})) AS told_lives"))


def _in_life(rows: DataFrame) -> DataFrame:
    """`rows`, which are placed, each with its `life`; none that comes before the first."""
    life = "try_element_at(filter(told_lives, l -> l.placed <= placed), -1) AS life"
    return rows.selectExpr("*", life).where("life IS NOT NULL")


_OPENED = cases_of(
    ("opened IS NOT NULL", holds()),
    (f"due_ms > {OVER_MS}", not_asked()),
    (f"{overlaps(AWAY, 'life.at_ms', 'due_ms')} OR {_lost('life.at_ms', 'due_ms')}", not_asked()),
    otherwise=violated(
        f"{{server}} started at {{@life.started.at_ms}}; {ITS_LOG} in that life that its copy of "
        "{database} was opened"),
)  # fmt: skip


def _starts(told: DataFrame) -> DataFrame:
    lives = told.selectExpr("*", "explode(told_lives) AS life").where("life.started IS NOT NULL")
    opens = "w.life = life.life AND w.event IN ('copy-opened', 'copy-failed')"
    known = lives.selectExpr(
        "*", f"get(filter(words, w -> {opens}), 0) AS opened",
        "life.started.at_ms + late_ms AS due_ms",
    )  # fmt: skip
    return known.selectExpr("*", f"{_OPENED} AS j").selectExpr(
        *_case("concat(`database`, ' on ', server)", "life.started.at_ms", "life.started.ref")
    )


_DELIVERED = cases_of(
    ("mounted IS NOT NULL", holds()),
    (_lost("life.at_ms", "at_ms"), not_asked()),
    otherwise=violated(
        f"{{server}} took it into its copy of {{database}} at {{@at_ms}}; {ITS_LOG} between "
        "{@life.at_ms} and then that it was mounted"),
)  # fmt: skip


def _deliveries(tables: Tables, told: DataFrame) -> DataFrame:
    """By the server's own tracking log; of which copy was active nothing is asked here."""
    rows = tables.record.tracking.where(STORED).selectExpr(
        *SERVER, INTO, "message_id", "at_ms", f"{PLACED} AS placed", "ref"
    )
    known = rows.transform(joined, small(told), COPY).transform(_in_life)
    mounts = "w.life = life.life AND w.event = 'database-mounted' AND w.placed <= placed"
    judged = known.selectExpr("*", f"get(filter(words, w -> {mounts}), 0) AS mounted")
    return judged.selectExpr("*", f"{_DELIVERED} AS j").selectExpr(
        *_case("message_id", "at_ms", "ref, life.started.ref", weight="at_ms - life.at_ms")
    )


_ACTIVATED = cases_of(
    ("mounted IS NOT NULL", holds()),
    (_lost("from_ms - vague_ms", "at_ms + vague_ms"), not_asked()),
    otherwise=violated(
        f"Active Manager says at {{@at_ms}} that {{database}}:{{epoch}} is mounted on {{server}}; "
        f"there {ITS_LOG} so"),
)  # fmt: skip


def _activations(tables: Tables, told: DataFrame) -> DataFrame:
    change = ["run", "database", "epoch"]
    lifecycle = tables.record.lifecycle
    decided = lifecycle.where("event = 'failover-decided'").groupBy(*change)
    began = decided.agg(F.min("at_ms").alias("from_ms"))
    said = lifecycle.where("event = 'failover-mounted'").selectExpr(
        *change, "lower(`to`) AS server", "at_ms", "ref"
    )
    known = (
        said.join(began, change, "left")
        .withColumn("from_ms", F.expr("coalesce(from_ms, 0L)"))
        .transform(joined, small(told), COPY)
    )
    mounts = "w.event = 'database-mounted' AND w.epoch = epoch"
    judged = known.selectExpr("*", f"get(filter(words, w -> {mounts}), 0) AS mounted")
    return judged.selectExpr("*", f"{_ACTIVATED} AS j").selectExpr(
        *_case("concat(`database`, ':', epoch, ' on ', server)", "at_ms", "ref")
    )


# what was decided is mounted within ten minutes, or given up
DECIDED_MS = 600_000
_DECIDED = cases_of(
    ("decided_ms IS NOT NULL", holds()),
    (_lost(f"mounted.at_ms - {DECIDED_MS}", "mounted.at_ms + vague_ms"), not_asked()),
    otherwise=violated(
        "{to} mounted {database}:{epoch} at {@mounted.at_ms}; the lifecycle log of {manager} does "
        "not say that it decided so"),
)  # fmt: skip


def _decisions(tables: Tables) -> DataFrame:
    known = tables.resubmission
    assert known is not None
    decides = "event IN ('failover-decided', 'failover-taken-up')"
    decided = tables.record.lifecycle.where(decides).groupBy("run", "database", "epoch")
    dags = tables.record.servers.selectExpr("run", "server AS `to`", "dag")
    managers = tables.histories.where("role = 'active_manager' AND lives IS NOT NULL").selectExpr(
        "run", "dag", "server AS manager", "kills", "blind", f"{VAGUE_MS} AS vague_ms"
    )
    judged = (
        known.transitions.select("run", "database", "epoch", "to", "mounted")
        .transform(joined, small(dags), ["run", "to"])
        .transform(joined, small(managers), ["run", "dag"])
        .join(decided.agg(F.min("at_ms").alias("decided_ms")), ["run", "database", "epoch"], "left")
        .selectExpr("*", f"{_DECIDED} AS j")
    )
    return judged.selectExpr(
        *_case("concat(`database`, ':', epoch, ' on ', `to`)", "mounted.at_ms", "mounted.ref")
    )


_FOLLOWS = cases_of(
    ("exists(words, w -> w.epoch >= epoch AND w.at_ms <= due_ms)", holds()),
    ("word IS NULL OR word.event NOT IN ('database-mounted', 'database-dismounted')", not_asked()),
    ("exists(words, w -> w.event = 'copy-failed' AND w.life = life.life)", not_asked()),
    (f"due_ms > {OVER_MS}", not_asked()),
    (f"{overlaps(AWAY, 'word.at_ms', 'due_ms')} OR {_lost('at_ms', 'due_ms')}", not_asked()),
    otherwise=violated(
        "{server} learnt of {database}:{epoch} at {@at_ms}; of its own copy its lifecycle log says "
        "{word.event} under {word.epoch} at {@word.at_ms}, and not that it follows"),
)  # fmt: skip


def _followers(tables: Tables, told: DataFrame) -> DataFrame:
    learnt = tables.record.lifecycle.where("event = 'active-copy' AND epoch > 0").selectExpr(
        *COPY, "epoch", "at_ms", f"{PLACED} AS placed", "ref"
    )
    known = learnt.transform(joined, small(told), COPY).transform(_in_life)
    last = "try_element_at(filter(words, w -> w.life = life.life AND w.placed <= placed), -1)"
    judged = known.selectExpr("*", f"{last} AS word", "at_ms + late_ms AS due_ms")
    return judged.selectExpr("*", f"{_FOLLOWS} AS j").selectExpr(
        *_case("concat(`database`, ':', epoch, ' at ', server)", "at_ms", "word.ref, ref")
    )


def _case(subject: str, at_ms: str, refs: str, weight: str = "0") -> list[str]:
    return case(
        status="j.status", subject=subject, detail="j.reason", at_ms=at_ms, refs=refs,
        requirements=REQUIRED, weight=weight,
    )  # fmt: skip


CLAIM = Claim("copies_logged", ("TL-4",), cases, may_ask)
