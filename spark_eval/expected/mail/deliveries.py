"""Who should have got what: each addressee of what the workload sent, and what became of it.

A delivery is promised when the message was acknowledged. One that is promised and not visible is
lost, or excused with its reason; where the record of the place is missing, it is unknown. That a
server says it gave a message up excuses nothing: its sender must have been notified.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from spark_eval.cases.words import stamp
from spark_eval.expected.mail.addressees import addressees, handed_on, left_unserved, names_of
from spark_eval.expected.mail.arrivals import brought_into
from spark_eval.expected.mail.custodians import Custodians, custodians, custodians_for
from spark_eval.expected.mail.submissions import lost_in_outbox
from spark_eval.expected.reports.notifications import (
    FAILED,
    Notified,
    dsn_given_up,
    dsns_about,
    notified,
)
from spark_eval.expected.safety_net.corruptions import emptied_by
from spark_eval.expected.safety_net.resubmissions import expected
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.histories.sending import ACKNOWLEDGED
from spark_eval.read.names import Ref
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow, VisibleRow, collected

DELIVERED, LOST, EXCUSED, UNKNOWN = "delivered", "lost", "excused", "unknown"


class Delivery(NamedTuple):
    """To one recipient. `outcome` is delivered, lost, excused or unknown, or what became of the
    sending where nothing was promised; `copies` in order of the record.
    """

    recipient: str
    outcome: str
    reason: str
    promised: bool
    copies: tuple[VisibleRow, ...]
    refs: tuple[Ref, ...]

    @property
    def first_ms(self) -> int | None:
        times = (each.copied_ms for each in self.copies if each.copied_ms is not None)
        return min(times, default=None)


class _Fate(NamedTuple):
    """What is known of a whole message, whoever its recipients are."""

    sender: str
    sender_collected: bool | None
    custodians: Custodians
    told: Notified
    given_up: Ref | None


class _Failure(NamedTuple):
    """A recipient whom a server gave up; `untold`: a DSN was suppressed."""

    row: TrackingRow | None
    untold: bool


@lru_cache(maxsize=4)
def deliveries(message: Message, run: Run) -> tuple[Delivery, ...]:
    """Of what the workload sent, in the order of its addressees; of one who is not certain only
    what he sees.
    """
    if message.sent is None:
        return ()
    promised = message.fate == ACKNOWLEDGED
    copies = {
        recipient: tuple(message.seen_by.get(recipient, ()))
        for recipient in addressees(message, run)
    }
    fate = _fate(message, run) if promised and not all(copies.values()) else None
    return tuple(
        _delivery(message, run, fate, who, copies[who])
        for who, each in addressees(message, run).items()
        if each.is_sure or copies[who]
    )


def _fate(message: Message, run: Run) -> _Fate:
    assert message.sent is not None
    sender, dsns = message.sent.sender, dsns_about(message, of_delay=False)
    return _Fate(
        sender=sender,
        sender_collected=run.is_collected(sender) if run.directory.file_of(sender) else None,
        custodians=custodians(message, run),
        told=notified(dsns, sender, FAILED),
        given_up=dsn_given_up(dsns, sender, run),
    )


def _delivery(
    message: Message,
    run: Run,
    fate: _Fate | None,
    recipient: str,
    copies: tuple[VisibleRow, ...],
) -> Delivery:
    assert message.sent is not None
    ref = message.ok.ref if message.ok else message.sent.ref
    if copies:
        shown = (ref, *(each.ref for each in copies[:3]))
        return Delivery(recipient, DELIVERED, "", message.is_acknowledged, copies, shown)
    if fate is None:
        return Delivery(recipient, message.fate, "", False, copies, (ref,))
    if handed_on(message, run):
        fate = fate._replace(custodians=custodians_for(recipient, message, run))
    failure = _failure(message, names_of(recipient, message, run))
    outcome, reason = _judged(message, run, recipient, fate, failure)
    if outcome == LOST and (net := _not_kept_longer(message, run, recipient)) is not None:
        outcome, reason = EXCUSED, f"Safety Net may not keep it longer: {net}"
    if outcome == LOST and (left := left_unserved(recipient, message, run)) is not None:
        outcome, reason = EXCUSED, left
    if outcome == LOST and (emptied := _emptied(message, run, recipient)) is not None:
        reason = emptied
    told = (failure.row.ref if failure.row else None, fate.told.seen or fate.given_up)
    shown = (ref, *(each for each in told if each is not None))
    return Delivery(recipient, outcome, reason, True, copies, shown)


def _not_kept_longer(message: Message, run: Run, recipient: str) -> str | None:
    """Why what was lost with a copy of a database is excused: the Safety Net that had it could not
    be asked as long as it may keep it.
    """
    reasons = (
        each.reason
        for each in expected(message, run)
        if each.expired and each.lost and not each.is_seen and recipient in each.fork.recipients
    )
    return min(reasons, default=None)


def _emptied(message: Message, run: Run, recipient: str) -> str | None:
    """By which corruption of its mailbox database it was lost, if so."""
    rows = collected(
        (each.database, each.row)
        for each in brought_into(message, run)
        if each.row.event == "DELIVER" and recipient in (each.row.recipients or ())
    )
    for database, taken in rows.items():
        if (row := emptied_by(database, taken, run)) is not None:
            return (
                f"delivered, and lost with what mailboxes of {database} had at {stamp(row.at_ms)}"
            )
    return None


def _failure(message: Message, names: Collection[str]) -> _Failure:
    mine = [
        row
        for row in message.of_event("FAIL", "SUPPRESSED")
        if any(name in names for name in row.recipients or ())
    ]
    failed = [row for row in mine if row.event == "FAIL" and row.source == "QUEUE"]
    first = min(failed, key=lambda row: row.ref, default=None)
    return _Failure(first, any(row.event == "SUPPRESSED" for row in mine))


def _judged(
    message: Message, run: Run, recipient: str, fate: _Fate, failure: _Failure
) -> tuple[str, str]:
    if not run.is_collected(recipient) and message.of_event("EXPAND"):
        return UNKNOWN, "a distribution group was expanded; who is in one is not read yet"
    if not run.is_collected(recipient):
        return UNKNOWN, "the record of what this recipient sees was not collected"
    row, told = failure.row, fate.told
    said = f"{row.server} said {row.recipient_status or '?'}" if row else ""
    if row and failure.untold:
        return EXCUSED, "lost with a copy, resubmitted, and expired in the queue without a DSN"
    # the record may not have what a DSN says
    names = names_of(recipient, message, run)
    if row and told.seen is not None and (told.named is None or not told.named.isdisjoint(names)):
        return EXCUSED, f"given up and its sender told by a DSN: {said}"
    held_by = " and ".join(fate.custodians.servers)
    if fate.custodians.all_lost and len(fate.custodians.servers) > 1:
        return EXCUSED, f"both custodians failed: {held_by}"
    if fate.custodians.all_lost and fate.custodians.unprotected:
        return EXCUSED, f"accepted unprotected, then lost with the database of {held_by}"
    if row:
        return _given_up(row, said, fate)
    server = message.ok.server if message.ok else "?"
    if not fate.custodians.stores and (lost := lost_in_outbox(message, run)) is not None:
        return EXCUSED, lost
    if not fate.custodians.stores and _may_have_expired(message, run):
        return UNKNOWN, f"acknowledged by {server}, which may have given it up, and writes no log"
    if not fate.custodians.stores:
        return LOST, f"acknowledged by {server}, which logged no such message"
    return LOST, f"acknowledged by {server}, held by {held_by}, never visible"


def _may_have_expired(message: Message, run: Run) -> bool:
    """At a server that writes no tracking log; a DSN to its sender is nobody's then."""
    server = run.servers.get(message.ok.server) if message.ok else None
    if server is None or message.ok is None or TRACKING in server.evidence:
        return False
    shortest_ms = min(each.config.expiration_ms for each in run.servers.values())
    return (run.end_ms or 0) - (message.ok.ended_ms or 0) >= shortest_ms


def _given_up(row: TrackingRow, said: str, fate: _Fate) -> tuple[str, str]:
    if fate.sender_collected is False:
        return UNKNOWN, (
            f"{row.server} gave it up; the record of what its sender sees was not collected"
        )
    status = row.recipient_status or "?"
    if fate.told.seen is not None:
        return LOST, f"{row.server} gave it up ({status}), and no DSN to {fate.sender} says so"
    if fate.given_up is not None:
        return EXCUSED, f"given up, and so was the DSN to its sender: {said}"
    return LOST, f"{row.server} gave it up ({status}), and no DSN reached {fate.sender}"
