"""Connectivity logs: the moments at which a server had, or failed to have, contact with a primary,
with those at which it asked, and at which it opened a session for a heartbeat; what sessions began
with, and their ends.

Contact is the final reply to a server's own XQDISCARD and nothing else (SM-6).
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from spark_eval.read.csv_log import IS_CONNECTIVITY, connected
from spark_eval.read.names import REF, short_name

CONTACT = "XQDISCARD "
HEARTBEAT = "heartbeat"
DESCRIPTION = connected("description")
PEER = "try_element_at(told, 'Peer')"
NOTIFICATIONS = "try_cast(try_element_at(told, 'Notifications') AS INT)"
ASKED = f"nullif(regexp_extract({DESCRIPTION}, ';Asked=([^;]*)', 1), '')"
RETRY = r"\(Retry : (.*)\)(?:;Mono=[0-9]+)?$"
STANDS = "Established connection"
MESSAGES = "^Messages: ([0-9]+)"
# rows of one input stand closer together than this
TOGETHER_MS = 1_000
FOR_MESSAGES = "('delivery', 'shadowredundancy')"


def rows(parsed: DataFrame) -> DataFrame:
    """One row a sound row of the log, as it stands there: `run`, `server`, `at_ms`, `mono_ns`,
    `ref`, `session`, `peer` (the server it calls), `way` (+ opened, > stands, - the rest),
    `description`, `said`, the first part of it, and `asked_ms`, of a row about a question.
    """
    return parsed.where(f"sound AND {IS_CONNECTIVITY}").selectExpr(
        "run", "server", "at_ms", "mono_ns", REF,
        f"{connected('session')} AS session",
        f"{short_name(connected('destination'))} AS peer",
        f"{connected('direction')} AS way",
        f"{DESCRIPTION} AS description",
        f"substring_index({DESCRIPTION}, ';', 1) AS said",
        f"unix_millis(try_to_timestamp({ASKED})) - origin_ms - off_ms AS asked_ms",
    )  # fmt: skip


def contacts(rows: DataFrame) -> DataFrame:
    """`run`, `server` (asking), `peer` (asked), `at_ms`, `mono_ns`, `database_id`, `notifications`
    (how many an answer gave), `asked_ms` (of a heartbeat that failed, when it was begun), `ref`,
    and what it was: `reached`, `failed`, `begun`; none of them for an answer that is outdated.
    """
    begun = f"(way = '+' AND said = '{HEARTBEAT}')"
    told = rows.where(f"startswith(said, '{CONTACT}') OR {begun}").selectExpr(
        "*",
        f"startswith(said, '{CONTACT}contact') AS reached",
        f"startswith(said, '{CONTACT}failed') AS failed",
        f"{begun} AS begun",
        "str_to_map(description, ';', '=') AS told",
    )
    return told.selectExpr(
        "run", "server", "at_ms", "reached", "failed", "begun", "ref",
        f"IF(begun, peer, {short_name(PEER)}) AS peer",
        "try_element_at(told, 'DatabaseId') AS database_id",
        f"{NOTIFICATIONS} AS notifications",
        "mono_ns", "asked_ms",
    )  # fmt: skip


def openings(rows: DataFrame) -> DataFrame:
    """`run`, `server`, `session`, `purpose`, `at_ms`, `ref` of sessions as they were opened, a row
    each; `peer`, where the row names a server; `stood_ms`, null where it never stood; `ended`
    (`at_ms`, `ref`, and `messages`, how many it carried), null where none of that name ended before
    the next one opened.
    """
    in_order = Window.partitionBy("run", "server", "session").orderBy("at_ms", "ref")
    is_end = f"way = '-' AND NOT startswith(said, '{CONTACT}')"
    kept = f"session <> '' AND (way = '+' OR startswith(said, '{STANDS}') OR {is_end})"
    known = rows.where(kept).selectExpr(
        "run", "server", "at_ms", "ref", "session", "way", "said AS purpose", "peer",
        f"try_cast(nullif(regexp_extract(said, '{MESSAGES}', 1), '') AS BIGINT) AS messages",
    )  # fmt: skip
    row = F.struct("way", "at_ms", "ref", "messages")
    beside = known.withColumns(
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


def turns(rows: DataFrame) -> DataFrame:
    """What `sessions` and `given_up` are made of, so that rows are put in order once: those of
    `rows` that either needs, with what the session said `before` and `after`, and when; `purpose`,
    what the row two before says, which may be what the session was opened for.
    """
    in_order = Window.partitionBy("run", "server", "session").orderBy("ref")
    beside = rows.where("session <> ''").selectExpr(
        "run", "server", "session", "peer", "at_ms", "ref", "way", "said",
        f"IF(way = '-', regexp_extract(description, r'{RETRY}', 1), '') AS reason",
        "struct(said, way, at_ms) AS turn",
    ).withColumns(
        {
            "before": F.lag("turn").over(in_order),
            "after": F.lead("turn").over(in_order),
            "purpose": F.lag("said", 2).over(in_order),
        }
    ).drop("turn")  # fmt: skip
    judged = beside.selectExpr("*", f"{_ASKED} AS asked", f"{_LOST} AS lost")
    return judged.where(f"asked IS NOT NULL OR lost OR {_GIVEN_UP}")


def given_up(turns: DataFrame) -> DataFrame:
    """`run`, `server`, `session`, `peer`, `at_ms`, `ref`, `reason` of sessions that ended otherwise
    than in good order; `opened_ms`, of one that was opened for a delivery and never stood, so that
    nothing else used it; `had_stood`; `unheard`: it was opened for messages, stood, and had begun
    none, so it waited for the answer to the question that comes first.
    """
    return turns.where(_GIVEN_UP).selectExpr(
        "run", "server", "session", "peer", "at_ms", "ref", "reason",
        "NOT (before.way <=> '+') AS had_stood",
        "IF(before.way = '+' AND before.said = 'delivery', before.at_ms, NULL) AS opened_ms",
        f"coalesce({_UNHEARD}, false) AS unheard",
    )  # fmt: skip


def sessions(turns: DataFrame) -> DataFrame:
    """`run`, `server`, `peer`, `at_ms`, `ref` of sessions, a row each: `asked`, of one that stood
    and was opened for messages, whether it saw a question at all before it ended, null where it saw
    neither that nor a message; `waited_ms` until then; `lost`, of a row that ends one for a
    heartbeat which never stood, or broke before it was answered.
    """
    return turns.where("asked IS NOT NULL OR lost").selectExpr(
        "run", "server", "peer", "at_ms", "ref", "asked", "after.at_ms - at_ms AS waited_ms", "lost"
    )


_GIVEN_UP = "way = '-' AND reason <> ''"
_UNHEARD = f"purpose IN {FOR_MESSAGES} AND startswith(said, 'Messages: 0 ')"
_ASKED = f"""CASE WHEN said = '{STANDS}' AND before.said IN {FOR_MESSAGES} THEN
  CASE WHEN startswith(after.said, '{CONTACT}') THEN true
       WHEN after.said RLIKE '^Messages: [1-9]' THEN false END END"""
_LOST = f"""coalesce(way = '-' AND (before.way = '+' AND before.said = '{HEARTBEAT}'
  OR purpose = '{HEARTBEAT}' AND before.said = '{STANDS}' AND reason <> ''), false)"""
