"""answered_in_time: whoever hands over a message hears what became of it before the session ends
(SR-6).

Asks every attempt of the workload that waited for a tenth of ConnectionTimeout or more, or that
ended without a reply, while neither its server nor the way there was in trouble: its answer is
there by ConnectionTimeout, and what a server and the record need to notice. An answer is any reply
but a 421, which ends the session and says nothing of the message (that of a server whose component
HubTransport is Inactive does: `refused_for_cause`); one for a limit of the Receive
connector is what `connections_limited` asks. Where other servers are silent, that is what SR-6
divides the sender's session for; while no fault acts anywhere, nor did within the length of a
session, nobody waits for any, and QUIET_MS must do.

A front end waits for the server behind it, whose session began later: where a fault acted, its
answer is there by that one's ConnectionTimeout.

The workload waits 5 minutes for a reply (RFC 5321 section 4.5.3.2), and no sound server lets a
command wait that long; for the one to the final dot it waits 15. Where ConnectionTimeout is longer
than that, a sender that gave up first is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, NOT_ASKED, VIOLATED, Case, Judged, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, limit_ms
from spark_eval.expected.node.front_ends import longest_behind_ms
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.component_states import NOT_ACCEPTING
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import OVER_CONNECTION_RATE, OVER_RATE, TOO_MANY, Attempt
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import LEDGER

# while all is well, what committing a message here and at one other server takes at most
QUIET_MS = 20_000
OK = "ok"
STOPPED = "the workload was stopped"
_GAVE_UP = re.compile("final dot: .*timed out")


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        server = run.servers.get(attempt.called)
        if server is None or attempt.started_ms is None or attempt.ended_ms is None:
            continue
        took_ms = attempt.ended_ms - attempt.started_ms
        status, detail = _judged(attempt, server, run, took_ms)
        yield from asked(
            status, f"{message.message_id}, attempt {attempt.number}", ("SR-6",), detail,
            attempt.ended_ms, attempt, weight=took_ms - server.config.session_ms,
            server=server.name,
        )  # fmt: skip


def _judged(attempt: Attempt, server: Server, run: Run, took_ms: int) -> Judged:
    session_ms, reply = server.config.session_ms, attempt.reply
    limit = limit_ms(server, run) + _behind_ms(attempt, server, run)
    if (reply or "").startswith((OVER_RATE, OVER_CONNECTION_RATE, TOO_MANY)):
        return NOT_ASKED
    is_closing = (reply or "").startswith("421") and not (reply or "").startswith(NOT_ACCEPTING)
    is_answer = reply is not None and not is_closing
    is_slow, quiet_ms = took_ms * 10 >= session_ms, limit - session_ms + QUIET_MS
    if is_answer and not is_slow and took_ms <= quiet_ms:
        return NOT_ASKED
    is_abandoned = reply is None and _gave_up(attempt) and took_ms < session_ms
    is_troubled_then = is_troubled(server.name, run, attempt.started_ms, attempt.ended_ms)
    if is_troubled_then or is_abandoned or STOPPED in (attempt.reason or ""):
        return NOT_ASKED
    name, took = server.name, stamp(took_ms)
    # whoever wrote the ledger may have kept that it was accepted, and not in which words
    if reply is None and attempt.outcome != OK:
        return VIOLATED, f"{name} gave no answer in {took} ({attempt.reason})"
    if reply is not None and not is_answer:
        return VIOLATED, f"{name} ended the session instead of an answer: {reply}"
    most_ms, late = limit, _too_late(attempt, session_ms, name)
    if is_answer and quiet_ms < took_ms <= limit and not _faults_act(attempt, run, session_ms):
        most_ms, late = quiet_ms, f"{name} answered after {took}, and no fault acted anywhere"
    status = bound(took_ms, None, most_ms)
    return NOT_ASKED if status == HOLDS and not (is_answer and is_slow) else (status, late)


def _behind_ms(attempt: Attempt, server: Server, run: Run) -> int:
    """What a front end may wait longer for the answer of the server behind, whose session began
    later.
    """
    is_quiet = not server.is_front_end or not _faults_act(attempt, run, server.config.session_ms)
    return 0 if is_quiet else longest_behind_ms(server, run)


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
