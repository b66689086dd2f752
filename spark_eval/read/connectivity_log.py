"""Connectivity logs: the moments at which a server had, or failed to have, contact with a primary,
and those at which it opened a session for a heartbeat; what sessions began with, and their ends.

Contact is the final reply to a server's own XQDISCARD and nothing else (SM-6).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.read.csv_log import field
from spark_eval.read.names import REF, short_name

CONTACT = "XQDISCARD "
HEARTBEAT = "heartbeat"
TOLD = field("description")
PEER = "try_element_at(told, 'Peer')"
DESTINATION = field("destination")
SESSION = field("session")
RETRY = r"\(Retry : (.*)\)(?:;Mono=[0-9]+)?$"
STANDS = "Established connection"
MESSAGES = "^Messages: ([0-9]+)"
# rows of one input stand closer together than this
TOGETHER_MS = 1_000
FOR_MESSAGES = "('delivery', 'shadowredundancy')"


def contacts(parsed: DataFrame) -> DataFrame:
    """`run`, `server` (asking), `peer` (asked), `at_ms`, `mono_ns`, `database_id`, `notifications`
    (how many an answer gave), `ref`, and what it was: `reached`, `failed`, `begun`; none of them
    for an answer that is outdated.
    """
    begun = f"({field('direction')} = '+' AND split_part({TOLD}, ';', 1) = '{HEARTBEAT}')"
    asked = parsed.where(f"sound AND (startswith({TOLD}, '{CONTACT}') OR {begun})")
    told = asked.selectExpr(
        "*",
        f"startswith({TOLD}, '{CONTACT}contact') AS reached",
        f"startswith({TOLD}, '{CONTACT}failed') AS failed",
        f"{begun} AS begun",
        f"str_to_map({TOLD}, ';', '=') AS told",
    )
    return told.selectExpr(
        "run", "server", "at_ms", "reached", "failed", "begun", REF,
        f"{short_name(f'IF(begun, {DESTINATION}, {PEER})')} AS peer",
        "try_element_at(told, 'DatabaseId') AS database_id",
        "try_cast(try_element_at(told, 'Notifications') AS INT) AS notifications",
        "mono_ns",
    )  # fmt: skip


def heartbeats(parsed: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, `at_ms`, `ref` of sessions opened for a heartbeat, a row each;
    `may_have_waited`: it opened at the moment at which another one to that peer ended.
    """
    in_order = Window.partitionBy("run", "server", "peer").orderBy("at_ms", "file", "line")
    ends = F.when(F.expr("way = '-'"), F.col("at_ms"))
    rows = parsed.where("sound").selectExpr(
        "run", "server", "file", "line", "at_ms", REF, f"{short_name(DESTINATION)} AS peer",
        f"{field('direction')} AS way", f"split_part({TOLD}, ';', 1) AS said",
    )  # fmt: skip
    beside = rows.withColumn("ended_ms", F.max(ends).over(in_order))
    return beside.where(f"way = '+' AND said = '{HEARTBEAT}'").selectExpr(
        "run", "server", "peer", "at_ms", "ref",
        f"coalesce(at_ms - ended_ms < {TOGETHER_MS}, false) AS may_have_waited",
    )  # fmt: skip


def openings(parsed: DataFrame) -> DataFrame:
    """`run`, `server`, `session`, `purpose`, `at_ms`, `ref` of sessions as they were opened, a row
    each; `peer`, where the row names a server; `stood_ms`, null where it never stood; `ended`
    (`at_ms`, `ref`, and `messages`, how many it carried), null where none of that name ended before
    the next one opened.
    """
    in_order = Window.partitionBy("run", "server", "session").orderBy("at_ms", "file", "line")
    is_end = f"{field('direction')} = '-' AND NOT startswith({TOLD}, '{CONTACT}')"
    stands = f"startswith({TOLD}, '{STANDS}')"
    kept = f"sound AND {SESSION} <> '' AND ({field('direction')} = '+' OR {stands} OR {is_end})"
    rows = parsed.where(kept).selectExpr(
        "run", "server", "file", "line", "at_ms", REF, f"{SESSION} AS session",
        f"{field('direction')} AS way", f"split_part({TOLD}, ';', 1) AS purpose",
        f"{short_name(DESTINATION)} AS peer",
        f"try_cast(regexp_extract({TOLD}, '{MESSAGES}', 1) AS BIGINT) AS messages",
    )  # fmt: skip
    row = F.struct("way", "at_ms", "ref", "messages")
    beside = rows.withColumns(
        {"next": F.lead(row).over(in_order), "after": F.lead(row, 2).over(in_order)}
    ).withColumn("last", F.expr("IF(next.way = '>', after, next)"))
    ended = (
        "IF(last.way = '-', named_struct('at_ms', last.at_ms, 'ref', last.ref, "
        "'messages', last.messages), NULL)"
    )
    return beside.where("way = '+'").selectExpr(
        "run", "server", "session", "purpose", "peer", "at_ms", "ref",
        "IF(next.way = '>', next.at_ms, NULL) AS stood_ms", f"{ended} AS ended",
    )  # fmt: skip


def given_up(parsed: DataFrame) -> DataFrame:
    """`run`, `server`, `session`, `peer`, `at_ms`, `ref`, `reason` of sessions that ended otherwise
    than in good order; `opened_ms`, of one that was opened for a delivery and never stood, so that
    nothing else used it; `had_stood`.
    """
    in_order = Window.partitionBy("run", "server", "session").orderBy("file", "line")
    rows = parsed.where(f"sound AND {SESSION} <> ''").selectExpr(
        "run", "server", "file", "line", "at_ms", REF, f"{SESSION} AS session",
        f"{short_name(DESTINATION)} AS peer", f"{TOLD} AS description",
        f"{field('direction')} AS direction", f"split_part({TOLD}, ';', 1) AS said",
    )  # fmt: skip
    beside = rows.withColumns(
        {
            "before": F.lag("said").over(in_order),
            "way": F.lag("direction").over(in_order),
            "before_ms": F.lag("at_ms").over(in_order),
        }
    ).withColumn("reason", F.regexp_extract("description", RETRY, 1))
    return beside.where("direction = '-' AND reason <> ''").selectExpr(
        "run", "server", "session", "peer", "at_ms", "ref", "reason",
        "NOT (way <=> '+') AS had_stood",
        "IF(way = '+' AND before = 'delivery', before_ms, NULL) AS opened_ms",
    )  # fmt: skip


def sessions(parsed: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, `at_ms`, `ref` of sessions, a row each: `asked`, of one that stood
    and was opened for messages, whether it saw a question at all before it ended, null where it saw
    neither that nor a message; `waited_ms` until then; `lost`: it was opened for a heartbeat and
    never stood.
    """
    in_order = Window.partitionBy("run", "server", "session").orderBy("file", "line")
    rows = parsed.where(f"sound AND {SESSION} <> ''").selectExpr(
        "run", "server", "file", "line", "at_ms", REF, f"{SESSION} AS session",
        f"{short_name(DESTINATION)} AS peer", f"split_part({TOLD}, ';', 1) AS said",
    )  # fmt: skip
    beside = rows.withColumns(
        {
            "before": F.lag("said").over(in_order),
            "after": F.lead("said").over(in_order),
            "waited_ms": F.lead("at_ms").over(in_order) - F.col("at_ms"),
        }
    )
    judged = beside.selectExpr("*", f"{_ASKED} AS asked", f"{_LOST} AS lost")
    return judged.where("asked IS NOT NULL OR lost").select(
        "run", "server", "peer", "at_ms", "ref", "asked", "waited_ms", "lost"
    )


_ASKED = f"""CASE WHEN said = 'Established connection' AND before IN {FOR_MESSAGES} THEN
  CASE WHEN startswith(after, '{CONTACT}') THEN true WHEN after RLIKE '^Messages: [1-9]' THEN false
  END END"""
_LOST = f"coalesce(said = '{HEARTBEAT}' AND after LIKE 'Messages: 0 (Retry%', false)"
