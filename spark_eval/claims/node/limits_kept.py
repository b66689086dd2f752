"""limits_kept: what is within a limit is taken, and what exceeds it hears what Exchange says to it
(TL-5).

Asks every message of the workload that exceeds MaxReceiveSize or MaxHopCount: nobody says 250 to it
(that nothing smaller is refused for its size is `refused_for_cause`'s). Asks every message that
names more recipients than MaxRecipientEnvelopeLimit, or has more octets than MaxSendSize and is a
mailbox's own: no server sends it on or delivers it, and whatever is given up for one of the two
does exceed it. Asks the strangers who exceed a limit: of RCPT each up to MaxRecipientsPerMessage is
250, each beyond it 452 4.5.3; a session stands for MaxProtocolErrors lines that are no commands,
and for no more; a message beyond MaxReceiveSize hears 552 5.3.4, one beyond MaxHopCount or
MaxLocalHopCount 554 5.4.6; a recipient whom nobody knows is refused after TarpitInterval, not
before. Behind a front end the limits of both servers count.

Not asked: a session whose server, or the way to it, may have been in trouble; what a server said
for another reason (421, 4yz).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spark_eval.cases.case import (
    NOT_ASKED,
    VIOLATED,
    Case,
    Judged,
    Status,
    asked,
    fits,
    of_row,
)
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import is_troubled, slack_ms
from spark_eval.expected.mail.forks import is_done
from spark_eval.expected.node.limits import exceeded, limit_said
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.settings import ServerConfig
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.read.plan import TRACKING, PlannedStranger
from spark_eval.read.rows import StrangerRow, TrackingRow

TOO_MANY_RECIPIENTS, TOO_MANY_ERRORS = "452 4.5.3", "421 4.7.0"
RCPT, FINAL_DOT = "RCPT TO:", "."
_TOO_MUCH = {
    "too-large": "552 5.3.4",
    "too-many-hops": "554 5.4.6",
    "too-many-local-hops": "554 5.4.6",
}
_OF_RECIPIENTS, _OF_ERRORS = "too-many-recipients", "no-commands"
_OF_UNKNOWN, _UNKNOWN = "unknown-recipients", "550 5.1.10"
TL_5 = ("TL-5",)


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is None:
        return
    for attempt in message.attempts:
        beyond = _beyond(attempt, message, run)
        if beyond and attempt.reply is not None:
            wrong = f"{attempt.server} takes it: {beyond}" if attempt.outcome == "ok" else ""
            status, detail = fits(wrong)
            yield from asked(
                status, message.message_id, TL_5, detail, attempt.ended_ms, attempt,
                server=attempt.server,
            )  # fmt: skip
    limits = exceeded(message, run)
    for row in message.tracking:
        status, detail = _of_row(row, limits)
        yield from of_row(status, row, TL_5, detail)


def _beyond(attempt: Attempt, message: Message, run: Run) -> str:
    """Which limit of the session a message exceeds, whichever server has it."""
    sent, behind = message.sent, run.behind(attempt.called)
    size, hops = (sent.content.size, sent.hops) if sent else (None, None)
    if size is not None and size > run.config.max_bytes:
        return f"{size} bytes, and MaxReceiveSize is {run.config.max_bytes}"
    limits = [run.servers[name].config.max_hops for name in behind if name in run.servers]
    most = max(limits, default=None)
    if hops is None or most is None or hops <= most:
        return ""
    return f"{hops} hops, and MaxHopCount is {most}"


def _of_row(row: TrackingRow, limits: tuple[str, ...]) -> Judged:
    """Of a row that says what became of a recipient."""
    if said := limit_said(row):
        wrong = f"{row.server} gives it up with {said}, and it exceeds no such limit"
        return fits("" if said in limits else wrong)
    if not limits or row.event == "FAIL" or not is_done(row):
        return NOT_ASKED
    wrong = f"{row.server} does not give it up with {' or '.join(limits)}, though it exceeds that"
    return VIOLATED, wrong


def _of_strangers(run: Run, _: Totals) -> Iterator[Case]:
    for stranger in run.strangers:
        rows = [row for row in run.stranger_rows if row.stranger == stranger.id]
        server = (stranger.server or "").lower()
        if not rows or is_troubled(server, run, rows[0].at_ms, rows[-1].at_ms):
            continue
        behind = [run.servers[name].config for name in run.behind(server) if name in run.servers]
        if not behind:
            continue
        for row, status, detail in _judged(stranger, rows, behind, run):
            subject = f"{row.command or 'the session'} of {stranger.id} ({stranger.kind})"
            said = f"{server} {detail}" if detail else ""
            yield from asked(status, subject, TL_5, said, row.at_ms, row, server=server)


def _judged(
    stranger: PlannedStranger, rows: list[StrangerRow], behind: list[ServerConfig], run: Run
) -> Iterator[tuple[StrangerRow, Status | None, str]]:
    if stranger.kind == _OF_RECIPIENTS:
        yield from _of_recipients(rows, [each.max_recipients for each in behind])
    elif stranger.kind == _OF_ERRORS:
        yield from _of_errors(rows, [each.max_errors for each in behind])
    elif stranger.kind == _OF_UNKNOWN:
        yield from _of_unknown(rows, [each.tarpit_ms for each in behind], run)
    elif stranger.kind in _TOO_MUCH:
        for row in rows:
            if row.command == FINAL_DOT:
                yield row, *_of_final_reply(row.reply or "", _TOO_MUCH[stranger.kind])


def _of_recipients(
    rows: list[StrangerRow], limits: list[int]
) -> Iterator[tuple[StrangerRow, Status | None, str]]:
    taken = 0
    for row in rows:
        reply = row.reply or ""
        if not (row.command or "").startswith(RCPT):
            continue
        if reply.startswith("250"):
            taken += 1
            status = bound(taken, None, max(limits))
            yield row, status, f"takes {taken} recipients, at most {max(limits)}"
        elif reply.startswith(TOO_MANY_RECIPIENTS):
            status = bound(taken, min(limits), None)
            yield row, status, f"takes {taken} recipients and no more, of {min(limits)}"


def _of_errors(
    rows: list[StrangerRow], limits: list[int]
) -> Iterator[tuple[StrangerRow, Status | None, str]]:
    errors, over = sum((row.reply or "").startswith("500") for row in rows), rows[-1]
    most, least = max(limits), min(limits)
    if errors > max(most, 1):
        yield over, VIOLATED, f"hears {errors} lines that are no commands, at most {most}"
    elif over.outcome in ("refused", "closed") and (over.reply or TOO_MANY_ERRORS).startswith(
        TOO_MANY_ERRORS
    ):
        detail = f"ends a session after {errors} lines that are no commands, not after {least}"
        yield over, bound(errors, least, None), detail


def _of_unknown(
    rows: list[StrangerRow], waits_ms: list[int], run: Run
) -> Iterator[tuple[StrangerRow, Status | None, str]]:
    least_ms, most_ms = min(waits_ms) - run.finest_ms, max(waits_ms) + slack_ms(run)
    for before, row in pairwise(rows):
        if (row.command or "").startswith(RCPT) and (row.reply or "").startswith(_UNKNOWN):
            took_ms = row.at_ms - before.at_ms
            detail = f"refuses a recipient after {stamp(took_ms)}, not after {stamp(min(waits_ms))}"
            yield row, bound(took_ms, least_ms, most_ms), detail


def _of_final_reply(reply: str, expected: str) -> Judged:
    if reply.startswith("4"):
        return NOT_ASKED
    wrong = f"says {reply} to what exceeds a limit, not {expected}"
    return fits("" if reply.startswith(expected) else wrong)


CLAIM = Claim(
    "limits_kept",
    TL_5,
    needs=frozenset({TRACKING}),
    of_message=_of_message,
    of_run=_of_strangers,
)
