"""redirected_as_asked: an administrator has the delivery queues of a server drained to another one,
and the server does that, and says how it ended (SR-12).

Asks every request that a server agreed to: its lifecycle log says that it began; it is given up
only while something may have been in the way of the server that was to take the messages; and once
nothing is any more, it ends. Of one that was completed, asks every message that surely waited when
it began, recipient by recipient, since a DEFER row had said so: somebody was served, or given up,
by its end.

Not asked: near a hole of the log; what a restart of the server ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.due import base_ms
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.mail.redirections import Redirection, in_the_way, redirections, requested
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING, LIFECYCLE
from spark_eval.read.rows import TrackingRow

REQUIRED = ("SR-12",)


def _requests(run: Run, _totals: Totals) -> Iterator[Case]:
    for each in requested(run):
        server, until_ms = each.server, min(each.possible.hi, run.end_ms or 0)
        restarted = each.over is None and each.possible.hi <= (run.end_ms or 0)
        if each.agreed and not restarted and server.shows(each.possible.lo, until_ms):
            status, detail = fits(_wrong(each, run))
            yield from asked(
                status, f"{each.operation} at {server.name}", REQUIRED, detail, each.possible.lo,
                each.begun, each.over, server=server.name,
            )  # fmt: skip


def _wrong(redirection: Redirection, run: Run) -> str:
    """What does not fit, or the empty text."""
    server, to = redirection.server, redirection.to
    if redirection.begun is None:
        return f"{server.name} agreed to redirect its messages to {to}, and did not begin"
    begun_ms, over = redirection.begun.at_ms or 0, redirection.over
    timeout_ms = server.config.timeout_ms
    clouds = [each.prolonged(timeout_ms) for each in in_the_way(redirection, run)]
    if over is None:
        clear_ms = max((each.hi for each in clouds if each.hi > begun_ms), default=begun_ms)
        due_ms = clear_ms + redirection.rest_ms + base_ms(server, run)
        if due_ms <= (run.end_ms or 0):
            return f"{server.name} redirects its messages to {to} since {stamp(begun_ms)}, still"
        return ""
    at_ms = over.at_ms or 0
    is_open = not any(each.touches(begun_ms - server.slack_ms, at_ms) for each in clouds)
    if not redirection.is_completed and is_open:
        return f"{server.name} gave up at {stamp(at_ms)}, and nothing was in the way of {to}"
    return ""


def _messages(message: Message, run: Run) -> Iterator[Case]:
    for redirection in redirections(run):
        if redirection.is_completed and redirection.begun is not None:
            for each in message.with_dsns:
                yield from _left(each, redirection, redirection.begun.at_ms or 0, run)


def _left(message: Message, redirection: Redirection, begun_ms: int, run: Run) -> Iterator[Case]:
    server, over = redirection.server, redirection.over
    at_ms = (over.at_ms or 0) if over else 0
    slack_ms = server.slack_ms + run.finest_ms
    if not server.shows(begun_ms, at_ms + slack_ms):
        return
    for (key, recipient), waited in _waited(message, server.name, begun_ms - slack_ms).items():
        rows = [each for each in message.tracking if is_done(each) and key_of(each) == key]
        ends = sorted(each.at_ms for each in rows if recipient in (each.recipients or ()))
        lost_ms = server.lost_ms(key.database_id)
        if (ends and ends[0] <= begun_ms) or (lost_ms is not None and lost_ms <= at_ms):
            continue
        yield from asked(
            response(ends[0] if ends else None, at_ms + slack_ms, run.end_ms, is_excused=False),
            f"{message.message_id} to {recipient}", REQUIRED,
            f"{server.name} had redirected all its messages by {stamp(at_ms)}, and has it still",
            at_ms, waited, over, server=server.name,
        )  # fmt: skip


def _waited(message: Message, server: str, by_ms: int) -> dict[tuple[Key, str], TrackingRow]:
    """Whom a message surely waited for at a server: the last DEFER that says so, in the life in
    which it was put off.
    """
    found: dict[tuple[Key, str], TrackingRow] = {}
    for row in message.of_event("DEFER"):
        if row.server == server and row.at_ms <= by_ms and (key := key_of(row)) is not None:
            found.update({(key, each): row for each in row.recipients or ()})
    return found


CLAIM = Claim(
    "redirected_as_asked",
    REQUIRED,
    needs=frozenset({EXACT_TRACKING, LIFECYCLE}),
    of_message=_messages,
    of_run=_requests,
)
