"""traceable: whoever has one word about a message finds all others (TL-3, TL-5).

Asks of each message whether all its rows in tracking logs, of forks and of shadow messages alike,
have a network message id under which a server received or made it, and whether nothing has two:
neither a message under its internal id, nor a shadow message beside its primary one and what it
became, nor what Safety Net gave back beside its copy. Asks of each fork that one server of the
organisation sent to another one whether it was taken under the id that it was sent under, and of
each 250 to the workload whether it names the message, the server and its internal id in Exchange's
words, or the item of the Outbox that has it. What a hole swallowed accuses nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, fits
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import Hop, hops, takings
from spark_eval.histories.message import Message
from spark_eval.histories.primary import order_of
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.read.plan import EXACT_TRACKING, LEDGER
from spark_eval.read.rows import TrackingRow

# a kill may have swallowed the RECEIVE, or come before it; what is rejected has none
ENTERED = ("RECEIVE", "DSN", "LOAD", "HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE")
EXACT = frozenset({EXACT_TRACKING})
_ID = "[InternalId="
_NAMED = re.compile(
    r"250 2\.6\.0 .+ \[InternalId=[0-9]+, Hostname=([^ .\]]+)[^ ]*\] "
    r"(?:.+ )?Queued mail for delivery$"
)
_IN_OUTBOX = re.compile(
    r"250 2\.6\.0 .+ \[ItemId=[!-~]+, Hostname=([^ .\]]+)[^ ]*\] Queued in Outbox$"
)


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        yield from _ids(each)
        for hop in hops(each, run):
            yield from _fork(each, hop, run)
        for attempt in each.attempts:
            if _is_asked(attempt, run):
                yield from _reply(each, attempt, run)


def _ids(message: Message) -> Iterator[Case]:
    rows = [row for row in message.tracking if row.network_message_id and row.internal_id]
    entered = {row.network_message_id for row in rows if row.event in ENTERED}
    if entered:
        status, detail = fits(_wrong(rows, {row.network_message_id for row in rows} - entered))
        first = min(rows, key=lambda row: (row.at_ms, row.ref))
        yield from asked(
            status, message.message_id, ("TL-3",), detail, first.at_ms, first, server=first.server
        )


def _wrong(rows: list[TrackingRow], unknown: set[str | None]) -> str:
    """What does not fit, or the empty text."""
    if unknown:
        name = min(each or "" for each in unknown)
        return f"logged under {name}, by which no server received it"
    names = {(key, row.network_message_id) for row in rows for key in _keys(row)}
    if len({key for key, _ in names}) < len(names):
        return "one internal id of a server is logged under two network message ids"
    return ""


def _keys(row: TrackingRow) -> Iterator[tuple[str, str, str]]:
    """What a row is about: a message of its server, the primary message that this is or was a copy
    of, the copy in Safety Net that it was made of.
    """
    server, database_id = row.server, row.database_id or ""
    for own_id in (row.internal_id, row.copy_internal_id):
        if own_id is not None:
            yield server, database_id, own_id
    if row.primary_internal_id is not None:
        yield row.primary_server or server, row.primary_database_id or "", row.primary_internal_id


def _fork(message: Message, hop: Hop, run: Run) -> Iterator[Case]:
    """The last that its server took under that internal id before the sender said so: a new queue
    database counts its messages anew.
    """
    sent, peer = hop.row, run.servers[hop.peer]
    vague_ms = peer.slack_ms + peer.askew_ms + run.finest_ms
    found = [row for row in takings(message, hop, run) if row.at_ms <= sent.at_ms + vague_ms]
    taken = max(found, key=order_of, default=None)
    if taken is None or None in (sent.network_message_id, taken.network_message_id):
        return
    name, other = sent.network_message_id, taken.network_message_id
    detail = f"{sent.server} sent it as {name}, and {peer.name} took it as {other}"
    yield from asked(
        HOLDS if name == other else VIOLATED, message.message_id, ("TL-3",), detail, taken.at_ms,
        taken, sent, server=peer.name,
    )  # fmt: skip


def _is_asked(attempt: Attempt, run: Run) -> bool:
    """Somebody else's ledger may lack the words of the reply, or have those of a gateway."""
    says_id, behind = _ID in (attempt.reply or ""), run.behind(attempt.called)
    has_words = says_id or any(run.organisation.shows(name, EXACT) for name in behind)
    return attempt.outcome == "ok" and has_words


def _reply(message: Message, attempt: Attempt, run: Run) -> Iterator[Case]:
    reply, name = attempt.reply or "", message.message_id
    found = (_IN_OUTBOX if message.is_internal else _NAMED).match(reply)
    is_named = name in reply or len(name) > run.software.message_id_shown
    holds = found is not None and is_named and found[1].lower() in run.behind(attempt.called)
    yield from asked(
        HOLDS if holds else VIOLATED, f"{name}, attempt {attempt.number}", ("TL-5",),
        f"{attempt.called} accepted it and answered {attempt.reply or '?'}", attempt.ended_ms,
        attempt, server=attempt.server,
    )  # fmt: skip


CLAIM = Claim("traceable", ("TL-3", "TL-5"), needs=frozenset({LEDGER}), of_message=_cases)
