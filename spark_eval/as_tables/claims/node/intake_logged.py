"""intake_logged: the message tracking log of a server says how it got a message before it says that
the message went on (TL-2).

Asks every SEND, and every DELIVER and DUPLICATEDELIVER of a message that waited in a queue of this
server, as another row of the same message shows: an earlier row says how it came (F§1.4). That is
RECEIVE, LOAD (it was found in the queue database at the start), RESUBMIT (a shadow message that was
promoted, or a copy of a Safety Net), DSN (this server made it), or an event that no node writes,
which may say it. The tracking log of one server is asked, nothing else; a message is its internal
id in one queue database.

Not asked: a DELIVER or DUPLICATEDELIVER that is all the log has of a message: a server that another
one of its boundary hands mail for a mailbox never answers for it, and logs no RECEIVE. Nor is a row
of a life in which a full disk or a hole of the log, such as before a kill, may have swallowed the
other; what an earlier life did not say is no excuse, since each start loads what still waits. Nor
is one of no known life: where a server has no lifecycle log, as real ones have none, its tracking
log may begin when the message was there already.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.copy_deliveries import PLACED
from spark_eval.as_tables.transforms.primaries import KEY
from spark_eval.spark.joins import joined, small
from spark_eval.sql.intervals import overlaps
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, violated

SERVER = ["run", "server"]
STORED = "event IN ('DELIVER', 'DUPLICATEDELIVER')"
# real servers have more events by which a message comes, such as TRANSFER, than F§1.4 lists
CAME = f"""NOT ({STORED}) AND event NOT IN ('SEND', 'DEFER', 'FAIL', 'HAREDIRECT', 'HAREDIRECTFAIL',
'HARECEIVE', 'HADISCARD', 'SUPPRESSED', 'POISONMESSAGE')"""
WENT_ON = f"event = 'SEND' OR {STORED}"
IN_ORDER = ("placed", "ref")
FULL = "transform(filter(kills, k -> k.kind = 'fill_disk'), k -> k.possible)"
# the life that the row belongs to
BEGAN = "array_max(filter(lives.lo_ms, t -> t <= at_ms))"
WENT = "{server} logged {event} of {internal_id} at {@at_ms}; "
_JUDGED = cases_of(
    ("earlier > 0", holds()),
    ("NOT waited OR began_ms IS NULL", not_asked()),
    (f"{overlaps('blind', 'began_ms', 'at_ms')} OR {overlaps(FULL, 'began_ms', 'at_ms')}",
     not_asked()),
    (
        "later IS NOT NULL",
        violated(f"{WENT}only at {{@later.at_ms}} its log says how it came ({{later.event}})"),
    ),
    otherwise=violated(f"{WENT}its log does not say how it came"),
)  # fmt: skip


def cases(tables: Tables) -> DataFrame:
    histories = tables.histories.selectExpr(*SERVER, "kills", "blind", "lives")
    went = _went_on(tables).transform(joined, small(histories), SERVER)
    known = went.selectExpr("*", f"{BEGAN} AS began_ms")
    return known.selectExpr("*", f"{_JUDGED} AS j").selectExpr(
        *case(
            status="j.status",
            subject="concat(message_id, ' at ', server)",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, later.ref",
            requirements="array('TL-2')",
            weight="later.at_ms - at_ms",
        )
    )


def _went_on(tables: Tables) -> DataFrame:
    """One row a row by which a message went on: how many `earlier` rows say that it came; the first
    `later` one; and whether it `waited` here, as any other row of it shows.
    """
    message = Window.partitionBy(*KEY)
    before = message.orderBy(*IN_ORDER).rowsBetween(Window.unboundedPreceding, -1)
    after = message.orderBy(*IN_ORDER).rowsBetween(1, Window.unboundedFollowing)
    came = F.expr(f"IF({CAME}, struct(at_ms, event, ref), NULL)")
    return (
        tables.record.tracking.where("internal_id IS NOT NULL")
        .selectExpr(
            *SERVER, "coalesce(database_id, '') AS database_id", "internal_id", "message_id",
            "event", "at_ms", f"{PLACED} AS placed", "ref",
        )
        .withColumn("earlier", F.count_if(F.expr(CAME)).over(before))
        .withColumn("later", F.first(came, ignorenulls=True).over(after))
        .withColumn("waited", F.max(F.expr(f"NOT ({STORED})")).over(message))
        .where(WENT_ON)
    )  # fmt: skip


CLAIM = Claim("intake_logged", ("TL-2",), cases)
