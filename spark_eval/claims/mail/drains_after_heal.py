"""drains_after_heal: after the last heal and `settle`, no queue holds what could be delivered.

Asks every primary message of a server whose queue listing was collected, and every entry of a
delivery queue or of the poison queue, which only a person empties. Where a fault never healed
that was to, nothing can be said of what waits. What a server that is gone for good had waits
nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.histories.faults import unhealed
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, Primary
from spark_eval.histories.run import Run
from spark_eval.read.plan import QUEUES
from spark_eval.read.rows import QueueRow, grouped

WAITING = ("delivery", "poison")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        born = {key: primary for key, primary in each.primaries.items() if primary.born}
        queued = (row for row in each.queued if row.queue in WAITING)
        waiting = grouped(queued, lambda row: _key(row, run))
        for key in sorted({*born, *waiting}):
            rows: Sequence[QueueRow | None] = waiting.get(key) or [None]
            for row in rows:
                yield from _case(each, run, key.server, row, born.get(key))


def _key(queued: QueueRow, run: Run) -> Key:
    """In the queue database that its server had at the end."""
    server = run.servers.get(queued.server)
    database_id = server.last_database_id if server else ""
    return Key(queued.server, database_id, queued.internal_id or "")


def _case(
    message: Message, run: Run, server: str, queued: QueueRow | None, primary: Primary | None
) -> Iterator[Case]:
    if queued is None and primary is not None and _is_lost(primary, run):
        return
    status, detail = _judged(run, server, queued)
    entered_ms = queued.entered_ms if queued else None
    yield from asked(
        status, message.message_id, (), detail, run.end_ms if entered_ms is None else entered_ms,
        queued, primary.born.ref if primary and primary.born else None,
        weight=(run.end_ms or 0) - entered_ms if entered_ms is not None else 0, server=server,
    )  # fmt: skip


def _is_lost(primary: Primary, run: Run) -> bool:
    """With a server that is gone: it waits nowhere, and `no_loss` asks what became of it."""
    server = run.servers.get(primary.key.server)
    return server is not None and server.is_gone


def _judged(run: Run, server: str, queued: QueueRow | None) -> Judged:
    if queued is None:
        if run.is_listed(server):
            return FITS
        return UNKNOWN, f"no sound queue listing of {server}"
    if names := unhealed(run.faults):
        return UNKNOWN, f"waits in {server}; never healed: {', '.join(names)}"
    whom = ", ".join(queued.recipients or ())
    since = stamp(queued.entered_ms)
    return VIOLATED, f"in a {queued.queue} queue of {server} since {since}, for {whom}"


CLAIM = Claim("drains_after_heal", (), needs=frozenset({QUEUES}), of_message=_cases)
