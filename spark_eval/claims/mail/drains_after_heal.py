"""drains_after_heal: after the last heal and `settle`, no queue holds what could be delivered.

Asks every primary message of a server whose queue listing was collected, and every entry of a
delivery queue or of the poison queue, which only a person empties. Where a fault never healed,
nothing can be said of what waits.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.histories.faults import unhealed
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.read.plan import QUEUES
from spark_eval.read.rows import QueueRow

WAITING = ("delivery", "poison")
Name = tuple[str, str | None]


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        owned: dict[Name, list[Primary | None]] = {}
        for primary in each.primaries.values():
            if primary.born is not None and primary.network_message_id is not None:
                born = (primary.key.server, primary.network_message_id)
                owned.setdefault(born, []).append(primary)
        waiting: dict[Name, list[QueueRow | None]] = {}
        for row in each.queued:
            if row.queue in WAITING:
                waiting.setdefault((row.server, row.network_message_id), []).append(row)
        for name in sorted({*owned, *waiting}, key=str):
            for queued in waiting.get(name) or [None]:
                for primary_or_none in owned.get(name) or [None]:
                    yield _case(each, run, name[0], queued, primary_or_none)


def _case(
    message: Message, run: Run, server: str, queued: QueueRow | None, primary: Primary | None
) -> Case:
    status, detail = _judged(run, server, queued)
    entered_ms = queued.entered_ms if queued else None
    born = primary.born.ref if primary and primary.born else None
    return Case(
        status,
        message.message_id,
        (),
        detail,
        run.end_ms if entered_ms is None else entered_ms,
        refs(queued.ref if queued else None, born),
        weight=(run.end_ms or 0) - entered_ms if entered_ms is not None else 0,
        server=server,
    )


def _judged(run: Run, server: str, queued: QueueRow | None) -> tuple[Status, str]:
    if queued is None:
        if run.is_listed(server):
            return HOLDS, ""
        return UNKNOWN, f"no sound queue listing of {server}"
    if names := unhealed(run.faults):
        return UNKNOWN, f"waits in {server}; never healed: {', '.join(names)}"
    whom = ", ".join(queued.recipients or ())
    since = stamp(queued.entered_ms)
    return VIOLATED, f"in a {queued.queue} queue of {server} since {since}, for {whom}"


CLAIM = Claim("drains_after_heal", (), needs=frozenset({QUEUES}), of_message=_cases)
