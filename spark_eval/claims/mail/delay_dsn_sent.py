"""delay_dsn_sent: whose mail waits for DelayNotificationTimeout is notified once, and nobody else
(RT-5).

Asks every message that a server made a DSN of delay for, and every one that surely waited there
that long: from when the server accepted or promoted it to when the last recipient was served or
given up, or its queue database was lost. A server that is away then makes the DSN when it is back.
There is none of what came from a Safety Net, which a promoted shadow of it did, too (SN-10). A
server that accepted a message twice may notify twice. Each DSN says so of those whom the message
waits for there, when it is made, and of no others (RFC 3464). What is made within a heartbeat
before the end may be seen after it. Not asked is who sees no DSN, where it was given up itself, or
lost; nor of whom a DSN says so, where a restart, a full disk or a hole of the log lies between, and
of several messages that a server has of one Message-Id more than what is so of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.forks import Forks, forks_of
from spark_eval.expected.mail.notifications import (
    DELAYED,
    Dsn,
    Notified,
    dsn_given_up,
    dsns_about,
    notified,
)
from spark_eval.expected.mail.waited_for import waited_for
from spark_eval.expected.shadow.came_back import came_back
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.primary import Primary
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.plan import MAILBOXES, TRACKING


class _Wait(NamedTuple):
    """A message that may have waited at a server for so long: `must`, it surely did and had to be
    notified of; `least_ms`, when at the earliest, `due_ms`, by when; `from_ms`, since when.
    """

    must: bool
    from_ms: int
    least_ms: int
    due_ms: int
    since_ref: Ref
    recipients: tuple[str, ...]


class _Seen(NamedTuple):
    """What the sender sees of all DSNs of delay."""

    told: Notified
    given_up: Ref | None


def _cases(message: Message, run: Run) -> Iterator[Case]:
    made = dsns_about(message, of_delay=True)
    shortest_ms = min((each.config.delay_ms for each in run.servers.values()), default=0)
    if not made and run.end_ms is not None and shortest_ms >= run.end_ms:
        return
    waits = _waits(message, run)
    sender = message.sent.sender if message.sent else ""
    seen = _Seen(notified(made, sender, DELAYED), dsn_given_up(made, sender, run))
    for name in sorted({*waits, *(dsn.row.server for dsn in made)}):
        sent = [dsn for dsn in made if dsn.row.server == name]
        here = waits.get(name, [])
        if (sent or any(wait.must for wait in here)) and name in run.servers:
            yield from _case(message, run, run.servers[name], here, sent, seen)


def _case(
    message: Message, run: Run, server: Server, waits: list[_Wait], sent: list[Dsn], seen: _Seen
) -> Iterator[Case]:
    if (judged := _judged(message, run, server, waits, sent, seen)) is None:
        return
    status, detail = judged
    first_ms = min((dsn.row.at_ms for dsn in sent), default=_due_ms(waits))
    shown = refs(
        min((wait.since_ref for wait in waits), default=None),
        min((dsn.row.ref for dsn in sent), default=None),
        seen.told.seen,
    )
    yield Case(status, message.message_id, ("RT-5",), detail, first_ms, shown, server=server.name)


def _due_ms(waits: list[_Wait]) -> int | None:
    return min((wait.due_ms for wait in waits if wait.must), default=None)


def _judged(
    message: Message, run: Run, server: Server, waits: list[_Wait], sent: list[Dsn], seen: _Seen
) -> tuple[Status, str] | None:
    """None where it is not asked."""
    sender = message.sent.sender if message.sent else "?"
    times = sorted(dsn.row.at_ms for dsn in sent)
    if len(sent) > len(waits):
        return VIOLATED, (
            f"{server.name} notifies {sender} {len(sent)} times of a delay; {len(waits)} of it "
            "waited there for DelayNotificationTimeout"
        )
    least_ms = min((wait.least_ms for wait in waits), default=None)
    if times and least_ms is not None and times[0] < least_ms:
        return VIOLATED, (
            f"{server.name} notifies {sender} of a delay at {stamp(times[0])}, before "
            f"{stamp(least_ms)}"
        )
    if message.sent is None or run.directory.file_of(sender) is None:
        return None
    if len(sent) < sum(wait.must for wait in waits):
        return _missing(server, sender, waits)
    if not times or (run.end_ms is not None and times[-1] > run.end_ms - run.config.heartbeat_ms):
        return None
    if not run.is_collected(sender):
        return UNKNOWN, f"the record of what {sender} sees was not collected"
    if seen.told.seen is None and seen.given_up is not None:
        return None
    return _of_dsn(sender, waits, seen) or _of_each(message, sender, sent, server, run)


def _missing(server: Server, sender: str, waits: list[_Wait]) -> tuple[Status, str]:
    due_ms = _due_ms(waits)
    if any(not server.shows(wait.from_ms, wait.due_ms) for wait in waits):
        return UNKNOWN, f"the tracking log of {server.name} has a hole there"
    return VIOLATED, (
        f"it waits at {server.name} beyond {stamp(due_ms)}, and no DSN notifies {sender}"
    )


def _of_dsn(sender: str, waits: list[_Wait], seen: _Seen) -> tuple[Status, str] | None:
    """None where all that anybody sees fits."""
    if seen.told.seen is None:
        return VIOLATED, f"delayed, and {sender} never saw the DSN"
    if seen.told.named is not None and not seen.told.named:
        return VIOLATED, f"delayed, and the DSN to {sender} says so of nobody"
    whom = {recipient for wait in waits for recipient in wait.recipients}
    if others := (seen.told.named or frozenset()) - whom:
        return VIOLATED, _for_others(sender, others)
    return None


def _of_each(
    message: Message, sender: str, sent: list[Dsn], server: Server, run: Run
) -> tuple[Status, str]:
    for dsn in sent:
        said = notified([dsn], sender, DELAYED).named
        whom = waited_for(dsn, message, server, run)
        if said is None or whom is None:
            continue
        if others := said - whom.perhaps:
            return VIOLATED, _for_others(sender, others)
        if missing := whom.surely - said:
            return VIOLATED, (
                f"it waits for {' and '.join(sorted(missing))} as well, and the DSN to {sender} "
                "does not say so"
            )
    return HOLDS, ""


def _for_others(sender: str, others: Set[str]) -> str:
    named = " and ".join(sorted(others))
    return f"{sender} is notified of a delay for {named}, for whom it does not wait"


def _waits(message: Message, run: Run) -> dict[str, list[_Wait]]:
    """By server, each message of it that may have had to notify."""
    back = {each.key: each.is_sure for each in came_back(message, run)}
    found: dict[str, list[_Wait]] = {}
    for key, forks in forks_of(message).items():
        server, primary = run.servers.get(key.server), message.primaries[key]
        if server is None or not primary.is_there or back.get(key) is True:
            continue
        wait = _wait(primary, forks, server, run, may_be_back=key in back)
        if wait is not None:
            found.setdefault(server.name, []).append(wait)
    return found


def _wait(
    primary: Primary, forks: Forks, server: Server, run: Run, *, may_be_back: bool
) -> _Wait | None:
    config, row = server.config, primary.born or primary.loaded
    assert row is not None
    slack, vague_ms = slack_ms(run), server.askew_ms + run.finest_ms
    from_ms = row.at_ms + config.delay_ms
    is_received = primary.born is not None and primary.born.event == "RECEIVE"
    calm_ms = from_ms + slack + (0 if is_received else config.session_ms)
    ends = (forks.served_ms, server.lost_ms(primary.key.database_id))
    left_ms = min((each for each in ends if each is not None), default=None)
    if left_ms is not None and left_ms < from_ms - vague_ms:
        return None
    due_ms = _back_ms(server, calm_ms, slack) + vague_ms
    is_first = config.delay_ms < config.expiration_ms and not may_be_back
    stays = left_ms is None or left_ms > due_ms
    must = is_first and stays and run.end_ms is not None and run.end_ms > due_ms
    least_ms = from_ms - vague_ms - slack
    return _Wait(must, from_ms, least_ms, due_ms, row.ref, row.recipients or ())


def _back_ms(server: Server, time_ms: int, slack: int) -> int:
    """A server that is away then, or whose disk is full, notifies when that is over."""
    for down in server.downs:
        if down.outage.possible.lo <= time_ms:
            time_ms = max(time_ms, down.outage.possible.hi + slack)
    return time_ms


CLAIM = Claim(
    "delay_dsn_sent", ("RT-5",), needs=frozenset({TRACKING, MAILBOXES}), of_message=_cases
)
