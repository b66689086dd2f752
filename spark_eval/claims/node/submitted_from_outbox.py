"""submitted_from_outbox: what lies in an Outbox is submitted once, and what has to wait is tried
again (SR-8, SR-15).

Asks every 250 to a client whether the server had the item then (NOTIFYMAPI). Asks every item, and
every SUBMITDEFER of one, whether a Transport service had it (SUBMIT), or it was put off anew,
within the time of a session, and not sooner than after `submission_retry_ms`; every SUBMITDEFER
whether Transport could not take it: no shadow message could be made and
RejectMessageOnShadowFailure says so, its messages were redirected, it was at the high level of back
pressure, or its disk was in trouble. An
item that was submitted is submitted again only where its removal may have been lost: its server was
away or its disk full just then, or the way of its logs to another copy in trouble.

Where another copy is mounted with the item meanwhile, its server is asked instead. Not asked: what
was put off once the copy is mounted no more, what a copy lacks that is mounted, and what follows
while a copy is mounted once more or dismounted; then `no_loss` asks what became of the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from spark_eval.cases.case import VIOLATED, Case, asked, fits, of_row
from spark_eval.cases.forms import precedence, response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.redirections import REFUSAL, may_redirect
from spark_eval.expected.mail.rejection import REJECTION, is_rejection
from spark_eval.expected.mail.submissions import (
    DEFERRED,
    INSERTED,
    SUBMITTED,
    Step,
    is_left,
    item_in,
    items_of,
    lacks,
    mounted_within,
    moves,
)
from spark_eval.expected.node.disk import is_lost
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.component_states import NOT_ACCEPTING
from spark_eval.histories.organisation.pressure import HIGH
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.histories.ways import REPLICATION
from spark_eval.intervals.interval import first_clear, touches
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import EXACT_TRACKING, LEDGER

PRESSED = "452 4.3.1 Insufficient system resources"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if not message.is_internal:
        return
    for attempt in message.attempts:
        if attempt.outcome == "ok" and attempt.server in run.servers:
            yield from _inserted(attempt, message, run)
    for steps in items_of(message).values():
        log = next((step.log for step in steps if step.log is not None), None)
        followed = [*pairwise(steps), (steps[-1], None)]
        for step, after in followed:
            server = run.servers.get(step.row.server)
            if server is not None and step.row.event == SUBMITTED and after is not None:
                yield from _again(step, after, server, run)
            elif server is not None and step.row.event != SUBMITTED:
                yield from _followed(step, after, log, server, run)
            if server is not None and step.row.event == DEFERRED:
                status, detail = fits(_without_cause(step, message, server, run))
                yield from of_row(status, step.row, ("SR-15",), detail)


def _inserted(attempt: Attempt, message: Message, run: Run) -> Iterator[Case]:
    """Durable in the Outbox, and logged, before the 250."""
    server, ended_ms = run.servers[attempt.server], attempt.ended_ms or 0
    steps = items_of(message).get(item_in(attempt.reply) or "", ())
    own = (step.row for step in steps if step.row.event == INSERTED)
    row = next((row for row in own if row.server == server.name), None)
    if attempt.ended_mono_ns is None or (row is not None and row.mono_ns is None):
        return
    yield from asked(
        precedence(
            row.mono_ns if row else None, attempt.ended_mono_ns,
            is_shown=not is_lost(server, ended_ms - server.slack_ms, ended_ms),
        ),
        f"{message.message_id}, attempt {attempt.number}", ("SR-8",),
        f"{server.name} answered {attempt.reply}, and had no such item in its Outbox then",
        attempt.ended_ms, attempt, row, server=server.name,
    )  # fmt: skip


def _followed(
    step: Step, after: Step | None, log: int | None, server: Server, run: Run
) -> Iterator[Case]:
    row, is_deferred = step.row, step.row.event == DEFERRED
    if is_left(step.database, server.name, run, row.at_ms):
        return
    wait_ms = run.software.submission_retry_ms if is_deferred else 0
    due = _due(step, log, wait_ms, server, run)
    if due is None:
        return
    status = response(
        after.row.at_ms if after else None, due.by_ms, run.end_ms,
        is_excused=moves(step.database, run, due.from_ms + 1, due.by_ms),
        is_shown=not is_lost(due.server, row.at_ms, due.by_ms),
    )  # fmt: skip
    detail = (
        f"{server.name} logged {row.event} of an item of {step.database} at {stamp(row.at_ms)}, "
        f"and {due.server.name} neither submitted it by {stamp(due.by_ms)} nor put it off"
    )
    if is_deferred and after is not None and _is_too_soon(step, after, server, run):
        status = VIOLATED
        detail = f"{server.name} put it off at {stamp(row.at_ms)}, and tried again too soon"
    requirement = "SR-15" if is_deferred else "SR-8"
    yield from of_row(status, row, (requirement,), detail, after.row if after else None)


class _Due(NamedTuple):
    """Whose turn it is, from when on and by when."""

    server: Server
    from_ms: int
    by_ms: int


def _due(step: Step, log: int | None, wait_ms: int, server: Server, run: Run) -> _Due | None:
    """Of the server that has the item; or of the one whose copy is mounted with it meanwhile. None
    where that copy lacks it.
    """
    due = _turn(server, step.row.at_ms, wait_ms, run)
    change = mounted_within(step.database, run, step.row.at_ms, due.by_ms)
    if change is None:
        return due
    other = run.servers.get(change.after.server)
    if lacks(change, log) or other is None:
        return None
    return _turn(other, change.mounted.at_ms or step.row.at_ms, 0, run)


def _turn(server: Server, at_ms: int, wait_ms: int, run: Run) -> _Due:
    """Within a session, while its server is there."""
    needs_ms = wait_ms + server.config.session_ms + slack_ms(run) + server.slack_ms
    from_ms = first_clear(at_ms, tuple(server.away()), needs_ms)
    return _Due(server, from_ms, from_ms + needs_ms)


def _is_too_soon(step: Step, after: Step, server: Server, run: Run) -> bool:
    """A server that starts anew tries at once."""
    start_ms, end_ms = step.row.at_ms, after.row.at_ms
    least_ms = run.software.submission_retry_ms - server.slack_ms - run.finest_ms
    return end_ms - start_ms < least_ms and not _is_disturbed(step, end_ms, server, run)


def _is_disturbed(step: Step, end_ms: int, server: Server, run: Run) -> bool:
    """Whether its server may have been away since, or another copy become active."""
    start_ms = step.row.at_ms - server.slack_ms
    is_out = server.out(start_ms, end_ms) is not Certainty.NO
    return is_out or moves(step.database, run, start_ms, end_ms)


def _again(step: Step, after: Step, server: Server, run: Run) -> Iterator[Case]:
    wrong = (
        f"{server.name} had Transport's 250 for it at {stamp(step.row.at_ms)}, and "
        f"{after.row.server} submitted it again at {stamp(after.row.at_ms)}"
    )
    status, detail = fits("" if _may_lack_removal(step, server, run) else wrong)
    yield from of_row(status, after.row, ("SR-8",), detail, step.row)


def _may_lack_removal(step: Step, server: Server, run: Run) -> bool:
    """Whether the removal from the Outbox may not have become durable, or not have been shipped to
    every copy, before its server was away, or something was in the way.
    """
    start_ms = step.row.at_ms - server.slack_ms
    end_ms = step.row.at_ms + run.software.submission_retry_ms + slack_ms(run)
    if server.out(start_ms, end_ms) is not Certainty.NO:
        return True
    database = run.databases.get(step.database)
    ways = (
        trouble.prolonged(server.config.timeout_ms)
        for copy in (database.copies if database else ())
        for trouble in run.ways.troubles(server.name, copy, REPLICATION)
    )
    return touches(ways, start_ms, end_ms)


def _without_cause(step: Step, message: Message, server: Server, run: Run) -> str:
    """What does not fit, or the empty text."""
    row, put_off = step.row, f"{server.name} put it off: {step.said}"
    start_ms, end_ms = row.at_ms - server.slack_ms, row.at_ms + server.slack_ms
    if step.said.startswith(REJECTION):
        if not run.config.reject:
            return f"{put_off}; RejectMessageOnShadowFailure is false"
        fails = [each.at_ms for each in message.tracking if is_rejection(each)]
        is_shown = any(start_ms <= at_ms <= end_ms for at_ms in fails)
        if is_shown or is_lost(server, start_ms, end_ms):
            return ""
        return f"{put_off}; it logged no attempt to make it redundant"
    if step.said.startswith(REFUSAL):
        is_redirecting = may_redirect(server.name, run, start_ms, end_ms)
        return "" if is_redirecting else f"{put_off}; its messages were not redirected"
    if step.said.startswith(NOT_ACCEPTING):
        spans = run.inactive.get(server.name, ())
        is_inactive = any(each.possible.touches(start_ms, end_ms) for each in spans)
        return "" if is_inactive else f"{put_off}; its HubTransport was Active"
    if step.said.startswith(PRESSED):
        is_pressed = server.may_press(HIGH, start_ms, end_ms)
        return "" if is_pressed else f"{put_off}; it was under no such back pressure"
    # what was tried while another copy became the active one is read when that has taken its place
    is_left_behind = is_left(step.database, server.name, run, row.at_ms)
    is_disturbed = is_left_behind or _is_disturbed(step, end_ms, server, run)
    return "" if is_disturbed else f"{put_off}; no fault had its disk"


CLAIM = Claim(
    "submitted_from_outbox",
    ("SR-8", "SR-15"),
    needs=frozenset({EXACT_TRACKING, LEDGER}),
    of_message=_cases,
)
