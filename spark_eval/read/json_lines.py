"""JSON Lines of a record: ledger, faults, operations, strangers, lifecycle, queues, copies,
mailboxes, external. A reader takes one object, raises `Malformed` where it does not say what its
kind must say, and adds a row otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from spark_eval.read.clocks import LabClock, Life, kept_ms
from spark_eval.read.json_values import Malformed, row_of
from spark_eval.read.names import (
    Ref,
    addresses,
    is_probe,
    message_id,
    server_of,
    short_name,
    stem_of,
)
from spark_eval.read.rows import (
    AttemptRow,
    Content,
    CopyRow,
    FaultRow,
    JournalReport,
    LifecycleRow,
    OperationRow,
    OutcomeRow,
    QueueRow,
    Report,
    SentRow,
    StrangerRow,
    VisibleRow,
)

Place = Ref
Value = TypeVar("Value")
_DIGEST = re.compile(r"[0-9A-Fa-f]{16,64}\Z")
_OUTCOMES = ("ok", "failed", "unknown")
# what a store holds though no promise keeps it; of such a thing its state says what is wrong
_LEFT = ("left-body", "left-fork", "left-head", "running-request")
_STATES = ("active", "dismounted", "passive", "seeding")


@dataclass(slots=True)
class Rows:
    """Rows by kind, in the order of files and lines."""

    sent: list[SentRow] = field(default_factory=list)
    attempts: list[AttemptRow] = field(default_factory=list)
    outcomes: list[OutcomeRow] = field(default_factory=list)
    faults: list[FaultRow] = field(default_factory=list)
    operations: list[OperationRow] = field(default_factory=list)
    strangers: list[StrangerRow] = field(default_factory=list)
    lifecycle: list[LifecycleRow] = field(default_factory=list)
    queues: list[QueueRow] = field(default_factory=list)
    copies: list[CopyRow] = field(default_factory=list)
    visible: list[VisibleRow] = field(default_factory=list)

    def add(self, other: Rows) -> None:
        for each in fields(self):
            getattr(self, each.name).extend(getattr(other, each.name))

    def go_by(self, lives: Mapping[str, tuple[Life, ...]]) -> None:
        """What servers kept by their own clocks, in lab time. Some times of a Shadow Safety Net
        came with the message, from another server.
        """
        askew = {server: known for server, known in lives.items() if any(x.skew_ms for x in known)}
        if not askew:
            return
        self.queues = [_queue_by(row, askew.get(row.server, ())) for row in self.queues]
        self.copies = [
            row._replace(last_log_ms=kept_ms(row.last_log_ms, askew.get(row.server, ())))
            for row in self.copies
        ]
        self.visible = [
            row._replace(copied_ms=kept_ms(row.copied_ms, askew.get(row.server or "", ())))
            if row.kind == "mailbox"
            else row
            for row in self.visible
        ]


def _queue_by(row: QueueRow, lives: tuple[Life, ...]) -> QueueRow:
    row = row._replace(entered_ms=kept_ms(row.entered_ms, lives))
    if row.queue == "shadow-safety-net":
        return row
    return row._replace(
        delivered_ms=kept_ms(row.delivered_ms, lives), expires_ms=kept_ms(row.expires_ms, lives)
    )


def kind_of(file: str) -> str | None:
    """Which reader a file is for; None of a log."""
    if not file.endswith(".jsonl"):
        return None
    folder = file.partition("/")[0]
    return {"mailboxes": "mailbox", "external": "external"}.get(folder) or stem_of(file)


def needed(value: Value | None) -> Value:
    """Raises `Malformed` where it is None: without it, the line would be passed over."""
    if value is None:
        raise Malformed("what its kind must say is missing")
    return value


def _require(condition: bool) -> None:
    if not condition:
        raise Malformed("what its kind must say is missing")


class _Digest(NamedTuple):
    content_bytes: int | None
    header_sha256: str | None
    body_sha256: str | None


def _content(value: Any) -> Content:
    read = row_of(_Digest, value)
    for each in (read.header_sha256, read.body_sha256):
        _require(each is None or _DIGEST.match(each) is not None)
    return Content(read.content_bytes, _short(read.header_sha256), _short(read.body_sha256))


class _Seen(NamedTuple):
    content_transfer_encoding: str | None
    decoded_bytes: int | None
    decoded_header_sha256: str | None
    decoded_body_sha256: str | None


def _seen(value: Any) -> tuple[Content, str | None, int | None]:
    """What somebody reads, its transfer encoding, and the size of what is stored."""
    stored, read = _content(value), row_of(_Seen, value)
    if read.content_transfer_encoding is None:
        return stored, None, stored.size
    for each in (read.decoded_header_sha256, read.decoded_body_sha256):
        _require(each is None or _DIGEST.match(each) is not None)
    header, body = _short(read.decoded_header_sha256), _short(read.decoded_body_sha256)
    return Content(read.decoded_bytes, header, body), read.content_transfer_encoding, stored.size


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest[:16].lower()


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


def _ledger(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, content = row_of(_Ledger, value), _content(value)
    named = needed(message_id(needed(read.message_id)))
    if read.type == "message":
        sent = SentRow(
            named, read.mail, needed(read.submitted_ms), read.date, (read.sender or "").lower(),
            tuple(dict.fromkeys(addresses(needed(read.recipients)))), read.size_bytes, read.hops,
            content, read.mono_ns, ref,
        )  # fmt: skip
        _add(rows.sent, sent)
    elif read.type == "attempt":
        server = needed(short_name(read.server))
        number = needed(read.attempt)
        _add(rows.attempts, AttemptRow(named, number, server, read.started_ms, read.mono_ns, ref))
    elif read.type == "outcome":
        _require(read.outcome in _OUTCOMES)
        outcome = OutcomeRow(
            named, needed(read.attempt), short_name(read.server), needed(read.outcome), read.reply,
            read.reason, read.ended_ms, read.mono_ns, ref,
        )  # fmt: skip
        _add(rows.outcomes, outcome)
    else:
        raise Malformed("no type of a ledger's line")


Named = TypeVar("Named", SentRow, AttemptRow, OutcomeRow, QueueRow, VisibleRow)


def _add(rows: list[Named], row: Named) -> None:
    """Unless it is about a probe."""
    if not is_probe(row.message_id):
        rows.append(row)


def _alone(value: Any) -> Any:
    """Without what the reader adds, whatever a line calls so."""
    if type(value) is not dict:
        return value
    return {name: each for name, each in value.items() if name not in ("ref", "said")}


def _faults(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(FaultRow, _alone(value))
    needed(read.fault)
    needed(read.phase)
    rows.faults.append(read._replace(said=value, ref=ref))


def _operations(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(OperationRow, _alone(value))
    needed(read.operation)
    needed(read.phase)
    rows.operations.append(read._replace(said=value, ref=ref))


def _strangers(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(StrangerRow, _alone(value))
    needed(read.stranger), needed(read.at_ms)
    if read.type == "reply":
        needed(read.command), needed(read.reply)
    else:
        _require(read.type == "end")
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


def _lifecycle(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
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


class _Queued(NamedTuple):
    queue: str | None
    message_id: str | None
    network_message_id: str | None
    internal_id: str | None
    recipients: tuple[str, ...] | None
    primary: str | None
    primary_database_id: str | None
    shadow_server: str | None
    entered_ms: int | None
    delivered_ms: int | None
    expires_ms: int | None
    state: str | None
    content_transfer_encoding: str | None


def _queues(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(_Queued, value)
    queue = needed(read.queue)
    # a notification may outlive all that its server knew of the message
    is_named = (
        read.message_id is not None
        or (queue == "discard" and read.internal_id is not None)
        or (queue in _LEFT and read.state is not None)
    )
    _require(is_named)
    row = QueueRow(
        server_of(ref.file), queue, message_id(read.message_id), *read[2:-1], ref=ref,
        encoding=read.content_transfer_encoding,
    )  # fmt: skip
    _add(rows.queues, row)


class _Copy(NamedTuple):
    database: str | None
    state: str | None
    epoch: int | None
    last_log: int | None
    last_log_epoch: int | None
    last_log_ms: int | None
    received: int | None
    messages: int | None
    content_sha256: str | None


def _copies(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(_Copy, value)
    digest = needed(read.content_sha256)
    _require(read.state in _STATES and _DIGEST.match(digest) is not None)
    row = CopyRow(
        server_of(ref.file), needed(read.database), needed(read.state), needed(read.epoch),
        needed(read.last_log), needed(read.last_log_epoch), read.last_log_ms,
        needed(read.received), needed(read.messages), digest, ref,
    )  # fmt: skip
    rows.copies.append(row)


class _Mailbox(NamedTuple):
    mailbox: str | None
    message_id: str | None
    sender: str | None
    submitted_ms: int | None
    delivered_ms: int | None
    server: str | None
    reports: tuple[Report, ...] | None
    in_reply_to: str | None
    references: str | None
    journal: JournalReport | None


def _mailbox(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, (content, encoding, stored_bytes) = row_of(_Mailbox, value), _seen(value)
    row = VisibleRow(
        needed(message_id(needed(read.message_id))), needed(read.mailbox).lower(), "mailbox",
        stem_of(ref.file), short_name(read.server), read.delivered_ms, read.submitted_ms, None,
        _sender(read.sender), content, read.reports, read.in_reply_to,
        read.references, ref, read.journal, encoding, stored_bytes,
    )  # fmt: skip
    _add(rows.visible, row)


class _External(NamedTuple):
    message_id: str | None
    sender: str | None
    recipients: tuple[str, ...] | None
    received_ms: int | None
    mono_ns: int | None
    reports: tuple[Report, ...] | None
    in_reply_to: str | None
    references: str | None


def _external(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, (content, encoding, stored_bytes) = row_of(_External, value), _seen(value)
    named, place = needed(message_id(needed(read.message_id))), stem_of(ref.file)
    copied_ms = read.received_ms
    if copied_ms is not None:
        copied_ms -= clock.off_ms(copied_ms, read.mono_ns)
    for recipient in addresses(needed(read.recipients)):
        row = VisibleRow(
            named, recipient, "external", place, place.lower(), copied_ms, None, read.mono_ns,
            _sender(read.sender), content, read.reports, read.in_reply_to,
            read.references, ref, None, encoding, stored_bytes,
        )  # fmt: skip
        _add(rows.visible, row)


def _sender(text: str | None) -> str | None:
    return None if text is None else text.lower()


READERS: Mapping[str, Callable[[Rows, Any, Ref, LabClock], None]] = {
    "ledger": _ledger,
    "faults": _faults,
    "operations": _operations,
    "strangers": _strangers,
    "lifecycle": _lifecycle,
    "queues": _queues,
    "copies": _copies,
    "mailbox": _mailbox,
    "external": _external,
}
