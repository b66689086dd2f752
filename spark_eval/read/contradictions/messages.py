"""One message in all its accounts: as the plan has it, as its sender wrote it down, as servers
logged it, as it lies in mailboxes.

A server may log a message in many ways, and a kill swallow some of them: that is for the claims.
Here is what no server can bring about: a sender who does otherwise than planned, a message that
nobody sent, a copy of which no server says that it delivered it, though none was ever to be away.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_eval.read.contradictions.made_by_lab import finding, found_in
from spark_eval.read.names import message_id
from spark_eval.spark.joins import joined, small

UNPLANNED = "a message that plan.json does not have"
OTHERWISE = "not what plan.json says of a message"
EARLY = "a message sent before plan.json says"
TWICE = "a message written down twice"
UNWRITTEN = "an attempt at a message that was not written down"
OUT_OF_TURN = "attempts and outcomes that do not take turns"
ELSEWHERE = "an attempt at another server than plan.json says"
AFTER_OK = "a further attempt at a message that was acknowledged"
UNTRIED = "no attempt at a message that servers know, though the run went to its end"
OPEN = "an attempt without an outcome, though the run went to its end"
GIVEN_UP = "no further attempt at a message that was not acknowledged"
MISSING = "without a message of plan.json, though the run went to its end"
NOBODYS = "a message that nobody sent"
UNTOLD = "a copy that no message tracking log has"

# what the workload calls its messages; servers call their own otherwise
OF_WORKLOAD = "message_id RLIKE '^<m[0-9]+[.]'"
TAKEN_IN = "event IN ('DELIVER', 'DUPLICATEDELIVER')"
SAID = "struct(mail, sender, recipients, size_bytes)"
ROUNDED_MS = "1.0D"
# how long a sender waits for a session's place and its end, beside `retry_ms`: lab and wall ms
PATIENCE_MS, PATIENCE_WALL_MS = 900_000, 5_000


def of_messages(
    made: DataFrame, plans: DataFrame, ledger: DataFrame, tracking: DataFrame, queues: DataFrame,
    visible: DataFrame,
) -> DataFrame:  # fmt: skip
    """Contradictions, as `found_in` gives them. One grouping, and nothing is joined but `made`."""
    accounts = _planned(plans)
    for account in (_written(ledger), _logged(tracking), _listed(queues), _seen(visible)):
        accounts = accounts.unionByName(account, allowMissingColumns=True)
    together = accounts.groupBy("run", "message_id").agg(
        F.expr("max(planned) AS planned"),
        F.expr("array_sort(collect_list(message)) AS messages"),
        F.expr("array_sort(collect_list(attempt)) AS tries"),
        F.expr("min(logged) AS logged"),
        F.expr("flatten(collect_list(taken)) AS taken"),
        F.expr("collect_list(seen) AS seen"),
    )
    known = joined(together, small(made), "run").selectExpr(
        "*", f"{_LAST} AS last", "filter(seen, s -> NOT array_contains(taken, s.recipient)) AS odd"
    )
    return found_in(known, *_FINDINGS)


def _planned(plans: DataFrame) -> DataFrame:
    named = plans.selectExpr("run", "inline(plan.messages)")
    return named.selectExpr(
        "run", f"{message_id('message_id')} AS message_id",
        f"struct(at_ms, retry_ms, via, {SAID} AS said) AS planned",
    )  # fmt: skip


def _written(ledger: DataFrame) -> DataFrame:
    message = f"struct(ref.line AS line, submitted_ms, {SAID} AS said)"
    attempt = "struct(attempt, type, server, outcome, ended_ms, ref.line AS line)"
    return ledger.selectExpr(
        "run", "message_id", f"IF(type = 'message', {message}, NULL) AS message",
        f"IF(type = 'message', NULL, {attempt}) AS attempt",
    )  # fmt: skip


def _logged(tracking: DataFrame) -> DataFrame:
    return tracking.where(OF_WORKLOAD).selectExpr(
        "run", "message_id", "ref AS logged", f"IF({TAKEN_IN}, recipients, NULL) AS taken"
    )


def _listed(queues: DataFrame) -> DataFrame:
    return queues.where(OF_WORKLOAD).selectExpr("run", "message_id", "ref AS logged")


def _seen(visible: DataFrame) -> DataFrame:
    return visible.where(f"kind = 'mailbox' AND {OF_WORKLOAD}").selectExpr(
        "run", "message_id", "struct(recipient, ref) AS seen"
    )


_LAST = "try_element_at(tries, -1)"
_LINES = "concat(transform(messages, m -> m.line), transform(tries, t -> t.line))"
_OTHERWISE = "filter(messages, m -> planned IS NOT NULL AND NOT m.said <=> planned.said)"
_EARLY = f"filter(messages, m -> m.submitted_ms < planned.at_ms - {ROUNDED_MS})"
_IN_TURN = "t.attempt = i DIV 2 + 1 AND t.type = IF(i % 2 = 0, 'attempt', 'outcome')"
_OUT_OF_TURN = f"filter(tries, (t, i) -> NOT ({_IN_TURN}))"
_PLACE = "CAST(pmod(t.attempt - 1L, nullif(size(planned.via), 0)) AS INT)"
_ELSEWHERE = f"filter(tries, t -> t.server <> lower(get(planned.via, {_PLACE})))"
_AFTER_OK = "filter(tries, (t, i) -> t.outcome <=> 'ok' AND i < size(tries) - 1)"
_WAITING_SINCE = "coalesce(last.ended_ms, get(messages, 0).submitted_ms)"
_PATIENCE = f"(planned.retry_ms + {PATIENCE_MS}.0D + {PATIENCE_WALL_MS} * speed)"


def _in_ledger(condition: str, line: str, damage: str) -> str:
    return finding(condition, "'ledger.jsonl'", line, damage)


def _any(where: str, damage: str) -> str:
    """Of lines that are wrong in one way, the first."""
    return _in_ledger(f"size({where}) > 0", f"get({where}, 0).line", damage)


_IS_WRITTEN = "size(messages) + size(tries) > 0"
_FINDINGS = (
    _in_ledger(f"planned IS NULL AND {_IS_WRITTEN}", f"array_min({_LINES})", UNPLANNED),
    _any(_OTHERWISE, OTHERWISE),
    _any(_EARLY, EARLY),
    _any("slice(messages, 2, 1)", TWICE),
    _any("filter(tries, t -> size(messages) = 0)", UNWRITTEN),
    _any(_OUT_OF_TURN, OUT_OF_TURN),
    _any(_ELSEWHERE, ELSEWHERE),
    _any(_AFTER_OK, AFTER_OK),
    _in_ledger("ended AND size(messages) > 0 AND size(tries) = 0 AND logged IS NOT NULL",
               "get(messages, 0).line", UNTRIED),
    _in_ledger("ended AND last.type = 'attempt'", "last.line", OPEN),
    _in_ledger(
        f"ended AND size(messages) > 0 AND NOT last.outcome <=> 'ok' "
        f"AND {_WAITING_SINCE} < end_ms - {_PATIENCE}",
        "coalesce(last.line, get(messages, 0).line)", GIVEN_UP),
    _in_ledger("ended AND planned.at_ms < end_ms AND size(messages) = 0", "NULL", MISSING),
    finding(f"planned IS NULL AND NOT ({_IS_WRITTEN}) AND logged IS NOT NULL", "logged.file",
            "logged.line", NOBODYS),
    finding("planned IS NOT NULL AND steady AND size(odd) > 0", "get(odd, 0).ref.file",
            "get(odd, 0).ref.line", UNTOLD),
)  # fmt: skip
