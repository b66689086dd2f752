"""passed_on: a front end says 250 only what a mailbox server of its site has said, and chooses
another where one does not answer (TP-7).

Asks every 250 to the workload from a front end: by its words a mailbox server of the site has the
message, and in the order of the monotonic clock that server logged RECEIVE, the front end that it
passed this 250 on, and the sender heard it. Asks every refusal that a front end says for itself:
that none answers, while faults were in the way of each mailbox server of its site; that it lost the
one that had the message, while a fault was in the way of one. Asks every session that it opened:
it is to a mailbox server of its site.

A row that is near a hole of its log, such as before a kill, proves nothing by being absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked, fits
from spark_eval.cases.forms import precedence
from spark_eval.cases.words import hole_of, stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.acknowledged import primary_behind
from spark_eval.expected.node.front_ends import (
    is_excused,
    says_no_server,
    says_server_lost,
    servers_behind,
)
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.read.plan import COMMON_CLOCK, CONNECTIVITY, LEDGER
from spark_eval.read.rows import ConnectivityRow, collected

_PASSED = re.compile(r"Passed (?P<message><[^>]+>): 2[0-9]{2} ")


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        front_end = run.servers.get(attempt.called)
        if front_end is None or not front_end.is_front_end:
            continue
        subject = f"{message.message_id}, attempt {attempt.number}"
        if attempt.outcome == "ok":
            yield from _accepted(message, subject, attempt, front_end, run)
        elif says_no_server(attempt.reply) or says_server_lost(attempt.reply):
            status, detail = fits(_unexcused(attempt, front_end, run))
            yield from asked(
                status, subject, ("TP-7",), detail, attempt.ended_ms, attempt,
                server=front_end.name,
            )  # fmt: skip


def _unexcused(attempt: Attempt, front_end: Server, run: Run) -> str:
    if is_excused(front_end, attempt, run):
        return ""
    behind = "each mailbox server of its site" if says_no_server(attempt.reply) else "any of them"
    return f"{front_end.name} refused it, and no fault was in the way of {behind}: {attempt.reply}"


def _accepted(
    message: Message, subject: str, attempt: Attempt, front_end: Server, run: Run
) -> Iterator[Case]:
    primary = primary_behind(message, attempt.server, attempt.reply_internal_id)
    born = primary.born if primary is not None else None
    rows = _passed(run).get((front_end.name, message.message_id), [])
    passed = next((each for each in rows if each.peer == attempt.server), None)
    status, detail = _order(attempt, born.mono_ns if born else None, passed, front_end, run)
    yield from asked(
        status, subject, ("TP-7",), detail, attempt.ended_ms, attempt, born, passed,
        server=front_end.name,
    )  # fmt: skip


def _order(
    attempt: Attempt, born_ns: int | None, passed: ConnectivityRow | None, front_end: Server,
    run: Run,
) -> Judged:  # fmt: skip
    said = f"{front_end.name} answered {attempt.reply}"
    if attempt.server not in servers_behind(front_end, run):
        return VIOLATED, f"{said}, which no mailbox server of its site has said"
    at_ms, heard_ns = attempt.ended_ms or 0, attempt.ended_mono_ns or 0
    passed_ns = passed.mono_ns if passed is not None else None
    steps = (
        (born_ns, passed_ns or heard_ns, attempt.server, "received it"),
        (passed_ns, heard_ns, front_end.name, "passed that on"),
    )
    for before_ns, then_ns, name, did in steps:
        is_shown = run.servers[name].shows(at_ms, at_ms)
        status = precedence(before_ns, then_ns, is_shown=is_shown)
        if status == UNKNOWN:
            return status, hole_of(name)
        if status == VIOLATED:
            return status, f"{said} at {stamp(at_ms)}; {name} had not {did} before, by its log"
    return FITS


@lru_cache(maxsize=4)
def _passed(run: Run) -> dict[tuple[str, str], list[ConnectivityRow]]:
    """By front end and Message-Id, each row by which it passed on a 250."""
    found = (
        ((server, match["message"]), row)
        for server, session in run.sessions
        if run.is_front_end(server)
        for row in session.rows
        if (match := _PASSED.match(row.description)) is not None
    )
    return collected(found)


def _of_server(server: Server, run: Run) -> Iterator[Case]:
    if not server.is_front_end:
        return
    behind = servers_behind(server, run)
    for name, session in run.sessions:
        opened = session.opened
        if name == server.name and opened is not None:
            is_near = opened.peer in behind
            status, detail = fits(
                "" if is_near else f"{name} called {opened.peer}, which is not of its site"
            )
            yield from asked(
                status, f"{opened.session} of {name}", ("TP-7",), detail, opened.at_ms, opened,
                server=name,
            )  # fmt: skip


CLAIM = Claim(
    "passed_on",
    ("TP-7",),
    needs=frozenset({LEDGER, CONNECTIVITY, COMMON_CLOCK}),
    of_message=_of_message,
    of_server=_of_server,
)
