"""connections_limited: clients have no more sessions at a time, and send no more messages in a
minute, than the Receive connector permits, nor open more sessions in one than their server does,
none is sent away before, and no server opens more sessions than it may (TL-5).

To a server of this lab all clients are of one source, the proxy, so that of
MaxInboundConnectionPerSource, MaxInboundConnectionPercentagePerSource and MaxInboundConnection the
least counts. Asks of strangers, whenever one is greeted, how many sessions of theirs surely stand
there by then; and of each who is sent away for a limit of its source, whether so many clients may
have been there. Asks of the workload how many messages a server surely took in a minute, and of
each that is refused with 421 4.4.2 whether MessageRateLimit of them may have been let through in
the minute before. Asks the same of connections that say a recipient, whosesoever they are: how many
messages a server surely took in a minute, each over a connection of its own, and of each that is
refused with 421 4.3.2 whether MaxConnectionRatePerMinute of them may have come in the minute
before. Asks of the connectivity log of a server whether it had more sessions open for deliveries
and shadow messages than MaxOutboundConnections, or to one server than
MaxPerDomainOutboundConnections. Servers of the organisation do not count, nor does what goes into
an Outbox.

Not asked: sessions of a server that may have been in trouble; who is sent away for
MaxInboundConnection alone, since servers count there; front ends, whose messages other servers
take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from operator import itemgetter

from spark_eval.cases.case import Case, Shown, asked
from spark_eval.cases.forms import bound
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, slack_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.organisation.settings import UNLIMITED
from spark_eval.histories.run import Run
from spark_eval.histories.sending import OF_SOURCE, OVER_CONNECTION_RATE, OVER_RATE, Attempt
from spark_eval.histories.sessions import Session
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.plan import MINUTE_MS
from spark_eval.read.rows import ConnectivityRow, StrangerRow, grouped

BANNER = "banner"
POOLED = ("delivery", "shadowredundancy")
PROBES = 4
"""So many connections the lab may have open to a server, to see who answers."""
TL_5 = ("TL-5",)


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        server, start_ms, end_ms = _server(attempt, run), attempt.started_ms, attempt.ended_ms
        if server is None or start_ms is None or end_ms is None:
            continue
        vague_ms = run.finest_ms + server.askew_ms
        minute = Interval(start_ms - MINUTE_MS - vague_ms, end_ms)
        if (attempt.reply or "").startswith(OVER_CONNECTION_RATE):
            yield from _refused(server, message.message_id, end_ms, attempt, minute, run)
        elif (attempt.reply or "").startswith(OVER_RATE):
            passed, limit = _let_through(server, minute, run), server.config.max_rate
            detail = f"{server.name} refuses it after {passed} messages in a minute, not {limit}"
            yield from asked(
                bound(passed, limit, None), message.message_id, TL_5, detail, end_ms, attempt,
                server=server.name,
            )  # fmt: skip
        elif (attempt.reply or "").startswith(OF_SOURCE):
            sessions = [at for at, _ in _sessions(server, run)]
            yield from _sent_away(server, message.message_id, end_ms, attempt, sessions, run)


def _server(attempt: Attempt, run: Run) -> Server | None:
    """That was called, but a front end."""
    server = run.servers.get(attempt.called)
    return None if server is None or server.is_front_end else server


def _let_through(server: Server, minute: Interval, run: Run) -> int:
    """How many messages may have been, those by which the lab tries a server too."""
    mail = (each for each in run.traffic.under_way.get(server.name, ()) if each.counts is not False)
    tried = (row.at_ms for row in run.probes if row.server == server.name)
    times = [*(each.at for each in mail), *(Interval(at_ms, at_ms) for at_ms in tried)]
    return sum(each.touches(minute.lo, minute.hi) for each in times)


def _refused(
    server: Server, who: str, at_ms: int, shown: Shown, minute: Interval, run: Run
) -> Iterator[Case]:
    """For the connections of a minute, those of strangers and behind front ends too."""
    behind = [each.name for each in run.servers.values() if each.is_front_end]
    mail = (each for name in (server.name, *behind) for each in run.traffic.under_way.get(name, ()))
    calls = [each.at for each in mail if each.connects is not False]
    calls += [at for at, _ in _sessions(server, run)]
    came = sum(each.touches(minute.lo, minute.hi) for each in calls)
    most = server.config.max_connection_rate
    detail = f"{server.name} refuses {who} after {came} connections in a minute, not {most}"
    status = bound(came, most, None)
    yield from asked(status, who, TL_5, detail, at_ms, shown, server=server.name)


def _of_server(server: Server, run: Run) -> Iterator[Case]:
    mail = run.traffic.under_way.get(server.name, ())
    limit, most = server.config.max_rate, server.config.max_connection_rate
    yield from _in_a_minute(server, "messages", limit, [m.at for m in mail if m.counts], run)
    yield from _in_a_minute(server, "connections", most, [m.at for m in mail if m.connects], run)
    opened = [each for name, each in run.sessions if name == server.name and _is_pooled(each)]
    yield from _opened(server, opened, "MaxOutboundConnections", server.config.max_outbound, run)
    for peer, own in grouped(opened, lambda each: each.rows[-1].peer).items():
        name, most = "MaxPerDomainOutboundConnections", server.config.max_per_domain
        yield from _opened(server, own, f"{name} to {peer}", most, run)


def _is_pooled(session: Session) -> bool:
    return session.purpose in POOLED and session.ended is not None


def _opened(
    server: Server, sessions: Collection[Session], limit: str, most: int, run: Run
) -> Iterator[Case]:
    """The most that were open at a time, by the order of the log."""
    steps = [(row.ref, row, step) for each in sessions for row, step in _steps(each)]
    count, highest, at = 0, 0, None
    for _, row, step in sorted(steps, key=itemgetter(0)):
        count += step
        if count > highest:
            highest, at = count, row
    if len(sessions) > most and at is not None:
        detail = f"{server.name} has {highest} sessions open at a time; {limit} is {most}"
        status = bound(highest, None, most)
        yield from asked(status, server.name, TL_5, detail, at.at_ms, at, server=server.name)


def _steps(session: Session) -> Iterator[tuple[ConnectivityRow, int]]:
    for row, step in ((session.opened, 1), (session.ended, -1)):
        if row is not None:
            yield row, step


def _in_a_minute(
    server: Server, what: str, limit: int, times: list[Interval], run: Run
) -> Iterator[Case]:
    """As many as are surely too many, where all of them came in less than a minute."""
    if limit >= UNLIMITED or server.is_front_end or server.askew_ms:
        return
    taken = sorted(times)
    for start in range(len(taken) - limit):
        first_ms, last_ms = taken[start].lo, taken[start + limit].lo
        if last_ms - first_ms < MINUTE_MS:
            last_ms = max(each.hi for each in taken[start : start + limit + 1])
        is_excused = touches(server.away(), first_ms, last_ms)
        detail = f"{server.name} takes {limit + 1} {what} in a minute, at most {limit}"
        in_ms = last_ms - first_ms + run.finest_ms
        status = bound(in_ms, MINUTE_MS, None, is_excused=is_excused)
        yield from asked(status, server.name, TL_5, detail, last_ms, server=server.name)


def _of_strangers(run: Run, _: Totals) -> Iterator[Case]:
    for server in run.servers.values():
        yield from _of_sessions(server, _sessions(server, run), run)


def _most(server: Server) -> int:
    config = server.config
    share = max(1, config.max_connections * config.percent_of_source // 100)
    return min(config.max_connections, config.max_of_source, share)


def _sessions(server: Server, run: Run) -> list[tuple[Interval, StrangerRow]]:
    """Of strangers, from their banner to their end, by the row of that."""
    rows = [row for row in run.stranger_rows if row.server == server.name]
    begun = {row.stranger: row.at_ms for row in rows if row.command == BANNER}
    return [
        (Interval(begun[row.stranger], row.at_ms), row)
        for row in rows
        if row.type == "end" and row.stranger in begun
    ]


def _of_sessions(
    server: Server, sessions: list[tuple[Interval, StrangerRow]], run: Run
) -> Iterator[Case]:
    limit, slack = _most(server), slack_ms(run)
    for at, row in sessions:
        if is_troubled(server.name, run, at.lo - slack, at.hi):
            continue
        there = [other for other, _ in sessions if other.lo <= at.lo < other.hi - slack]
        detail = f"{server.name} has {len(there)} sessions of clients, at most {limit}"
        status = bound(len(there), None, limit) if limit < len(sessions) else None
        yield from asked(status, row.stranger, TL_5, detail, at.lo, row, server=server.name)
        if (row.reply or "").startswith(OF_SOURCE):
            yield from _sent_away(server, row.stranger, at.hi, row, [at for at, _ in sessions], run)
        elif (row.reply or "").startswith(OVER_CONNECTION_RATE):
            minute = Interval(at.lo - MINUTE_MS - run.finest_ms - server.askew_ms, at.hi)
            yield from _refused(server, row.stranger, at.hi, row, minute, run)


def _sent_away(
    server: Server, who: str, at_ms: int, shown: Shown, sessions: list[Interval], run: Run
) -> Iterator[Case]:
    """For a limit of its source, whose percentage is of the connections that are left."""
    limit = _most(server) if server.config.percent_of_source == 100 else 1
    mail = [each.at for each in run.traffic.under_way.get(server.name, ())]
    from_ms = at_ms - slack_ms(run)
    there = sum(each.touches(from_ms, at_ms) for each in (*sessions, *mail)) + PROBES
    detail = f"{server.name} sends {who} away from among {there} clients, of {limit}"
    status = bound(there, limit + 1, None)
    yield from asked(status, who, TL_5, detail, at_ms, shown, server=server.name)


CLAIM = Claim(
    "connections_limited",
    TL_5,
    of_message=_of_message,
    of_server=_of_server,
    of_run=_of_strangers,
)
