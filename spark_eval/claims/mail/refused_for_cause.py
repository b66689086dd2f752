"""refused_for_cause: no server turns a message away for nothing (SR-5).

Asks every attempt of the workload that was answered with a 4xx or a 5xx. Each recipient of a run
has a mailbox or a route, so a server that takes mail takes it: it may refuse a message that has
more octets than MaxReceiveSize or more Received fields than MaxHopCount, or any while a fault has
its disk, its process or the way to it, and reject one that it could not make redundant; then its
tracking log says what it tried, which `shadow_placement` judges. With `451 4.3.2` it refuses what
comes while an administrator has its messages redirected, and with `432 4.2.0` what is for the
Outbox of a mailbox database whose copy there may not be the active one. Whether what it calls a
loop is one stays unknown where the ledger has no `hops`. With `452 4.3.1` it may refuse one while
more mail of clients is under way to it than a server has in memory, by the sizes of what the
workload was sending it; strangers send too little to count. A front end refuses a message with
words of its own where no mailbox server of its site answers, all of them being in trouble, or where
it lost the one that had the message (TP-7); any other word is that server's. With `421
4.3.2 System not accepting network messages` a server answers while its component HubTransport may
be Inactive, and at no other time, whatever else is in the way; being Inactive permits no other
word. Any other 421, which ends the session, is no answer (`answered_in_time`).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked, fits
from spark_eval.cases.words import hole_of
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, limit_ms
from spark_eval.expected.mail.redirections import REFUSAL, may_redirect
from spark_eval.expected.mail.rejection import REJECTION, rejection_of
from spark_eval.expected.mail.submissions import outbox_of, surely_active
from spark_eval.expected.node.front_ends import (
    is_excused,
    says_no_server,
    says_server_lost,
    troubled_behind,
)
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.component_states import NOT_ACCEPTING
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.interval import FOREVER_MS
from spark_eval.read.names import Ref
from spark_eval.read.plan import LEDGER

TOO_LARGE, LOOP, NO_MEMORY, NOT_ACTIVE = "552", "554 5.4.6", "452 4.3.1", "432 4.2.0"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for attempt in message.attempts:
        if _is_refused(attempt):
            row = rejection_of(attempt, message, run) if _says(attempt, REJECTION) else None
            status, detail = _judged(attempt, message, run, row)
            yield from asked(
                status, f"{message.message_id}, attempt {attempt.number}", ("SR-5",), detail,
                attempt.ended_ms, attempt, row, server=attempt.server,
            )  # fmt: skip


def _is_refused(attempt: Attempt) -> bool:
    reply = attempt.reply or ""
    is_answer = not reply.startswith("421") or reply.startswith(NOT_ACCEPTING)
    return reply[:1] in ("4", "5") and is_answer


def _says(attempt: Attempt, reply: str) -> bool:
    return (attempt.reply or "").startswith(reply)


def _judged(attempt: Attempt, message: Message, run: Run, rejection: Ref | None) -> Judged:
    reply, server = attempt.reply or "", run.servers.get(attempt.server)
    if _says(attempt, NOT_ACCEPTING):
        is_permitted = _may_be_inactive(attempt, run)
        return fits("" if is_permitted else f"HubTransport of {attempt.server} was Active: {reply}")
    if server is not None and server.is_front_end and _is_excused_behind(attempt, server, run):
        return FITS
    is_troubled_then = is_troubled(attempt.server, run, attempt.started_ms, attempt.ended_ms)
    if is_troubled_then or rejection is not None or _is_permitted(attempt, message, run):
        return FITS
    if _says(attempt, LOOP) and _hops(message) is None:
        return UNKNOWN, "the ledger does not say how many hops it had made"
    if not _says(attempt, REJECTION):
        return VIOLATED, f"{attempt.server} refused it, and no fault was in the way: {reply}"
    if server and not server.shows(attempt.started_ms or 0, attempt.ended_ms or 0):
        return UNKNOWN, hole_of(attempt.server)
    return VIOLATED, f"{attempt.server} rejected it, and logged no attempt to make it redundant"


def _may_be_inactive(attempt: Attempt, run: Run) -> bool:
    """Of the servers that may have said it, some."""
    start_ms, end_ms = attempt.started_ms or 0, attempt.ended_ms or FOREVER_MS
    spans = (each for name in run.behind(attempt.called) for each in run.inactive.get(name, ()))
    return any(each.possible.touches(start_ms, end_ms) for each in spans)


def _is_excused_behind(attempt: Attempt, front_end: Server, run: Run) -> bool:
    """Its own words are for what is behind it; with any others it says what a server there said."""
    if says_no_server(attempt.reply) or says_server_lost(attempt.reply):
        return is_excused(front_end, attempt, run)
    if attempt.started_ms is None or attempt.ended_ms is None:
        return True
    return any(troubled_behind(front_end, run, attempt.started_ms, attempt.ended_ms))


def _is_permitted(attempt: Attempt, message: Message, run: Run) -> bool:
    """A bound of its own, or of a server behind it, says so."""
    servers = [run.servers[name] for name in run.behind(attempt.called) if name in run.servers]
    size = message.sent.content.size if message.sent else None
    if _says(attempt, REFUSAL):
        times = attempt.started_ms, attempt.ended_ms
        return any(may_redirect(each.name, run, *times) for each in servers)
    if _says(attempt, NOT_ACTIVE):
        return message.is_internal and not _is_surely_active(attempt, message, run)
    if _says(attempt, TOO_LARGE):
        return size is not None and size > run.config.max_bytes
    if _says(attempt, LOOP):
        return any((_hops(message) or 0) > each.config.max_hops for each in servers)
    most = run.software.mail_in_memory_bytes
    return _says(attempt, NO_MEMORY) and _under_way_bytes(attempt, run) > most


def _is_surely_active(attempt: Attempt, message: Message, run: Run) -> bool:
    database = outbox_of(message, run)
    if database is None or attempt.started_ms is None or attempt.ended_ms is None:
        return False
    return surely_active(database, attempt.server, run, attempt.started_ms, attempt.ended_ms)


def _hops(message: Message) -> int | None:
    return message.sent.hops if message.sent else None


def _under_way_bytes(attempt: Attempt, run: Run) -> int:
    """Of all that the workload was sending its server meanwhile. A message that nobody waits for
    any more may stay until its session is over.
    """
    server = run.servers.get(attempt.called)
    if server is None or attempt.started_ms is None or attempt.ended_ms is None:
        return 0
    start_ms, end_ms = attempt.started_ms - limit_ms(server, run), attempt.ended_ms
    others = run.traffic.under_way.get(attempt.called, ())
    return sum(
        each.size_bytes for each in others if each.at.lo <= end_ms and each.at.hi >= start_ms
    )


CLAIM = Claim("refused_for_cause", ("SR-5",), needs=frozenset({LEDGER}), of_message=_cases)
