"""sessions_ended: no server leaves a session that it opened standing for ever, and the ends say
what was carried (TL-4).

Asks every session whose beginning is in its server's connectivity log for its end there. Whoever is
called answers by ConnectionInactivityTimeOut of the caller's Send connector, or is given up; ends
the session by ConnectionTimeout of its Receive connector; and what it was asked just before is
given up after ConnectionInactivityTimeOut again. Which server was called is not in the first row of
every session, so the longest ConnectionTimeout of the run counts.

Asks every server that logs all messages that it sent on (SEND) or made redundant (HAREDIRECT): its
sessions, but for those for logs, for mailboxes that move and for Active Manager, carried as many by
their ends, and besides at most those that were put off, refused, or not made redundant, each
once for each attempt that was logged.

Not asked, where no end is seen by then: a session that could stand until the run was over, or until
its server was away, had a full disk, or started anew; what is near a hole of the log. Nor what a
server's sessions carried, where any of them has no end, or its log a hole, or its disk was full.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound, response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.node.disk import full
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sessions import Session
from spark_eval.histories.traffic import in_vain
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import CONNECTIVITY, EXACT_TRACKING

NOT_FOR_MESSAGES = ("replication", "management", "mailboxmove")


def _cases(server: Server, run: Run) -> Iterator[Case]:
    own = [session for name, session in run.sessions if name == server.name and session.opened]
    longest_ms = max((each.config.session_ms for each in run.servers.values()), default=0)
    limit_ms = 2 * server.config.timeout_ms + longest_ms + slack_ms(run) + server.slack_ms
    for session in own:
        yield from _end(server, session, limit_ms, run)
    yield from _carried(server, own, run)


def _end(server: Server, session: Session, limit_ms: int, run: Run) -> Iterator[Case]:
    opened, ended = session.opened, session.ended
    assert opened is not None
    due_ms = opened.at_ms + limit_ms
    status = response(
        ended.at_ms if ended else None, due_ms, run.end_ms,
        is_excused=_is_excused(server, opened.at_ms, due_ms),
    )  # fmt: skip
    said = (
        f"{server.name} opened {opened.session} for {session.purpose} at {stamp(opened.at_ms)}, to "
        f"be over by {stamp(due_ms)}"
    )
    how = f"it ended at {stamp(ended.at_ms)}" if ended else "its connectivity log has no end of it"
    yield from asked(
        status, f"{opened.session} of {server.name}", ("TL-4",), f"{said}; {how}", opened.at_ms,
        opened, ended, weight=(ended.at_ms if ended else run.end_ms or 0) - due_ms,
    )  # fmt: skip


def _is_excused(server: Server, at_ms: int, due_ms: int) -> bool:
    starts = any(at_ms < life.lo_ms <= due_ms for life in server.lives)
    is_whole = server.lives and not starts and server.shows(at_ms, due_ms)
    return not is_whole or touches(server.away(), at_ms, due_ms)


def _carried(server: Server, sessions: list[Session], run: Run) -> Iterator[Case]:
    logged = run.traffic.sent.get(server.name)
    for_messages = [each for each in sessions if each.purpose not in NOT_FOR_MESSAGES]
    counts = [each.messages for each in for_messages]
    is_whole = (
        EXACT_TRACKING in server.evidence
        and server.lives
        and not server.holes
        and not any(full(server))
        and None not in counts
    )
    if logged is None or not is_whole:
        return
    carried = sum(each for each in counts if each is not None)
    probes = [row for row in run.probes if row.server == server.name]
    most = logged.messages + run.traffic.tried[server.name]
    most += sum(row.event in ("SEND", "HAREDIRECT") for row in probes) + sum(map(in_vain, probes))
    said = f"{server.name} logged {logged.messages} messages as sent on or made redundant"
    if carried > most:
        said = f"{said}, and with attempts in vain {most} at most"
    yield from asked(
        bound(carried, logged.messages, most), server.name, ("TL-4",),
        f"{said}; by the ends of its sessions they carried {carried}", run.end_ms, logged.first[1],
        weight=max(logged.messages - carried, carried - most),
    )  # fmt: skip


CLAIM = Claim("sessions_ended", ("TL-4",), needs=frozenset({CONNECTIVITY}), of_server=_cases)
