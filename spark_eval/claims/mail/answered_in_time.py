"""answered_in_time: whoever hands over a message hears what became of it before the session ends
(SR-6).

Asks every attempt of the workload that waited for a tenth of ConnectionTimeout or more, or that
ended without a reply, while neither its server nor the way there was in trouble: its answer is
there by ConnectionTimeout, and what a server and the record need to notice. An answer is any reply
but a 421, which ends the session and says nothing of the message. Where other servers are silent,
that is what SR-6 divides the sender's session for; while no fault acts anywhere, nor did within the
length of a session, nobody waits for any, and QUIET_MS must do.

The workload waits 5 minutes for a reply (RFC 5321 section 4.5.3.2), and no sound server lets a
command wait that long; for the one to the final dot it waits 15. Where ConnectionTimeout is longer
than that, a sender that gave up first is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, limit_ms
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LEDGER

# while all is well, what committing a message here and at one other server takes at most
QUIET_MS = 20_000
OK = "ok"
STOPPED = "the workload was stopped"
_GAVE_UP = re.compile("final dot: .*timed out")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        server = run.servers.get(attempt.server)
        if server is None or attempt.started_ms is None or attempt.ended_ms is None:
            continue
        took_ms = attempt.ended_ms - attempt.started_ms
        if (judged := _judged(attempt, server, run, took_ms)) is not None:
            status, detail = judged
            subject = f"{message.message_id}, attempt {attempt.number}"
            weight = took_ms - server.config.session_ms
            yield Case(
                status,
                subject,
                ("SR-6",),
                detail,
                attempt.ended_ms,
                (attempt.ref,),
                weight,
                server=server.name,
            )


def _judged(attempt: Attempt, server: Server, run: Run, took_ms: int) -> tuple[Status, str] | None:
    """None where the attempt is not asked."""
    session_ms, limit = server.config.session_ms, limit_ms(server, run)
    is_late_in_quiet = took_ms > limit - session_ms + QUIET_MS and not _faults_act(
        attempt, run, session_ms
    )
    is_answer = attempt.reply is not None and not attempt.reply.startswith("421")
    is_slow = took_ms * 10 >= session_ms
    if is_answer and not is_slow and not is_late_in_quiet:
        return None
    if is_troubled(server.name, run, attempt.started_ms, attempt.ended_ms):
        return None
    if STOPPED in (attempt.reason or ""):
        return None
    if attempt.reply is None and _gave_up(attempt) and took_ms < session_ms:
        return None
    name, took = server.name, stamp(took_ms)
    if attempt.reply is None and attempt.outcome == OK:
        # whoever wrote the ledger kept that it was accepted, and not in which words
        return (VIOLATED, _too_late(attempt, session_ms, name)) if took_ms > limit else None
    if attempt.reply is None:
        return VIOLATED, f"{name} gave no answer in {took} ({attempt.reason})"
    if not is_answer:
        return VIOLATED, f"{name} ended the session instead of an answer: {attempt.reply}"
    if took_ms > limit:
        return VIOLATED, _too_late(attempt, session_ms, name)
    if is_late_in_quiet:
        return VIOLATED, f"{name} answered after {took}, and no fault acted anywhere"
    return (HOLDS, "") if is_slow else None


def _too_late(attempt: Attempt, session_ms: int, name: str) -> str:
    over = stamp((attempt.started_ms or 0) + session_ms)
    return f"{name} answered at {stamp(attempt.ended_ms)}; ConnectionTimeout was over at {over}"


def _gave_up(attempt: Attempt) -> bool:
    return _GAVE_UP.match((attempt.reason or "").lower()) is not None


def _faults_act(attempt: Attempt, run: Run, session_ms: int) -> bool:
    """Whether any fault may have acted meanwhile, or within the length of a session before."""
    started_ms, ended_ms = attempt.started_ms or 0, attempt.ended_ms or 0
    return touches(run.acting, started_ms - session_ms, ended_ms)


CLAIM = Claim("answered_in_time", ("SR-6",), needs=frozenset({LEDGER}), of_message=_cases)
