"""Every line of the record that is about a message, and what held meanwhile: the definition.

A line is about a message by its Message-Id, by the network message id that a server gave it, or by
referring to it, as a delivery status notification does. Faults, operations and activated copies are
part of a story from its first line to its last. Nothing is judged, and nothing left out of the
first `MOST_LINES`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import Any

from spark_eval.read.folder.run_folder import RunFolder
from spark_eval.read.names import PROBE_MARK
from spark_eval.story.clock import kept
from spark_eval.story.lines import Line
from spark_eval.story.meanwhile import meanwhile
from spark_eval.story.row import StoryLine, said, text, texts, whole
from spark_eval.story.run_record import RunRecord, read_record
from spark_eval.story.tracking import TrackingRow, bracketed, short_name, tracking_row

LEDGER = r"^ledger\.jsonl$"
QUEUES = r"/queues\.jsonl$"
COPIES = r"^(mailboxes|external)/"
TRACKING = r"/MSGTRK"
MOST_LINES = 100_000
"""Of all messages together; a server that repeats itself for ever has no end."""
NAMED = re.compile(r"<[^<> ]+>")


def named_in(subject: str) -> str | None:
    """The message that a counter-example is about, if it is about one."""
    named = NAMED.search(subject)
    return named[0] if named else None


def stories(folder: RunFolder, message_ids: Collection[str]) -> list[StoryLine]:
    """The lines of each message, by message and time; `message_ids` with angle brackets."""
    wanted = {name for name in message_ids if not name.startswith(PROBE_MARK)}
    if not wanted:
        return []
    record = read_record(folder)
    about = list(islice(chain(_recorded(record, wanted), _tracked(record, wanted)), MOST_LINES))
    during = [row for name in wanted for row in _meanwhile(record, name, about)]
    return sorted([*about, *during], key=lambda row: (row.message_id, row.order))


def _meanwhile(record: RunRecord, message_id: str, about: list[StoryLine]) -> Iterator[StoryLine]:
    mine = (row.at_ms for row in about if row.message_id == message_id)
    times = [at_ms for at_ms in mine if at_ms is not None]
    return meanwhile(record, message_id, min(times), max(times)) if times else iter(())


def _recorded(record: RunRecord, wanted: Collection[str]) -> Iterator[StoryLine]:
    """Lines of the JSON Lines files: the ledger, queue databases at the end, visible copies."""
    bare = {name.strip("<>") for name in wanted}
    written = bare | {json.dumps(name)[1:-1] for name in bare}
    for pattern, of_line in ((LEDGER, _sent), (QUEUES, _listed), (COPIES, _visible)):
        for line in record.lines.records(pattern, written):
            row = line.json_object()
            message_id = bracketed(text(row, "message_id"))
            if message_id is not None and message_id in wanted:
                yield from of_line(record, message_id, line, row)


def _sent(
    _record: RunRecord, message_id: str, line: Line, row: Mapping[str, Any]
) -> Iterator[StoryLine]:
    at_ms = whole(row, "submitted_ms", "started_ms", "ended_ms")
    mono_ns = whole(row, "mono_ns")
    what = _sent_in_words(row)
    yield StoryLine(message_id, at_ms, mono_ns, "workload", what, line.file, line.number)


def _sent_in_words(row: Mapping[str, Any]) -> str:
    if row.get("type") == "message":
        recipients = ", ".join(texts(row, "recipients"))
        sender, size = said(row, "sender"), said(row, "size_bytes")
        return f"{said(row, 'mail')} from {sender} to {recipients}, {size} bytes"
    attempt = f"attempt {said(row, 'attempt')} at {short_name(text(row, 'server')) or '?'}"
    if row.get("type") == "attempt":
        return attempt
    more = [f", {row[name]}" for name in ("reply", "reason") if row.get(name)]
    return f"{attempt}: {said(row, 'outcome')}{''.join(more)}"


def _listed(
    record: RunRecord, message_id: str, line: Line, row: Mapping[str, Any]
) -> Iterator[StoryLine]:
    """What a queue database held at the end."""
    state = f", {row['state']}" if row.get("state") is not None else ""
    what = f"at the end in the {said(row, 'queue')} queue{state}"
    end_ms = whole(record.plan, "duration_ms")
    yield StoryLine(message_id, end_ms, None, line.server, what, line.file, line.number)


def _visible(
    record: RunRecord, message_id: str, line: Line, row: Mapping[str, Any]
) -> Iterator[StoryLine]:
    """Copies that recipients see; a mailbox was dated by the server that wrote it."""
    place = PurePosixPath(line.file).stem
    if line.file.startswith("mailboxes/"):
        lives = record.lives.get(short_name(text(row, "server")) or "", ())
        at_ms = kept(whole(row, "delivered_ms"), lives)
        recipients, seen = [said(row, "mailbox")], "visible in the mailbox of"
    else:
        at_ms = record.clock.placed(whole(row, "received_ms"), whole(row, "mono_ns"))
        recipients, seen = texts(row, "recipients"), "received for"
    for recipient in recipients:
        what = f"{seen} {recipient.lower()}"
        yield StoryLine(message_id, at_ms, None, place, what, line.file, line.number)


def _tracked(record: RunRecord, wanted: Collection[str]) -> Iterator[StoryLine]:
    """Rows of the message itself, of its network message ids, and of those that refer to it."""
    bare = {name.strip("<>").replace('"', '""') for name in wanted}
    networks: set[tuple[str, str]] = set()
    for line, row in _rows(record, bare):
        about = [name for name in wanted if name == row.message_id or name in row.reference]
        yield from (_tracked_line(name, line, row) for name in about)
        network = row.network_message_id
        if network is not None:
            networks |= {(network, name) for name in about if name == row.message_id}
    for line, row in _rows(record, {network for network, _ in networks}):
        if row.message_id is None:
            about = [name for network, name in networks if network == row.network_message_id]
            yield from (_tracked_line(name, line, row) for name in about)


def _rows(record: RunRecord, written: Collection[str]) -> Iterator[tuple[Line, TrackingRow]]:
    for line in record.lines.logs(TRACKING, written) if written else ():
        row = tracking_row(line, record.clock)
        if row is not None and not (row.message_id or "").startswith(PROBE_MARK):
            yield line, row


def _tracked_line(message_id: str, line: Line, row: TrackingRow) -> StoryLine:
    place, what = row.server, row.in_words()
    return StoryLine(message_id, row.at_ms, row.mono_ns, place, what, line.file, line.number)
