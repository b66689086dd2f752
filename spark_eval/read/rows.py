"""Row types of a record, as claims read them. Times are lab ms, whatever the clocks were.

Each of the JSON Lines has the keys of docs/record.md; every field may be None. `ref` is where
the row stands; rows of logs have the `server` whose log it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from spark_eval.read.names import Ref

Item = TypeVar("Item")
Key = TypeVar("Key")

NOWHERE = Ref("", 0)


class Content(NamedTuple):
    """Of what was sent or is seen, but for the trace fields in front of it; digests are 16 hex
    digits.
    """

    size: int | None
    header: str | None
    body: str | None


class Report(NamedTuple):
    """What a DSN says of a recipient (RFC 3464), and the server that says so."""

    recipient: str | None
    action: str | None
    status: str | None = None
    reporting_mta: str | None = None


class Named(NamedTuple):
    """A recipient as a journal report names him, and the group that led to him."""

    recipient: str | None
    through: str | None


class JournalReport(NamedTuple):
    """What a journal report says of a message, and what is attached to it."""

    sender: str | None
    subject: str | None
    message_id: str | None
    recipients: tuple[Named, ...] | None
    attached_subject: str | None
    content_bytes: int | None
    header_sha256: str | None
    body_sha256: str | None
    decoded_header_sha256: str | None = None
    decoded_body_sha256: str | None = None


class SentRow(NamedTuple):
    """A `message` of the ledger."""

    message_id: str
    mail: str | None
    submitted_ms: int
    date: str | None
    sender: str
    recipients: tuple[str, ...]
    size_bytes: int | None
    hops: int | None
    content: Content
    mono_ns: int | None
    ref: Ref


class AttemptRow(NamedTuple):
    """An `attempt` of the ledger."""

    message_id: str
    attempt: int
    server: str
    started_ms: int | None
    mono_ns: int | None
    ref: Ref


class OutcomeRow(NamedTuple):
    """An `outcome` of the ledger: `ok`, `failed` or `unknown`."""

    message_id: str
    attempt: int
    server: str | None
    outcome: str
    reply: str | None
    reason: str | None
    ended_ms: int | None
    mono_ns: int | None
    ref: Ref


class FaultRow(NamedTuple):
    """A phase of a fault; `said`, all that the line says."""

    fault: str
    phase: str
    at_ms: int | None
    mono_ns: int | None
    took_effect: bool | None
    reason: str | None
    exit_code: int | None
    banner_ms: int | None
    banner_mono_ns: int | None
    started_mono_ns: int | None
    said: Mapping[str, Any]
    ref: Ref


class OperationRow(NamedTuple):
    """A phase of an operation."""

    operation: str
    phase: str
    at_ms: int | None
    mono_ns: int | None
    reply: str | None
    took_effect: bool | None
    reason: str | None
    said: Mapping[str, Any]
    ref: Ref


class StrangerRow(NamedTuple):
    """A `reply` that a stranger heard, or the `end` of its session."""

    type: str
    stranger: str
    server: str | None
    command: str | None
    reply: str | None
    outcome: str | None
    sent_bytes: int | None
    at_ms: int
    mono_ns: int | None
    ref: Ref


class LifecycleRow(NamedTuple):
    """What a server reports of itself; `peer` is the server that it is about, where that is another
    one; `messages`, how many; `start` and `end` of an interval, dates of that server's clock;
    `resource`, `from_`, `to` and `figure` of a level of back pressure; `removed` from DeliveredTo,
    and `left` in it; `state` of a copy; `mailbox` that moved, by its address; `off_ms`: how far its
    date was ahead of lab time.
    """

    server: str
    event: str
    at_ms: int | None
    date: str | None
    mono_ns: int | None
    ahead_ms: int | None
    database_id: str | None
    event_id: int | None
    primary: str | None
    peer: str | None
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
    messages: int | None
    resource: str | None
    from_: str | None
    figure: int | None
    settings: Mapping[str, Mapping[str, str]] | None
    removed: int | None
    left: int | None
    state: str | None
    mailbox: str | None
    off_ms: int
    ref: Ref


class QueueRow(NamedTuple):
    """An entry of a queue database at the end."""

    server: str
    queue: str
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
    ref: Ref
    encoding: str | None = None


class CopyRow(NamedTuple):
    """Where a copy of a mailbox database stood at the end."""

    server: str
    database: str
    state: str
    epoch: int
    last_log: int
    last_log_epoch: int
    last_log_ms: int | None
    received: int
    messages: int
    content_sha256: str
    ref: Ref


class VisibleRow(NamedTuple):
    """A copy that a recipient sees, in a mailbox or at a server outside: `kind` is `mailbox` or
    `external`, `place` the database or the server, `dated_ms` its Date as Unix epoch ms. Of a DSN
    `in_reply_to` and `references` are the Message-Ids that it refers to; `journal`: what a journal
    report says. `content` is what he reads, once its transfer `encoding` is undone, if it has one;
    `stored_bytes`, the size of what is there.
    """

    message_id: str
    recipient: str
    kind: str
    place: str
    server: str | None
    copied_ms: int | None
    dated_ms: int | None
    mono_ns: int | None
    sender: str | None
    content: Content
    reports: tuple[Report, ...] | None
    in_reply_to: str | None
    references: str | None
    ref: Ref
    journal: JournalReport | None = None
    encoding: str | None = None
    stored_bytes: int | None = None


class TrackingRow(NamedTuple):
    """An event of a message tracking log (F§1.2); what a version does not have is None. `peer` is
    the server-hostname; what is named after `database_id` stands in custom-data.
    """

    server: str
    at_ms: int
    mono_ns: int | None
    event: str
    source: str | None
    internal_id: str | None
    message_id: str | None
    network_message_id: str | None
    recipients: tuple[str, ...] | None
    recipient_count: int | None
    recipient_status: str | None
    size_bytes: int | None
    sender: str | None
    context: str | None
    peer: str | None
    reference: str | None
    database_id: str | None
    shadow_server: str | None
    attempts: int | None
    silent: str | None
    outcome: str | None
    primary_server: str | None
    primary_database_id: str | None
    primary_internal_id: str | None
    fork: str | None
    destination: str | None
    safety_net: str | None
    copy_internal_id: str | None
    delivered_at_ms: int | None
    last_contact_ms: int | None
    ref: Ref


class ConnectivityRow(NamedTuple):
    """A row of a connectivity log: `peer` (the server it calls), `way` (+ opened, > stands, - the
    rest), `said`, the first part of the description; `asked_ms`, of a row about a question.
    """

    server: str
    at_ms: int
    mono_ns: int | None
    session: str
    peer: str | None
    way: str
    said: str
    description: str
    asked_ms: int | None
    ref: Ref

    def value(self, name: str) -> str | None:
        """Of `Name=value` in the description."""
        found = (part.partition("=") for part in self.description.split(";")[1:])
        return next((value for key, _, value in found if key == name), None)


def collected(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """All that stands beside each key, in the order of `pairs`."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


def grouped(items: Iterable[Item], by: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by what `by` says of each."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(by(item), []).append(item)
    return found
