"""intake_logged: the message tracking log of a server says how it got a message before it says that
the message went on (TL-2).

Asks every SEND, and every DELIVER and DUPLICATEDELIVER of a message that waited in a queue of this
server, as another row of the same message shows: an earlier row says how it came (F§1.4). That is
RECEIVE, LOAD (it was found in the queue database at the start), RESUBMIT (a shadow message that was
promoted, or a copy of a Safety Net), DSN (this server made it), or an event that no node writes,
which may say it. The tracking log of one server is asked, nothing else; a message is its internal
id in one queue database.

Not asked: a DELIVER or DUPLICATEDELIVER that is all the log has of a message: a server that another
one of its boundary hands mail for a mailbox never answers for it, and logs no RECEIVE. Nor is a row
of a life in which a full disk or a hole of the log, such as before a kill, may have swallowed the
other; what an earlier life did not say is no excuse, since each start loads what still waits. Nor
is one of no known life: where a server has no lifecycle log, as real ones have none, its tracking
log may begin when the message was there already.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.disk import is_lost
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

STORED = ("DELIVER", "DUPLICATEDELIVER")
# real servers have more events by which a message comes, such as TRANSFER, than F§1.4 lists
OTHERS = (
    "SEND", "DEFER", "FAIL", "HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE", "HADISCARD", "SUPPRESSED",
    "POISONMESSAGE", *STORED,
)  # fmt: skip


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        rows: dict[Key, list[TrackingRow]] = {}
        for row in sorted(each.tracking, key=order_of):
            if (key := key_of(row)) is not None:
                rows.setdefault(key, []).append(row)
        for own in rows.values():
            yield from _of_server(each, own, run)


def _of_server(message: Message, rows: list[TrackingRow], run: Run) -> Iterator[Case]:
    waited, has_come = any(row.event not in STORED for row in rows), False
    for place, row in enumerate(rows):
        if row.event == "SEND" or row.event in STORED:
            if has_come:
                yield Case(
                    HOLDS, f"{message.message_id} at {row.server}", ("TL-2",), server=row.server
                )
            elif waited:
                later = next((each for each in rows[place:] if each.event not in OTHERS), None)
                yield from _missing(message, row, later, run)
        has_come = has_come or row.event not in OTHERS


def _missing(
    message: Message, row: TrackingRow, later: TrackingRow | None, run: Run
) -> Iterator[Case]:
    server = run.servers.get(row.server)
    began_ms = server.life_at(row.at_ms) if server else None
    if server is None or began_ms is None or is_lost(server, began_ms, row.at_ms):
        return
    went = f"{row.server} logged {row.event} of {row.internal_id} at {stamp(row.at_ms)}"
    detail = f"{went}; its log does not say how it came"
    if later is not None:
        came = stamp(later.at_ms)
        detail = f"{went}; only at {came} its log says how it came ({later.event})"
    yield Case(
        VIOLATED, f"{message.message_id} at {row.server}", ("TL-2",), detail, row.at_ms,
        refs(row.ref, later.ref if later else None), later.at_ms - row.at_ms if later else 0,
        server=row.server,
    )  # fmt: skip


CLAIM = Claim("intake_logged", ("TL-2",), needs=frozenset({TRACKING}), of_message=_cases)
