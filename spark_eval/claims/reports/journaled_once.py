"""journaled_once: what a journaled database gets or sends is in its journal mailbox as one report,
which names sender, message and recipients, and has the message attached (SM-10).

Checks each message that a mailbox of a journaled database surely got or sent, by the ledger and the
journal mailbox. The report names all mailboxes that it was surely for, those behind a group with
it, and nobody else; what is attached is what was sent. Nobody else gets a report, and nobody gets a
report of a report. Copies of one report are `no_visible_duplicate`'s. Not asked is who got none,
where the report still waits (`drains_after_heal` asks), was given up for a fault that was in its
way all the time, or was lost with a copy or with all that had the message.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import NOT_ASKED, UNKNOWN, VIOLATED, Case, Judged, asked, fits
from spark_eval.cases.forms import agreement
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import addressees
from spark_eval.expected.mail.custodians import custodians
from spark_eval.expected.reports.journal_reports import (
    is_journaling,
    journal_mailboxes,
    journal_of,
    journal_reports_about,
    journaled,
)
from spark_eval.expected.reports.notifications import Dsn, dsn_given_up
from spark_eval.expected.safety_net.corruptions import emptied_by
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import LEDGER, MAILBOXES
from spark_eval.read.rows import JournalReport, TrackingRow, VisibleRow


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if not is_journaling(run):
        return
    for seen in message.visible:
        # one about a message is with that message, unless that is a report itself
        if seen.journal is not None and message.made_here and not run.damage:
            of_report = f"{seen.recipient} has a journal report of a report"
            yield from _case((VIOLATED, of_report), message, seen.recipient, seen)
    possible = journal_mailboxes(message, run, is_sure=False)
    reports = sorted(
        (seen for each in message.journal_reports for seen in each.visible), key=lambda s: s.ref
    )
    for mailbox in sorted(possible):
        mine = [each for each in reports if each.recipient == mailbox]
        if mine or _is_owed(message, mailbox, run):
            yield from _case(_judged(message, mailbox, mine, run), message, mailbox, *mine[:2])
    for each in reports:
        if message.sent is not None and each.recipient not in possible:
            wrong = f"{each.recipient} has a journal report, and its database has no part in it"
            yield from _case((VIOLATED, wrong), message, each.recipient, each)


def _case(judged: Judged, message: Message, mailbox: str, *seen: VisibleRow) -> Iterator[Case]:
    status, detail = judged
    yield from asked(
        status, f"{message.message_id} in {mailbox}", ("SM-10",), detail,
        seen[0].copied_ms if seen else None, message.sent, *seen,
    )  # fmt: skip


def _is_owed(message: Message, mailbox: str, run: Run) -> bool:
    """Whether somebody of its databases surely was sent it and has it, or sent it himself."""
    if message.sent is None or not message.is_acknowledged:
        return False
    has_it = {seen.recipient for seen in message.visible}
    whom = [each for each in journaled(message, run) if each in has_it]
    return mailbox in {journal_of(each, run) for each in (*whom, message.sent.sender.lower())}


def _judged(message: Message, mailbox: str, seen: list[VisibleRow], run: Run) -> Judged:
    reports = {each.message_id for each in seen}
    if len(reports) > 1:
        return VIOLATED, f"{mailbox} has {len(reports)} journal reports of it"
    if not seen:
        return _missing(message, mailbox, run)
    if seen[0].journal is None:
        return fits(f"the journal report in {mailbox} cannot be read")
    return fits(_wrong(message, mailbox, seen[0].journal, run))


def _missing(message: Message, mailbox: str, run: Run) -> Judged:
    if not run.is_collected(mailbox):
        return UNKNOWN, f"the record of what {mailbox} sees was not collected"
    reports = [Dsn(each.message, each.row, False) for each in journal_reports_about(message)]
    waits = any(q.queue == "delivery" for each in message.journal_reports for q in each.queued)
    is_lost = custodians(message, run).all_lost or dsn_given_up(reports, mailbox, run) is not None
    if waits or is_lost or _is_emptied(message, mailbox, run):
        return NOT_ASKED
    made = "" if reports else ", and no server says that it made one"
    return VIOLATED, f"delivered, and {mailbox} has no journal report of it{made}"


def _is_emptied(message: Message, mailbox: str, run: Run) -> bool:
    """Whether it was delivered, and lost by a corruption of the journal mailbox's database."""
    database = run.directory.mailboxes[mailbox]
    rows: list[TrackingRow] = [
        row
        for each in message.journal_reports
        for row in each.of_event("DELIVER")
        if mailbox in (row.recipients or ())
    ]
    return bool(rows) and emptied_by(database, rows, run) is not None


def _wrong(message: Message, mailbox: str, report: JournalReport, run: Run) -> str:
    """What does not fit, or the empty text."""
    assert message.sent is not None
    sent, whose = message.sent, f"the journal report in {mailbox}"
    if (report.sender or "").lower() != sent.sender:
        return f"{whose} says that <{report.sender}> sent it; <{sent.sender}> did"
    if report.message_id != message.message_id:
        return f"{whose} names the message {report.message_id}"
    if report.subject != report.attached_subject:
        return (
            f"{whose} has the subject {report.subject}; the message has {report.attached_subject}"
        )
    for mine, theirs in (
        (sent.content.header, report.decoded_header_sha256 or report.header_sha256),
        (sent.content.body, report.decoded_body_sha256 or report.body_sha256),
    ):
        if agreement(mine, theirs) == VIOLATED:
            return f"{whose} has another message attached than was sent"
    return _misnamed(message, whose, report, run)


def _misnamed(message: Message, whose: str, report: JournalReport, run: Run) -> str:
    named = {(each.recipient or "").lower(): each.through for each in report.recipients or ()}
    whom, sure = addressees(message, run), journaled(message, run)
    for recipient in sure:
        if run.directory.is_inside(recipient) and recipient not in named:
            return f"{whose} does not name {recipient}"
    for recipient, through in named.items():
        if recipient not in whom:
            return f"{whose} names {recipient}, to whom it was not sent"
        if recipient in sure and (whom[recipient].through is None) == bool(through):
            return f"{whose} has {recipient} through {through or 'no group'}"
    return ""


CLAIM = Claim(
    "journaled_once",
    ("SM-10",),
    needs=frozenset({LEDGER, MAILBOXES}),
    of_message=_cases,
)
