"""deferrals_logged: where a server could not send a message on and put it off, its tracking log
says so (TL-2).

Asks every session that was opened for a delivery and given up before it stood, while a message
waited for the server that was called: it came before, and was sent there afterwards. Whichever of
the messages that waited was tried, a DEFER row says that it was put off; where several sessions
were given up at about the same time, as many rows do. The connectivity log and the tracking log of
one server are compared, nothing else.

Not asked: where another server could be tried at once instead, of another boundary, of the same
domain, or with another copy of a mailbox database; what is near a kill, a pause, a restart, a full
disk or a hole of the log; sessions that stood, since they may have been lost over a question.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.waiting import GivenUp, given_up
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import between
from spark_eval.histories.run import Run, Wait
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import CONNECTIVITY, TRACKING


def _cases(server: Server, run: Run) -> Iterator[Case]:
    asked_of = [
        (session, run.waits[session.ref])
        for session in given_up(run).get(server.name, ())
        if session.ref in run.waits
    ]
    ends = sorted(session.at_ms for session, _ in asked_of)
    queues = run.queues.get(server.name)
    deferred = sorted(
        at_ms for queue in (queues.by_name.values() if queues else ()) for at_ms in queue.failures
    )
    for session, wait in asked_of:
        near = (session.at_ms - 2 * server.slack_ms, session.at_ms + server.slack_ms)
        if server.out(*near) is Certainty.NO and server.shows(*near):
            lost = len(between(ends, session.at_ms - server.slack_ms, session.at_ms))
            put_off = len(between(deferred, *near))
            yield from _case(server, session, wait, lost, put_off)


def _case(server: Server, session: GivenUp, wait: Wait, lost: int, put_off: int) -> Iterator[Case]:
    at_ms = session.at_ms
    detail = (
        f"{server.name} called {session.peer} for a delivery at {stamp(session.opened_ms)} and "
        f"gave up at {stamp(at_ms)} ({session.reason}), {wait.message_id} waited for it from "
        f"{stamp(wait.since_ms)} to {stamp(wait.sent_ms)}; DEFER rows about then: {put_off}, "
        f"sessions given up: {lost}"
    )
    yield from asked(
        bound(put_off, lost, None), f"{session.session} of {server.name}", ("TL-2",), detail, at_ms,
        session, wait.came_ref, wait.sent_ref, weight=wait.sent_ms - at_ms,
    )  # fmt: skip


CLAIM = Claim(
    "deferrals_logged", ("TL-2",), needs=frozenset({CONNECTIVITY, TRACKING}), of_server=_cases
)
