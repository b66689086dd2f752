"""Journal reports: which journal mailboxes are to hear of a message, and whom their report names
(SM-10).

A mailbox hears of what recipients in its databases get and their mailboxes send. Who gets a message
is what servers came to answer for first: what comes back from a Safety Net is not journaled again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.expected.mail.addressees import addressees, resolved
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, Primary, is_journal_report, key_of
from spark_eval.histories.run import Run
from spark_eval.read.rows import TrackingRow


class Journaled(NamedTuple):
    """A journal report as its server logged it; `message` is its own history."""

    message: Message
    row: TrackingRow

    @property
    def key(self) -> Key | None:
        return key_of(self.row)


def journal_reports_about(message: Message) -> list[Journaled]:
    return [
        Journaled(each, row)
        for each in message.journal_reports
        for row in each.tracking
        if is_journal_report(row)
    ]


def is_journaling(run: Run) -> bool:
    """Whether any database has a journal mailbox."""
    return any(each.journal for each in run.databases.values())


def journal_mailboxes(message: Message, run: Run, *, is_sure: bool) -> frozenset[str]:
    """Those that are to hear of it, whatever a change of a group under way had come to; or all that
    may.
    """
    if message.sent is None or not is_journaling(run):
        return frozenset()
    whom = set(journaled(message, run)) if is_sure else set(addressees(message, run))
    found = (journal_of(each, run) for each in (*whom, message.sent.sender.lower()))
    return frozenset(each for each in found if each is not None)


def journal_of(address: str, run: Run) -> str | None:
    """The journal mailbox of the database that has that mailbox."""
    database = run.databases.get(run.directory.mailboxes.get(address, ""))
    return database.journal if database else None


def journaled(message: Message, run: Run) -> list[str]:
    """Who was an addressee for certain, each time when a server came to answer for it but by a
    Safety Net.
    """
    times = [
        {who for who, each in resolved(primary, message, run).items() if each.is_sure}
        for primary in _answered_for(message)
    ]
    return sorted(set.intersection(*times)) if times else []


def _answered_for(message: Message) -> Iterator[Primary]:
    return (
        each for each in message.primaries.values() if each.is_there and not each.is_resubmitted
    )
