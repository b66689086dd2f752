"""one_active_copy: no two copies of a mailbox database take mail at the same time, but for what
their servers cannot know yet (TP-4).

Asks every delivery into a database of several copies: by its server's own word the copy was mounted
then, and no other copy had been mounted for longer than the server may not know of it
(`expected.reigns`). The claim asks every copy that another one followed whether it gave way by
then, and every switchover whether the copy before was dismounted first: both could be notified. A
copy whose server is dead, cut off or paused may go on meanwhile, and what it takes is
`resubmission_complete`'s to ask for.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.as_tables.claims.claim import Claim, case
from spark_eval.as_tables.claims.safety_net.resubmission_complete import may_ask
from spark_eval.as_tables.expected.reigns import COPY, reigns, words
from spark_eval.as_tables.expected.resubmission import Resubmission
from spark_eval.as_tables.expected.tables import Tables
from spark_eval.as_tables.transforms.copy_deliveries import PLACED
from spark_eval.as_tables.transforms.failovers import CHANGE
from spark_eval.spark.joins import joined, small
from spark_eval.spark.settled import settled
from spark_eval.sql.reasons import cases as cases_of
from spark_eval.sql.reasons import holds, not_asked, unknown, violated

MOUNTED = "word.event = 'database-mounted'"
REQUIRED = "array('TP-4')"
_SAID = "{word.event} at {@word.at_ms}"
_HOLE = "the record of {server} is damaged where it says whether its copy of {database} is mounted"


def cases(tables: Tables) -> DataFrame:
    known = tables.resubmission
    assert known is not None
    record = tables.record
    harmed = record.damaged_lines.where("server <> ''").selectExpr(
        "run", "server", "true AS harmed"
    )
    told = words(record.lifecycle).join(harmed.distinct(), ["run", "server"], "left")
    followed = settled(
        reigns(known.actives, known.into, known.asked, tables.troubles, record.servers)
    )
    return (
        _deliveries(known.into, told, followed)
        .unionByName(_gave_way(told, followed))
        .unionByName(_switchovers(known, told))
    )


def _last_word(before: str) -> str:
    return f"try_element_at(filter(words, w -> w.placed <= {before}), -1) AS word"


_DELIVERED = cases_of(
    ("word IS NULL", not_asked()),
    (f"NOT ({MOUNTED}) AND harmed", unknown(_HOLE)),
    (f"NOT ({MOUNTED})", violated(
        "taken into the copy of {database} on {server}, which was not mounted: " + _SAID)),
    ("at_ms > next.known_by_ms AND harmed", unknown(_HOLE)),
    ("at_ms > next.known_by_ms", violated(
        "taken into the copy of {database} on {server}, active under {epoch}; that on {next.to} "
        "was mounted at {@next.mounted.at_ms}, and this server knew by {@next.known_by_ms}")),
    otherwise=holds(),
)  # fmt: skip


def _deliveries(into: DataFrame, told: DataFrame, followed: DataFrame) -> DataFrame:
    first = followed.groupBy(*COPY, "epoch").agg(
        F.expr("min(struct(known_by_ms, mounted, `to`)) AS next")
    )
    rows = into.where("event <> 'SEND'").selectExpr(
        "run", "database", "copy AS server", "epoch", "message_id", "at_ms", f"{PLACED} AS placed",
        "ref",
    )  # fmt: skip
    known = joined(rows, small(told), COPY).join(small(first), [*COPY, "epoch"], "left")
    judged = known.selectExpr("*", _last_word("placed")).selectExpr("*", f"{_DELIVERED} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="message_id",
            detail="j.reason",
            at_ms="at_ms",
            refs="ref, word.ref, next.mounted.ref",
            requirements=REQUIRED,
            weight="at_ms - coalesce(next.mounted.at_ms, word.at_ms)",
        )
    )


_GAVE_WAY = cases_of(
    ("known_by_ms > end_ms OR word IS NULL", not_asked()),
    (f"NOT ({MOUNTED}) OR word.epoch > epoch OR coalesce(learnt.at_ms <= known_by_ms, false)",
     holds()),
    ("harmed", unknown(_HOLE)),
    otherwise=violated(
        "the copy on {server} is still active under {epoch} at {@known_by_ms}; that on {to} was "
        "mounted at {@mounted.at_ms}"),
)  # fmt: skip


def _gave_way(told: DataFrame, followed: DataFrame) -> DataFrame:
    last = "try_element_at(filter(words, w -> w.at_ms <= known_by_ms), -1) AS word"
    known = joined(followed, told, COPY).selectExpr("*", last).selectExpr("*", f"{_GAVE_WAY} AS j")
    return known.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch, ' on ', server)",
            detail="j.reason",
            at_ms="mounted.at_ms",
            refs="word.ref, mounted.ref",
            requirements=REQUIRED,
            weight="1e12",
        )
    )


_IN_ORDER = cases_of(
    ("word IS NULL", not_asked()),
    (f"NOT ({MOUNTED})", holds()),
    ("harmed", unknown(_HOLE)),
    otherwise=violated(
        "switched over to {to} at {@mounted.at_ms}, and the copy on {server} was not dismounted "
        "before: " + _SAID),
)  # fmt: skip


def _switchovers(known: Resubmission, told: DataFrame) -> DataFrame:
    """By Active Manager's word, or because an administrator asked for one and it said yes."""
    asked = known.operations.where("kind = 'switchover' AND epoch IS NOT NULL").selectExpr(
        *CHANGE, "true AS was_asked"
    )
    wanted = (
        known.transitions.withColumnRenamed("from", "server")
        .join(asked.distinct(), CHANGE, "left")
        .where("kind = 'switchover' OR was_asked")
    )
    before = _last_word("coalesce(mounted.mono_ns, mounted.at_ms)")
    judged = joined(wanted, told, COPY).selectExpr("*", before).selectExpr("*", f"{_IN_ORDER} AS j")
    return judged.selectExpr(
        *case(
            status="j.status",
            subject="concat(`database`, ':', epoch)",
            detail="j.reason",
            at_ms="mounted.at_ms",
            refs="mounted.ref, word.ref",
            requirements=REQUIRED,
            weight="1e12",
        )
    )


CLAIM = Claim("one_active_copy", ("TP-4",), cases, may_ask)
