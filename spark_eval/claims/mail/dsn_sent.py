"""dsn_sent: whoever's mail is given up hears of it by a DSN, and nobody hears of what was not
(SM-12).

The claim checks every message that a server gave up or notified its sender of, except what came
back from a Safety Net (`dsn_suppressed` checks that). It also checks every one that was late by
more than a heartbeat and got there: its sender must not hear that it failed, which proves no
requirement; that it is delayed is `delay_dsn_sent`'s. A message may fail hop by hop: what is said
of each recipient last needs a DSN that is its own, and DSNs name those recipients and no others
(RFC 3464). Servers may give a message up again after a crash, so there may be fewer DSNs than
failures, not more. What is given up within a heartbeat before the end may come after it. That the
shadow is kept until the DSN is delivered is checked by `discard_after_delivery`. Not asked is who
sees no DSN, where it was given up itself and a fault was in its way, or lost with a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.cases.case import FITS, HOLDS, NOT_ASKED, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.deliveries import deliveries
from spark_eval.expected.reports.notifications import (
    FAILED,
    Dsn,
    Notified,
    dsn_given_up,
    dsns_about,
    notified,
)
from spark_eval.expected.shadow.came_back import came_back
from spark_eval.histories.message import Message
from spark_eval.histories.primary import key_of
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.plan import MAILBOXES, TRACKING
from spark_eval.read.rows import TrackingRow


class _Told(NamedTuple):
    """What is known of one message: its failures, the DSNs about it, and what its sender sees."""

    failures: list[TrackingRow]
    dsns: list[Dsn]
    seen: Notified
    given_up: Ref | None


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if message.sent is None:
        return
    sender, dsns = message.sent.sender, dsns_about(message, of_delay=False)
    failures, late = _failures(message, run), _late(message, run)
    if not (failures or dsns or late):
        return
    given_up = dsn_given_up(dsns, sender, run)
    told = _Told(failures, dsns, notified(dsns, sender, FAILED), given_up)
    status, detail = _judged(message, run, told)
    times = [row.at_ms for row in failures or [dsn.row for dsn in dsns]]
    yield from asked(
        status, message.message_id, () if not failures and status == HOLDS else ("SM-12",), detail,
        max(times or [at_ms for at_ms, _ in late]),
        min((row.ref for row in failures), default=None),
        min((dsn.row.ref for dsn in dsns), default=None),
        told.seen.seen or min((ref for _, ref in late), default=None),
    )  # fmt: skip


def _failures(message: Message, run: Run) -> list[TrackingRow]:
    """FAIL rows of queues, but those of messages that came back from a Safety Net, or that may have
    and say SUPPRESSED.
    """
    failed = [row for row in message.of_event("FAIL") if row.source == "QUEUE"]
    if not failed:
        return []
    suppressed = {key_of(row) for row in message.of_event("SUPPRESSED")}
    back = {each.key for each in came_back(message, run) if each.is_sure or each.key in suppressed}
    return [row for row in failed if key_of(row) not in back]


def _late(message: Message, run: Run) -> list[tuple[int, Ref]]:
    """Arrivals more than a heartbeat after the message was acknowledged."""
    if not message.is_acknowledged or message.ok is None or message.ok.ended_ms is None:
        return []
    limit_ms = message.ok.ended_ms + run.config.heartbeat_ms
    firsts = ((each.first_ms, each.refs[0]) for each in deliveries(message, run))
    return [(at_ms, ref) for at_ms, ref in firsts if at_ms is not None and at_ms > limit_ms]


def _judged(message: Message, run: Run, told: _Told) -> Judged:
    assert message.sent is not None
    sender, made, failed = message.sent.sender, len(told.dsns), len(told.failures)
    if run.directory.file_of(sender) is None:
        untold = f"{sender} cannot be told, and {made} DSNs are made"
        return (VIOLATED, untold) if made else NOT_ASKED
    if made > failed:
        return VIOLATED, f"{sender} is told of {made} failures, and {failed} are logged"
    if not failed:
        return FITS
    last_ms = max(row.at_ms for row in told.failures)
    if run.end_ms is not None and last_ms > run.end_ms - run.config.heartbeat_ms:
        return NOT_ASKED
    if not run.is_collected(sender):
        return UNKNOWN, f"the record of what {sender} sees was not collected"
    return _of_failure(sender, told)


def _of_failure(sender: str, told: _Told) -> Judged:
    last, made, named = _last_words(told.failures), len(told.dsns), told.seen.named
    owed, whom = len(set(last.values())), frozenset(last)
    if not made:
        return VIOLATED, f"given up, and no DSN is made for {sender}"
    if made < owed:
        several = f"given up for several recipients, {owed} times"
        return VIOLATED, f"{several}; {sender} is told of {made}"
    if told.seen.seen is None:
        never = f"given up, and {sender} never saw the DSN"
        return (VIOLATED, never) if told.given_up is None else NOT_ASKED
    if others := " and ".join(sorted((named or frozenset()) - whom)):
        notified_of = f"{sender} is notified that it failed for {others}"
        return VIOLATED, f"{notified_of}, and no such failure is logged"
    if named is not None and told.seen.reports >= made and whom - named:
        missing = " and ".join(sorted(whom - named))
        return VIOLATED, f"given up for {missing}, and no DSN to {sender} says so"
    return FITS


def _last_words(failures: list[TrackingRow]) -> dict[str, tuple[int, Ref]]:
    """By recipient, the last failure. Only that is sure to be durable; what a crash took back is
    said again.
    """
    last: dict[str, tuple[int, Ref]] = {}
    for row in failures:
        for recipient in row.recipients or ():
            said = (row.at_ms, row.ref)
            last[recipient] = max(last.get(recipient, said), said)
    return last


CLAIM = Claim("dsn_sent", ("SM-12",), needs=frozenset({TRACKING, MAILBOXES}), of_message=_cases)
