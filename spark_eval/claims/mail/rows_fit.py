"""rows_fit: what a row of a tracking log says of a message is what the message is (TL-1).

Asks every row about a message of the workload: its sender and its
size are those with which it was sent, the size also one that content conversion made of it, and it
names nobody to whom it was not sent. RECEIVE has all
of its recipients, where the workload handed it over; what is said of the second copy of a message
(HAREDIRECT, HARECEIVE, HADISCARD, and RESUBMIT where it is promoted) has the recipients for whom
its primary server answers. Of a server that a row names: the reply of HAREDIRECT is that of the
shadow server; the server of a SEND is the one outside for the recipient's domain, or one whose log
says that it took the message for him; that of every other row is the one that writes it.

Not asked: whether the peer of a SEND says so, where in ConnectionInactivityTimeOut before its log
has a hole, or it was away or its disk full. Real
servers expand groups, and count what they put in front of a message: their tracking is not exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import Case, fits, of_row
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import addressees, is_handed_on, names_the_envelope
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import EXTERNAL, MAILBOX, Server
from spark_eval.histories.primary import Key, is_conversion, key_of
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import is_promotion
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import EXACT_TRACKING
from spark_eval.read.rows import SentRow, TrackingRow

EXPANDED = ("EXPAND", "DUPLICATEEXPAND")
TAKEN = ("RECEIVE", "DELIVER", "DUPLICATEDELIVER")
# source-context of HAREDIRECT has the name of the server that took it, and its reply (F§1.6)
_ANSWERED = re.compile(r"[^. ]+")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is None:
        return
    for row in message.tracking:
        wrong = _wrong(row, message, message.sent, run)
        status, detail = fits(wrong and f"its {row.event} row at {row.server} {wrong}")
        yield from of_row(status, row, ("TL-1",), detail, message.sent)


def _wrong(row: TrackingRow, message: Message, sent: SentRow, run: Run) -> str:
    """What does not fit, or the empty text."""
    named = row.recipients or ()
    if row.sender is not None and row.sender != sent.sender:
        return f"says that <{row.sender}> sent it; <{sent.sender}> did"
    size = sent.content.size
    if None not in (row.size_bytes, size) and row.size_bytes not in (size, *_made(message, run)):
        return f"says that it has {row.size_bytes} bytes; it was sent with {size}"
    if row.recipient_count is not None and row.recipient_count != len(named):
        return f"counts {row.recipient_count} recipients, and names {len(named)}"
    if strangers := [each for each in named if not _is_known(each, row, message, run)]:
        return f"names {strangers[0]}, to whom it was not sent"
    missing = [each for each in sent.recipients if each not in named]
    is_anew = all(is_handed_on(each, message, run) for each in named)
    if row.event == "RECEIVE" and missing and not is_anew and _is_handed_over(row, message, run):
        return f"does not name {missing[0]}, to whom it was sent"
    owed = _owed(row, message)
    if owed is not None and set(owed) != set(named):
        return f"names {len(named)} recipients; for others, {len(owed)}, its primary server answers"
    return _wrong_server(row, message, run)


def _made(message: Message, run: Run) -> Iterator[int | None]:
    """What content conversion made of it, which `converted_once` asks: in bytes."""
    if run.config.encoding is not None:
        yield from (row.size_bytes for row in message.tracking if is_conversion(row))


def _is_known(recipient: str, row: TrackingRow, message: Message, run: Run) -> bool:
    """Whom a row may name: an addressee, or a group that is handed on to its expansion server;
    where it names the envelope a group of it, and where it is of an expansion anybody, which
    `groups_expanded` asks.
    """
    if row.event in EXPANDED or recipient in addressees(message, run):
        return True
    if is_handed_on(recipient, message, run):
        return True
    is_sent_to = message.sent is not None and recipient in message.sent.recipients
    return is_sent_to and names_the_envelope(row.event)


def _is_handed_over(row: TrackingRow, message: Message, run: Run) -> bool:
    """While the workload tried to hand the message over to the server."""
    return any(
        row.server in run.behind(each.called) and each.spans(row.mono_ns)
        for each in message.attempts
    )


def _owed(row: TrackingRow, message: Message) -> tuple[str, ...] | None:
    """For whom the primary server answers, of a row about a second copy; None of other rows."""
    if row.event == "HAREDIRECT":
        owner = key_of(row)
    elif row.event in ("HARECEIVE", "HADISCARD") or is_promotion(row):
        named = row.primary_internal_id
        owner = Key(row.primary_server or "", row.primary_database_id or "", named or "")
    else:
        return None
    primary = message.primaries.get(owner) if owner is not None else None
    return primary.born.recipients or () if primary and primary.born else None


def _wrong_server(row: TrackingRow, message: Message, run: Run) -> str:
    if row.event == "HAREDIRECT" and row.shadow_server is not None:
        found = _ANSWERED.match(row.context or "")
        answered = found[0].lower() if found else ""
        if row.context is not None and answered != row.shadow_server:
            return f"has a reply of {answered}, and names {row.shadow_server} as shadow server"
    if row.peer is None:
        return ""
    if row.event != "SEND":
        return "" if row.peer == row.server else f"names {row.peer} as the server that did it"
    if row.peer == row.server:
        return "names this server itself as the one that it was sent to"
    peer = run.servers.get(row.peer)
    if peer is not None and peer.role == EXTERNAL and peer.domain is not None:
        domain = peer.domain.lower()
        is_other = any(each.rpartition("@")[2] != domain for each in row.recipients or ())
        what = f"names {row.peer}, which is not the server of each recipient's domain"
        return what if is_other else ""
    return _not_taken(row, peer, message)


def _not_taken(row: TrackingRow, peer: Server | None, message: Message) -> str:
    took = {
        recipient
        for each in message.of_event(*TAKEN)
        if each.server == row.peer
        for recipient in each.recipients or ()
    }
    missing = [each for each in row.recipients or () if each not in took]
    if not missing or _is_vague(row, peer):
        return ""
    return f"names {row.peer}, whose log does not say that it took it for {missing[0]}"


def _is_vague(row: TrackingRow, peer: Server | None) -> bool:
    """Whether the log of the peer may lack what it did."""
    if peer is None or peer.role not in (MAILBOX, EXTERNAL):
        return False
    start_ms = row.at_ms - peer.config.timeout_ms - peer.slack_ms
    end_ms = row.at_ms + peer.slack_ms
    return peer.out(start_ms, end_ms) is not Certainty.NO or not peer.shows(start_ms, end_ms)


CLAIM = Claim("rows_fit", ("TL-1",), needs=frozenset({EXACT_TRACKING}), of_message=_cases)
