"""What was written down while a run went on: ledger, faults, operations, strangers, lifecycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from spark_eval.read.clocks import LabClock
from spark_eval.read.json_lines.content import content_of
from spark_eval.read.json_lines.needed import add, needed, require
from spark_eval.read.json_lines.rows_by_kind import Rows
from spark_eval.read.json_values import Malformed, row_of
from spark_eval.read.names import Ref, addresses, message_id, server_of, short_name
from spark_eval.read.rows import (
    AttemptRow,
    FaultRow,
    LifecycleRow,
    OperationRow,
    OutcomeRow,
    SentRow,
    StrangerRow,
)

_OUTCOMES = ("ok", "failed", "unknown")


class _Ledger(NamedTuple):
    type: str | None
    message_id: str | None
    mail: str | None
    submitted_ms: int | None
    date: str | None
    sender: str | None
    recipients: tuple[str, ...] | None
    size_bytes: int | None
    hops: int | None
    mono_ns: int | None
    attempt: int | None
    server: str | None
    started_ms: int | None
    outcome: str | None
    reply: str | None
    reason: str | None
    ended_ms: int | None


def ledger(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, content = row_of(_Ledger, value), content_of(value)
    named = needed(message_id(needed(read.message_id)))
    if read.type == "message":
        sent = SentRow(
            named, read.mail, needed(read.submitted_ms), read.date, (read.sender or "").lower(),
            tuple(dict.fromkeys(addresses(needed(read.recipients)))), read.size_bytes, read.hops,
            content, read.mono_ns, ref,
        )  # fmt: skip
        add(rows.sent, sent)
    elif read.type == "attempt":
        server = needed(short_name(read.server))
        number = needed(read.attempt)
        add(rows.attempts, AttemptRow(named, number, server, read.started_ms, read.mono_ns, ref))
    elif read.type == "outcome":
        require(read.outcome in _OUTCOMES)
        outcome = OutcomeRow(
            named, needed(read.attempt), short_name(read.server), needed(read.outcome), read.reply,
            read.reason, read.ended_ms, read.mono_ns, ref,
        )  # fmt: skip
        add(rows.outcomes, outcome)
    else:
        raise Malformed("no type of a ledger's line")


def _alone(value: Any) -> Any:
    """Without what the reader adds, whatever a line calls so."""
    if type(value) is not dict:
        return value
    return {name: each for name, each in value.items() if name not in ("ref", "said")}


def faults(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(FaultRow, _alone(value))
    needed(read.fault)
    needed(read.phase)
    rows.faults.append(read._replace(said=value, ref=ref))


def operations(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(OperationRow, _alone(value))
    needed(read.operation)
    needed(read.phase)
    rows.operations.append(read._replace(said=value, ref=ref))


def strangers(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(StrangerRow, _alone(value))
    needed(read.stranger), needed(read.at_ms)
    if read.type == "reply":
        needed(read.command), needed(read.reply)
    else:
        require(read.type == "end")
        needed(read.outcome)
    rows.strangers.append(read._replace(server=short_name(read.server), ref=ref))


class _Lifecycle(NamedTuple):
    event: str | None
    at_ms: int | None
    date: str | None
    mono_ns: int | None
    ahead_ms: int | None
    database_id: str | None
    event_id: int | None
    primary: str | None
    server: str | None
    database: str | None
    epoch: int | None
    last_log: int | None
    kind: str | None
    cause: str | None
    to: str | None
    request_id: str | None
    safety_net: str | None
    start: str | None
    end: str | None
    internal_id: str | None
    reason: str | None
    count_: int | None
    resource: str | None
    from_: str | None
    figure: int | None
    settings: Mapping[str, Mapping[str, str]] | None
    removed: int | None
    left: int | None
    state: str | None
    mailbox: str | None


def lifecycle(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(_Lifecycle, value)
    off_ms = 0 if read.at_ms is None else clock.off_ms(read.at_ms, read.mono_ns)
    at_ms = None if read.at_ms is None else read.at_ms - off_ms
    row = LifecycleRow(
        server_of(ref.file), needed(read.event), at_ms, read.date, read.mono_ns, read.ahead_ms,
        read.database_id, read.event_id, read.primary, short_name(read.server), read.database,
        read.epoch, read.last_log, read.kind, read.cause, read.to, read.request_id,
        read.safety_net, read.start, read.end, read.internal_id, read.reason, read.count_,
        read.resource, read.from_, read.figure, read.settings,
        read.removed, read.left, read.state, read.mailbox, off_ms, ref,
    )  # fmt: skip
    rows.lifecycle.append(row)
