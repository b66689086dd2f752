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

from spark_eval.cases.case import HOLDS, VIOLATED, Case, of_row
from spark_eval.cases.forms import precedence
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.node.disk import is_lost
from spark_eval.histories.message import Message
from spark_eval.histories.primary import key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow, grouped

STORED = ("DELIVER", "DUPLICATEDELIVER")
# real servers have more events by which a message comes, such as TRANSFER, than F§1.4 lists
OTHERS = (
    "SEND", "DEFER", "FAIL", "HAREDIRECT", "HAREDIRECTFAIL", "HARECEIVE", "HADISCARD", "SUPPRESSED",
    "POISONMESSAGE", *STORED,
)  # fmt: skip


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        rows = (row for row in sorted(each.tracking, key=order_of) if key_of(row) is not None)
        for own in grouped(rows, key_of).values():
            waited = any(row.event not in STORED for row in own)
            came = next((n for n, row in enumerate(own) if row.event not in OTHERS), None)
            for place, row in enumerate(own):
                if row.event == "SEND" or (waited and row.event in STORED):
                    status = precedence(came, place)
                    if status == HOLDS:
                        yield from of_row(status, row, ("TL-2",), "")
                    elif not _may_be_lost(row, run):
                        yield from _missing(row, None if came is None else own[came])


def _may_be_lost(row: TrackingRow, run: Run) -> bool:
    """The row that says how it came."""
    server = run.servers.get(row.server)
    began_ms = server.life_at(row.at_ms) if server else None
    return server is None or began_ms is None or is_lost(server, began_ms, row.at_ms)


def _missing(row: TrackingRow, came: TrackingRow | None) -> tuple[Case, ...]:
    """`came`: the first row of that message there that says how it came."""
    went = f"{row.server} logged {row.event} of {row.internal_id} at {stamp(row.at_ms)}"
    detail = f"{went}; its log does not say how it came"
    if came is not None:
        detail = f"{went}; only at {stamp(came.at_ms)} its log says how it came ({came.event})"
    weight = came.at_ms - row.at_ms if came else 0
    return of_row(VIOLATED, row, ("TL-2",), detail, came, weight=weight)


CLAIM = Claim("intake_logged", ("TL-2",), needs=frozenset({TRACKING}), of_message=_cases)
