"""refused_for_cause: no server turns a message away for nothing (SR-5).

Asks every attempt of the workload that was answered with a 4xx or a 5xx. Each recipient of a run
has a mailbox or a route, so a server that takes mail takes it: it may refuse a message that has
more octets than MaxReceiveSize, or any while a fault has its disk, its process or the way to it,
and reject one that it could not make redundant; then its tracking log says what it tried, which
`shadow_placement` judges. A 421, which ends the session, is no answer (`answered_in_time`).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.next.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.next.claims.claim import Claim
from spark_eval.next.expected.calls import is_troubled
from spark_eval.next.expected.rejection import REJECTION, is_rejection
from spark_eval.next.histories.message import Message
from spark_eval.next.histories.run import Run
from spark_eval.next.histories.sending import Attempt
from spark_eval.next.read.names import Ref


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        if _is_refused(attempt):
            row = _rejection(attempt, message)
            status, detail = _judged(attempt, message, run, row)
            subject = f"{message.message_id}, attempt {attempt.number}"
            shown = refs(attempt.ref, row)
            yield Case(status, subject, ("SR-5",), detail, attempt.ended_ms, shown)


def _is_refused(attempt: Attempt) -> bool:
    reply = attempt.reply or ""
    return reply[:1] in ("4", "5") and not reply.startswith("421")


def _rejection(attempt: Attempt, message: Message) -> Ref | None:
    """The row that says that no shadow message could be made in this attempt."""
    if not (attempt.reply or "").startswith(REJECTION):
        return None
    rows = (row for row in message.tracking if row.server == attempt.server and is_rejection(row))
    return min((row.ref for row in rows if attempt.spans(row.mono_ns)), default=None)


def _judged(
    attempt: Attempt, message: Message, run: Run, rejection: Ref | None
) -> tuple[Status, str]:
    is_excused = (
        rejection is not None
        or _is_too_large(attempt, message, run)
        or is_troubled(attempt.server, run, attempt.started_ms, attempt.ended_ms)
    )
    if is_excused:
        return HOLDS, ""
    if not (attempt.reply or "").startswith(REJECTION):
        detail = f"{attempt.server} refused it, and no fault was in the way: {attempt.reply}"
        return VIOLATED, detail
    server = run.servers.get(attempt.server)
    if server and not server.shows(attempt.started_ms or 0, attempt.ended_ms or 0):
        return UNKNOWN, f"the tracking log of {attempt.server} has a hole there"
    return VIOLATED, f"{attempt.server} rejected it, and logged no attempt to make it redundant"


def _is_too_large(attempt: Attempt, message: Message, run: Run) -> bool:
    size = message.sent.content.size if message.sent else None
    is_larger = size is not None and size > run.config.max_bytes
    return is_larger and (attempt.reply or "").startswith("552")


CLAIM = Claim("refused_for_cause", ("SR-5",), of_message=_cases)
