"""converted_once: content conversion changes what is stored, once, between recipient resolution and
routing; whoever has a message as first received converts it anew (RT-7, SN-17).

Asks each message of the workload, where the organisation has text in a transfer encoding of its
own (ByteEncoderTypeFor7BitCharsets). Whoever reads it has it in that encoding, and once it is
decoded it is what was sent. A server that comes to answer for it as it was sent logs one TRANSFER,
behind the rows of its groups, and has the size that it then says; one that gets it converted logs
none. A shadow message has the size that its primary server was given, and is promoted, or given
back by a Shadow Safety Net, with that; a Primary Safety Net gives back what was stored. What queue
databases hold at the end is in that encoding, or as it was sent, likewise. In other organisations
nobody converts anything.

A shadow message made of mail that was promoted or resubmitted has what its new primary server
stored. Not asked: what is near a hole of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked, fits, of_row
from spark_eval.cases.forms import agreement
from spark_eval.claims.claim import Claim
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Key, Primary, is_conversion, key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING, LEDGER, MAILBOXES
from spark_eval.read.rows import QueueRow, SentRow, TrackingRow, VisibleRow

RESOLVED = ("EXPAND", "DUPLICATEEXPAND")
ROUTED = ("SEND", "DELIVER", "DUPLICATEDELIVER", "DEFER", "FAIL")
ANEW = ("RT-7", "SN-17")
STORED, AS_RECEIVED = ("delivery", "primary-safety-net"), ("shadow", "shadow-safety-net")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is None:
        return
    for seen in message.visible:
        yield from _read(message, message.sent, seen, run)
    for primary in message.primaries.values():
        server = run.servers.get(primary.key.server)
        if primary.born is not None and server is not None:
            yield from _taken(message, message.sent, primary, primary.born, server, run)
    if run.config.encoding is not None:
        yield from _second_copies(message)
        yield from _given_back(message)
        yield from _left(message, message.sent, run.config.encoding)


def _read(message: Message, sent: SentRow, seen: VisibleRow, run: Run) -> Iterator[Case]:
    if run.config.encoding is None and seen.encoding is None:
        return
    status, detail = _as_read(message, sent, seen, run.config.encoding)
    subject = f"{sent.message_id} to {seen.recipient}"
    yield from asked(status, subject, ANEW, detail, seen.copied_ms, seen, sent)


def _as_read(message: Message, sent: SentRow, seen: VisibleRow, encoding: str | None) -> Judged:
    if None in (*seen.content, *sent.content, seen.stored_bytes):
        return UNKNOWN, f"{seen.place}, or the ledger, has no digest of it"
    if seen.encoding != encoding:
        found, wanted = seen.encoding or "as it was sent", encoding or "as it was sent"
        return VIOLATED, f"{seen.place} has it {found}, and the organisation has text {wanted}"
    if seen.content != sent.content:
        return VIOLATED, f"{seen.place} has it {encoding}, and decoded it is not what was sent"
    made = [row.size_bytes for row in message.tracking if is_conversion(row)]
    other = [size for size in made if agreement(size, seen.stored_bytes) == VIOLATED]
    if other:
        return VIOLATED, f"{seen.place} has {seen.stored_bytes} bytes; {other[0]} were made of it"
    return FITS


def _taken(
    message: Message, sent: SentRow, primary: Primary, born: TrackingRow, server: Server, run: Run
) -> Iterator[Case]:
    own = sorted((r for r in message.tracking if key_of(r) == primary.key), key=order_of)
    made = [row for row in own if is_conversion(row)]
    if None in (born.size_bytes, sent.content.size) or not (made or run.config.encoding):
        return
    is_due = run.config.encoding is not None and born.size_bytes == sent.content.size
    wrong = _wrong(own, made, born, is_due)
    if wrong and not server.shows(born.at_ms, born.at_ms + server.slack_ms):
        return
    status, detail = fits(wrong and f"{server.name}, which had it by {born.event}, {wrong}")
    is_anew = primary.is_promoted or born.safety_net is not None
    yield from of_row(status, born, ANEW if is_anew else ("RT-7",), detail, *made[:1])


def _wrong(
    own: Sequence[TrackingRow], made: Sequence[TrackingRow], born: TrackingRow, is_due: bool
) -> str:
    """What does not fit, or the empty text. `own`: its rows at that server, in order."""
    if len(made) != is_due:
        due = "once was due" if is_due else "it was not due"
        return f"logs {len(made)} conversions of {born.size_bytes} bytes, and {due}"
    if not made:
        return ""
    place = own.index(made[0])
    for number, row in enumerate(own):
        if row.event in RESOLVED and (number > place or row.size_bytes != born.size_bytes):
            return f"expands {row.reference} with {row.size_bytes} bytes, once it was converted"
        if row.event in ROUTED and (number < place or row.size_bytes != made[0].size_bytes):
            bytes_ = f"{row.size_bytes} bytes, converted {made[0].size_bytes}"
            return f"logs {row.event} of it with {bytes_}"
    return ""


def _second_copies(message: Message) -> Iterator[Case]:
    for shadow in message.shadows.values():
        primary = message.primaries.get(shadow.key.primary)
        if shadow.held is None:
            continue
        if primary is not None and primary.born is not None:
            is_first = primary.born.event == "RECEIVE"
            given = primary.born.size_bytes if is_first else primary.size_bytes
            yield from _of_size(shadow.held, given, "its primary server was given", primary.born)
        if shadow.promoted is not None:
            yield from _of_size(
                shadow.promoted, shadow.held.size_bytes, "it was held with", shadow.held
            )


def _of_size(
    row: TrackingRow, size_bytes: int | None, which: str, other: TrackingRow | None
) -> Iterator[Case]:
    detail = f"{row.server} logs {row.event} with {row.size_bytes} bytes; {which} {size_bytes}"
    status = agreement(row.size_bytes, size_bytes)
    yield from of_row(status, row, ("SN-17",), detail, other)


def _given_back(message: Message) -> Iterator[Case]:
    held = {
        (each.held.server, each.held.database_id, each.held.internal_id): each.held
        for each in message.shadows.values()
        if each.held is not None
    }
    for row in message.of_event("RESUBMIT"):
        copy = (row.server, row.database_id or "", row.copy_internal_id or "")
        kept, primary = held.get(copy), message.primaries.get(Key(*copy))
        if row.safety_net == "shadow" and kept is not None:
            yield from _of_size(row, kept.size_bytes, "it was held with", kept)
        elif row.safety_net == "primary" and primary is not None:
            stored = primary.transferred or primary.born or primary.loaded
            yield from _of_size(row, primary.size_bytes, "stored were", stored)


def _left(message: Message, sent: SentRow, encoding: str) -> Iterator[Case]:
    """What queue databases hold of it at the end."""
    sizes = {
        (each.held.server, each.held.internal_id): each.held.size_bytes
        for each in message.shadows.values()
        if each.held is not None
    }
    for queued in message.queued:
        size = sizes.get((queued.server, queued.internal_id or ""))
        if queued.queue in STORED:
            yield from _is_stored(queued, encoding, message)
        elif queued.queue in AS_RECEIVED and size is not None:
            is_first = size == sent.content.size
            yield from _is_stored(queued, None if is_first else encoding, message)


def _is_stored(queued: QueueRow, encoding: str | None, message: Message) -> Iterator[Case]:
    found, wanted = queued.encoding or "as it was sent", encoding or "as it was sent"
    wrong = f"{queued.queue} of {queued.server} has it {found}; it is to have it {wanted}"
    status, detail = fits(wrong if found != wanted else "")
    subject = f"{message.message_id} in {queued.queue} of {queued.server}"
    yield from asked(status, subject, ("SN-17",), detail, None, queued, server=queued.server)


CLAIM = Claim(
    "converted_once",
    ANEW,
    needs=frozenset({EXACT_TRACKING, LEDGER, MAILBOXES}),
    of_message=_cases,
)
