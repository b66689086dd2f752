"""deferred_for_cause: no delivery is put off for nothing (RT-5).

Asks every DEFER row of a queue to a mailbox database or to a server outside, as the lab's servers
write them: a fault was in the way of its server to where the queue leads, or had been, up to
ConnectionInactivityTimeOut before. Into another boundary, or on the way there, any of several
servers may take the mail, so whatever is in the way to one of them counts, and what is between
them, since they make it redundant anew. For that they refuse it only where
RejectMessageOnShadowFailure says so; and while they have their own messages redirected, always. So
it is with a server that messages are redirected to, and with a mailbox while it moves.

Not asked on containers: sessions that ended for ConnectionInactivityTimeOut, since a machine that
stands still for so long is nobody's fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, VIOLATED, Case, Judged, of_row
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.redirections import is_redirected, refusals, troubles
from spark_eval.expected.mail.rejection import REJECTION
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.ways import Trouble
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow

TIMED_OUT = "ConnectionInactivityTimeOut"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for row in each.of_event("DEFER"):
            server = run.servers.get(row.server)
            if server is not None and row.fork is not None and not _stood_still(row, run):
                status, detail = _judged(row, row.fork, server, run)
                yield from of_row(status, row, ("RT-5",), detail)


def _stood_still(row: TrackingRow, run: Run) -> bool:
    return row.context == TIMED_OUT and not run.is_simulated


def _judged(row: TrackingRow, fork: str, server: Server, run: Run) -> Judged:
    put_off = f"{server.name} put it off at {stamp(row.at_ms)} ({row.context or '?'})"
    if row.context == REJECTION and not run.config.reject:
        return VIOLATED, f"{put_off}; nobody may refuse it for that"
    place = place_of(fork)
    if _is_in_the_way(row, server, place, run):
        return FITS
    return VIOLATED, f"{put_off}; no fault was in the way to {place}"


def place_of(fork: str) -> str:
    """The mailbox database, or the server outside, of `database:DB1` or `external:ext1`."""
    return fork.removeprefix("database:").removeprefix("external:")


def _is_in_the_way(row: TrackingRow, server: Server, place: str, run: Run) -> bool:
    met = [*run.routes.troubles(server.name, place), *refusals(place, run)]
    if is_redirected(row):
        met = [*troubles(server.name, run)]
    moves = (run.directory.moves.get(each) for each in row.recipients or ())
    met += [Trouble(move.under_way, hangs=True) for move in moves if move is not None]
    start_ms, end_ms = row.at_ms - server.slack_ms, row.at_ms + server.slack_ms
    timeout_ms = server.config.timeout_ms
    return any(each.prolonged(timeout_ms).touches(start_ms, end_ms) for each in met)


CLAIM = Claim("deferred_for_cause", ("RT-5",), needs=frozenset({TRACKING}), of_message=_cases)
