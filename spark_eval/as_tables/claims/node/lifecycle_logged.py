"""lifecycle_logged: the lifecycle log of a server has each start and each stop in good order
(TL-4).

Asks every `started` of a server of the organisation, Active Manager among them: before it, in the
same life, a row says which database was opened or created, and it is the one that the start names.
A life begins with `configured`, or where a server writes none, after the start before it. Asks
every stop and every restart of the plan that is shown to have ended a process: before the server is
back its log says `stopped`, and nothing more of that life.

Not asked: a stop while another fault had the server away; what is near a kill or a hole of the log,
or while a disk was full; servers outside, and those without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.fault_windows import EXTENTS
from spark_eval.as_tables.transforms.server_histories import VAGUE_MS
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER = ["run", "server"]
# a date may jump between two rows; the monotonic clock does not
IN_ORDER = ("mono_ns", "ref")
OPENS = "event IN ('database-created', 'database-opened')"
PARTS_LIVES = "event IN ('configured', 'started')"
BEGINS_A_LIFE = "('configured', 'configuration-refused', 'database-opened')"
FULL = "transform(filter(kills, k -> k.kind = 'fill_disk'), k -> k.possible)"
OTHERS = (
    "transform(filter(kills, k -> k.kind <> kind OR k.possible.lo <> possible.lo), k -> k.possible)"
)
STARTED = "{server} started at {@at_ms} with {coalesce(database_id, 'no database')}; "
_STARTED = cases_of(
    ("opened.n > coalesce(parted.n, 0) AND opened.database_id = database_id", holds()),
    (overlaps("blind", "since_ms", "at_ms"), not_asked()),
    (overlaps(FULL, "since_ms", "at_ms"), not_asked()),
    (
        "coalesce(opened.n, 0) < coalesce(parted.n, 1)",
        violated(f"{STARTED}its lifecycle log does not say before which one it opened"),
    ),
    otherwise=violated(f"{STARTED}by its lifecycle log it had opened {{opened.database_id}}"),
)
_STOPPED = cases_of(
    ("lives IS NULL", not_asked()),
    (overlaps(OTHERS, "from_ms", "to_ms"), not_asked()),
    (overlaps("blind", "from_ms", "to_ms"), not_asked()),
    (
        "ended IS NULL",
        violated(
            "{server} was asked to stop at {@possible.lo} and ended; its lifecycle log does not "
            "say that it stopped"
        ),
    ),
    (
        f"ended.next NOT IN {BEGINS_A_LIFE}",
        violated("{server} stopped at {@ended.at_ms}; then its lifecycle log says {ended.next}"),
    ),
    otherwise=holds(),
)


def cases(tables: Tables) -> DataFrame:
    histories = tables.histories.where("role <> 'external'").selectExpr(
        *SERVER, "kills", "blind", "lives", f"{VAGUE_MS} AS vague_ms"
    )
    return _starts(tables, histories).unionByName(_stops(tables, histories))


def _starts(tables: Tables, histories: DataFrame) -> DataFrame:
    told = _rows(tables).where("event = 'started'").transform(joined, small(histories), SERVER)
    known = told.selectExpr("*", "coalesce(parted.at_ms, 0L) AS since_ms")
    return known.selectExpr("*", f"{_STARTED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="server",
            detail="j.reason",
            at_ms="at_ms",
            refs="opened.ref, ref",
            requirements="array('TL-4')",
        )
    )


def _stops(tables: Tables, histories: DataFrame) -> DataFrame:
    """That a fault was applied says that the process was asked to end, and may have work left; it
    has ended when its server is back.
    """
    ended = tables.windows.where("kind IN ('stop', 'restart') AND took_effect")
    asked = ended.selectExpr(*SERVER, "fault", "kind", *EXTENTS).transform(
        joined, small(histories), SERVER
    )
    timed = asked.selectExpr("*", "possible.lo - vague_ms AS from_ms", "possible.hi AS to_ms")
    words = "array_sort(collect_list(struct(at_ms, event, next, ref))) AS words"
    said = _rows(tables).groupBy(*SERVER).agg(F.expr(words))
    ends = "filter(words, w -> w.event = 'stopped' AND w.at_ms BETWEEN from_ms AND to_ms)"
    before = "element_at(filter(words, w -> w.at_ms <= possible.lo), -1)"
    known = timed.join(said, SERVER, "left").selectExpr(
        "*", f"get({ends}, 0) AS ended", f"{before} AS last"
    )
    return known.selectExpr("*", f"{_STOPPED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(server, ', ', fault)",
            detail="j.reason",
            at_ms="possible.lo",
            refs="coalesce(ended.ref, last.ref)",
            requirements="array('TL-4')",
        )
    )


def _rows(tables: Tables) -> DataFrame:
    """The lifecycle logs, each row with what its log says before and after it: `opened`, the
    last row that names an opened database, and `parted`, the last with which a life begins or
    starts (`n` is the place in the log); `next`, the event after it.
    """
    log = Window.partitionBy(*SERVER).orderBy(*IN_ORDER)
    before = log.rowsBetween(Window.unboundedPreceding, -1)
    said = tables.record.lifecycle.select(
        *SERVER, "at_ms", "mono_ns", "event", "database_id", "ref"
    ).withColumn("n", F.row_number().over(log))
    return (
        said.withColumn("row", F.expr("struct(n, at_ms, database_id, ref)"))
        .withColumn("opened", F.last(F.expr(f"IF({OPENS}, row, NULL)"), True).over(before))
        .withColumn("parted", F.last(F.expr(f"IF({PARTS_LIVES}, row, NULL)"), True).over(before))
        .withColumn("next", F.lead("event").over(log))
    )


CLAIM = Claim("lifecycle_logged", ("TL-4",), cases)
