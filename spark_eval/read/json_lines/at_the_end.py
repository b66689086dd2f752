"""What there is at the end of a run: queues, copies of databases, mailboxes, external servers."""

from __future__ import annotations

from typing import Any, NamedTuple

from spark_eval.read.clocks import LabClock
from spark_eval.read.json_lines.content import DIGEST, seen
from spark_eval.read.json_lines.needed import add, needed, require
from spark_eval.read.json_lines.rows_by_kind import Rows
from spark_eval.read.json_values import row_of
from spark_eval.read.names import Ref, addresses, message_id, server_of, short_name, stem_of
from spark_eval.read.rows import CopyRow, JournalReport, QueueRow, Report, VisibleRow

# what a store holds though no promise keeps it; of such a thing its state says what is wrong
_LEFT = ("left-body", "left-fork", "left-head", "running-request")
_STATES = ("active", "dismounted", "passive", "seeding")


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


def queues(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(_Queued, value)
    queue = needed(read.queue)
    # a notification may outlive all that its server knew of the message
    is_named = (
        read.message_id is not None
        or (queue == "discard" and read.internal_id is not None)
        or (queue in _LEFT and read.state is not None)
    )
    require(is_named)
    row = QueueRow(
        server_of(ref.file), queue, message_id(read.message_id), *read[2:-1], ref=ref,
        encoding=read.content_transfer_encoding,
    )  # fmt: skip
    add(rows.queues, row)


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


def copies(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read = row_of(_Copy, value)
    digest = needed(read.content_sha256)
    require(read.state in _STATES and DIGEST.match(digest) is not None)
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


def mailbox(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, (content, encoding, stored_bytes) = row_of(_Mailbox, value), seen(value)
    row = VisibleRow(
        needed(message_id(needed(read.message_id))), needed(read.mailbox).lower(), "mailbox",
        stem_of(ref.file), short_name(read.server), read.delivered_ms, read.submitted_ms, None,
        _sender(read.sender), content, read.reports, read.in_reply_to,
        read.references, ref, read.journal, encoding, stored_bytes,
    )  # fmt: skip
    add(rows.visible, row)


class _External(NamedTuple):
    message_id: str | None
    sender: str | None
    recipients: tuple[str, ...] | None
    received_ms: int | None
    mono_ns: int | None
    reports: tuple[Report, ...] | None
    in_reply_to: str | None
    references: str | None


def external(rows: Rows, value: Any, ref: Ref, clock: LabClock) -> None:
    read, (content, encoding, stored_bytes) = row_of(_External, value), seen(value)
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
        add(rows.visible, row)


def _sender(text: str | None) -> str | None:
    return None if text is None else text.lower()
