"""no_phantom: nothing is delivered that no one sent, and nothing to anyone it was not sent to:
himself, or by a group that he was in when a server came to answer for it (SN-11).

A DSN is sent by the transport itself: it may reach the sender of the message that it is about. A
journal report may reach the journal mailboxes of the databases that its message concerns.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import addressees
from spark_eval.expected.reports.journal_reports import journal_mailboxes
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import LEDGER, MAILBOXES, TRACKING
from spark_eval.read.rows import VisibleRow

TRACKED = frozenset({TRACKING})
SENT = "ledger.jsonl"
ALL_MAIL = "the ledger has to hold all mail that these mailboxes got"


def _cases(message: Message, run: Run) -> Iterator[Case]:
    sent, recipients = message.sent, addressees(message, run)
    for seen in message.visible:
        yield from _case(message, run, seen, is_right=seen.recipient in recipients)
    for dsn in message.dsns:
        for seen in dsn.visible:
            is_right = sent is not None and seen.recipient == sent.sender
            yield from _case(dsn, run, seen, is_right=is_right)
    journals = journal_mailboxes(message, run, is_sure=False)
    for report in message.journal_reports:
        for seen in report.visible:
            yield from _case(report, run, seen, is_right=seen.recipient in journals)


def _case(message: Message, run: Run, seen: VisibleRow, *, is_right: bool) -> Iterator[Case]:
    status, why = FITS if is_right else _judged(message, seen, run)
    yield from asked(
        status, f"{message.message_id} to {seen.recipient}", (), f"seen in {seen.place}, {why}",
        seen.copied_ms, seen, message.sent,
    )  # fmt: skip


def _judged(message: Message, seen: VisibleRow, run: Run) -> Judged:
    if message.sent is not None:
        if message.of_event("EXPAND") and not run.groups:
            return UNKNOWN, "sent to a distribution group; who is in one is not read yet"
        return VIOLATED, "not sent to this recipient"
    if seen.sender == "" and seen.reports and not run.organisation.shows(None, TRACKED):
        return UNKNOWN, "a DSN; some server writes no log that could say that it made it"
    if not run.is_of_lab:
        # that it came in from somewhere shows that somebody did send it
        came = message.of_event("RECEIVE")
        return UNKNOWN if came else VIOLATED, f"sent by no one: {ALL_MAIL}"
    is_torn = any(each.file == SENT for each in run.damage)
    return UNKNOWN if is_torn else VIOLATED, "sent by no one"


CLAIM = Claim("no_phantom", (), needs=frozenset({LEDGER, MAILBOXES}), of_message=_cases)
