"""delay_dsn_sent: whose mail waits for DelayNotificationTimeout is notified once, and nobody else
(RT-5).

Asks every message that a server made a DSN of delay for, and every one that surely waited there
that long: from when the server accepted or promoted it to when the last recipient was served or
given up, or its queue database was lost. A server that is away then makes the DSN when it is back.
There is none of what came from a Safety Net, which a promoted shadow of it did, too (SN-10). A
server that accepted a message twice may notify twice. Nobody is notified where
InternalDelayDsnEnabled, of a sender with a mailbox here, or ExternalDelayDsnEnabled, of any other,
is false. Each DSN says so of those whom the message waits for there, when it is made, and of no
others (RFC 3464). What is made within a heartbeat before the end may be seen after it. Not asked is
who sees no DSN, where it was given up itself, or lost; nor of whom a DSN says so, where a restart,
a full disk or a hole of the log lies between, and of several messages that a server has of one
Message-Id more than what is so of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from spark_eval.cases.case import FITS, NOT_ASKED, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.cases.forms import bound, response
from spark_eval.cases.words import hole_of, stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.delays import Delay, delays, hears_of_delays
from spark_eval.expected.mail.waited_for import waited_for
from spark_eval.expected.reports.notifications import (
    DELAYED,
    Dsn,
    Notified,
    dsn_given_up,
    dsns_about,
    notified,
)
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.plan import MAILBOXES, TRACKING


class _Told(NamedTuple):
    """What `server` should have said, and `sent`, of a message of `sender`; what he sees of all
    DSNs of delay, and where one was given up; `whom`: for whom it may have waited at any server.
    """

    server: Server
    sender: str
    waits: list[Delay]
    sent: list[Dsn]
    seen: Notified
    given_up: Ref | None
    whom: frozenset[str]

    @property
    def owed(self) -> list[Delay]:
        return [wait for wait in self.waits if wait.must]


def _cases(message: Message, run: Run) -> Iterator[Case]:
    made = dsns_about(message, of_delay=True)
    shortest_ms = min((each.config.delay_ms for each in run.servers.values()), default=0)
    if not made and run.end_ms is not None and shortest_ms >= run.end_ms:
        return
    waits = delays(message, run)
    sender = message.sent.sender if message.sent else ""
    seen, given_up = notified(made, sender, DELAYED), dsn_given_up(made, sender, run)
    whom = frozenset(who for each in waits.values() for wait in each for who in wait.recipients)
    for name in sorted({*waits, *(dsn.row.server for dsn in made)} & run.servers.keys()):
        sent = [dsn for dsn in made if dsn.row.server == name]
        told = _Told(run.servers[name], sender, waits.get(name, []), sent, seen, given_up, whom)
        if sent or told.owed:
            yield from _case(message, told, run)


def _case(message: Message, told: _Told, run: Run) -> Iterator[Case]:
    status, detail = _judged(message, told, run)
    due_ms = min((wait.due_ms for wait in told.owed), default=None)
    yield from asked(
        status, message.message_id, ("RT-5",), detail,
        min((dsn.row.at_ms for dsn in told.sent), default=due_ms),
        min((wait.since_ref for wait in told.waits), default=None),
        min((dsn.row.ref for dsn in told.sent), default=None), told.seen.seen,
        server=told.server.name,
    )  # fmt: skip


def _judged(message: Message, told: _Told, run: Run) -> Judged:
    name, sender, waits = told.server.name, told.sender if message.sent else "?", told.waits
    times = sorted(dsn.row.at_ms for dsn in told.sent)
    if message.sent is not None and not hears_of_delays(sender, run):
        wrong = f"{name} notifies {sender} of a delay, and DSNs of delay to such senders are off"
        return (VIOLATED, wrong) if times else FITS
    if len(times) > len(waits):
        return VIOLATED, (
            f"{name} notifies {sender} {len(times)} times of a delay; {len(waits)} of it "
            "waited there for DelayNotificationTimeout"
        )
    least_ms = min((wait.least_ms for wait in waits), default=None)
    if bound(times[0] if times else None, least_ms, None) == VIOLATED:
        when = f"at {stamp(times[0])}, before {stamp(least_ms)}"
        return VIOLATED, f"{name} notifies {sender} of a delay {when}"
    if message.sent is None or run.directory.file_of(sender) is None:
        return NOT_ASKED
    if len(times) < len(told.owed):
        return _missing(told)
    if not times or (run.end_ms is not None and times[-1] > run.end_ms - run.config.heartbeat_ms):
        return NOT_ASKED
    if not run.is_collected(sender):
        return UNKNOWN, f"the record of what {sender} sees was not collected"
    return _seen(told) or _of_each(message, told, run)


def _missing(told: _Told) -> Judged:
    server, due_ms = told.server, min(wait.due_ms for wait in told.owed)
    is_shown = all(server.shows(wait.from_ms, wait.due_ms) for wait in told.waits)
    never = f"it waits at {server.name} beyond {stamp(due_ms)}, and no DSN notifies {told.sender}"
    status = response(None, due_ms, due_ms, is_excused=False, is_shown=is_shown)
    return status, never if is_shown else hole_of(server.name)


def _seen(told: _Told) -> Judged | None:
    """None where all that anybody sees fits."""
    sender, named = told.sender, told.seen.named
    if told.seen.seen is None:
        never = f"delayed, and {sender} never saw the DSN"
        return (VIOLATED, never) if told.given_up is None else NOT_ASKED
    if named is not None and not named:
        return VIOLATED, f"delayed, and the DSN to {sender} says so of nobody"
    others = (named or frozenset()) - told.whom
    return (VIOLATED, _for_others(sender, others)) if others else None


def _of_each(message: Message, told: _Told, run: Run) -> Judged:
    for dsn in told.sent:
        said = notified([dsn], told.sender, DELAYED).named
        whom = waited_for(dsn, message, told.server, run)
        if said is None or whom is None:
            continue
        if others := said - whom.perhaps:
            return VIOLATED, _for_others(told.sender, others)
        if missing := " and ".join(sorted(whom.surely - said)):
            lacking = f"and the DSN to {told.sender} does not say so"
            return VIOLATED, f"it waits for {missing} as well, {lacking}"
    return FITS


def _for_others(sender: str, others: Set[str]) -> str:
    named = " and ".join(sorted(others))
    return f"{sender} is notified of a delay for {named}, for whom it does not wait"


CLAIM = Claim(
    "delay_dsn_sent", ("RT-5",), needs=frozenset({TRACKING, MAILBOXES}), of_message=_cases
)
