"""What Safety Nets should give back on an administrator's request, and what they did (SN-3, SN-8).

The interval is the request's own. Each mailbox server of the boundary is asked, where there is no
DAG too; one that was away or had a full disk just then takes nothing on, and owes nothing. What a
server that took it on had delivered, surely inside, has to come back from its Primary Safety Net,
once it had the time for that without being away; or, where its queue database is a younger one,
from a Shadow Safety Net that stood in for it (SN-9). A request that a server passed on says whose
it is: `o1`, and `o1.par-mbx1.<queue database>`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.cases.case import FITS, HOLDS, NOT_ASKED, UNKNOWN, VIOLATED, Judged, Status
from spark_eval.cases.words import stamp
from spark_eval.expected.mail.arrivals import database_of
from spark_eval.expected.moves.where_now import surely_in
from spark_eval.expected.safety_net.operations import Operation, operations
from spark_eval.expected.safety_net.pauses import may_wait
from spark_eval.expected.safety_net.request_changes import rests
from spark_eval.expected.safety_net.resubmissions import PRIMARY, SHADOW, Given, given_back
from spark_eval.expected.safety_net.safety_net_requests import Request, home_servers, requests
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import UNLOGGED_WALL_MS, Server
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, first_clear, merged, touches
from spark_eval.intervals.outage import Certainty
from spark_eval.read.operation_kinds import Resubmit
from spark_eval.read.rows import TrackingRow

COMPLETED = "resubmit-completed"


class AskedOf(NamedTuple):
    """A `resubmit` and a server of the boundary of its database, which was asked at some time of
    `asked` and by `request` took it on. Surely outside of the interval: before `outside_before_ms`,
    from `outside_from_ms` on; surely inside: `inside`. By `give_by_ms` all of it is surely back.
    """

    operation: str
    database: str
    server: Server
    asked: Interval | None
    request: Request | None
    is_completed: bool
    inside: Interval
    outside_before_ms: int
    outside_from_ms: int
    give_by_ms: int | None

    @property
    def is_owed_nothing(self) -> bool:
        """It was not asked, or could take nothing on just then."""
        return self.request is None and (
            self.asked is None or self.server.out(*self.asked) is not Certainty.NO
        )


@lru_cache(maxsize=1)
def asked_of(run: Run) -> tuple[AskedOf, ...]:
    """One for each request of an administrator and server."""
    found = []
    for operation in operations(run) if run.planned_operations else ():
        keys = operation.planned.keys
        if isinstance(keys, Resubmit) and None not in keys:
            for server in home_servers(keys.database or "", run):
                found.append(_asked_of(operation, keys, server, run))
    return tuple(found)


def of_administrator(request_id: str | None, run: Run) -> Operation | None:
    """The operation that a request belongs to, also where a server passed it on."""
    name = (request_id or "").partition(".")[0]
    return next(
        (
            each
            for each in operations(run)
            if each.id == name and isinstance(each.planned.keys, Resubmit)
        ),
        None,
    )


def _asked_of(operation: Operation, keys: Resubmit, server: Server, run: Run) -> AskedOf:
    start_ms, end_ms = keys.start_ms or 0, keys.end_ms or 0
    vague_ms = run.finest_ms + server.askew_ms
    unlogged_ms = int(UNLOGGED_WALL_MS * run.speed)
    taken = [
        each
        for each in requests(run)
        if (each.server, each.request_id) == (server.name, operation.id)
    ]
    request = taken[0] if taken else None
    need_ms = run.software.asked_ms + int(1000 * run.speed) + run.finest_ms
    away = (each.outage.possible for each in server.downs)
    resting = (
        each.possible
        for each in rests(run)
        if (each.server, each.request) == (server.name, operation.id)
    )
    outages = merged((*away, *resting, *may_wait(server, run)))
    return AskedOf(
        operation=operation.id,
        database=keys.database or "",
        server=server,
        asked=operation.asked,
        request=request,
        is_completed=any(
            (row.server, row.event, row.request_id) == (server.name, COMPLETED, operation.id)
            for row in run.lifecycle
        ),
        # a row follows the fork's end that it reports
        inside=Interval(start_ms + vague_ms + unlogged_ms, end_ms - vague_ms - 1),
        outside_before_ms=start_ms - vague_ms,
        outside_from_ms=end_ms + vague_ms,
        give_by_ms=None
        if request is None
        else first_clear(request.at_ms, outages, need_ms) + need_ms,
    )


def judged(asked: AskedOf, run: Run) -> Judged:
    """Whether the server took it on; not asked where it could not."""
    if asked.request is not None:
        return FITS
    if asked.asked is None or asked.is_owed_nothing:
        return NOT_ASKED
    server, name = asked.server.name, asked.operation
    if touches(asked.server.holes, *asked.asked):
        return UNKNOWN, f"the record of {server} has a hole where it may have been asked"
    when = stamp(asked.asked.lo)
    return VIOLATED, f"{server} was asked for {name} at {when}, was there, and did not take it on"


class Delivered(NamedTuple):
    """What the server of a primary message delivered into a database: its first and its last row
    about that.
    """

    key: Key
    database: str
    recipients: tuple[str, ...]
    first: TrackingRow
    last: TrackingRow


def delivered_by(message: Message) -> list[Delivered]:
    """By what the servers that answered for it say themselves."""
    owned = {key for key, each in message.primaries.items() if each.is_there}
    owned |= {key for row in message.made_here if (key := key_of(row)) is not None}
    rows: dict[tuple[Key, str], list[TrackingRow]] = {}
    for row in message.tracking:
        key, database = key_of(row), database_of(row)
        if key is not None and database is not None and key in owned:
            rows.setdefault((key, database), []).append(row)
    return [
        Delivered(
            key, database,
            tuple(sorted({who for row in told for who in row.recipients or ()})),
            min(told, key=lambda row: (row.at_ms, row.ref)),
            max(told, key=lambda row: (row.at_ms, row.ref)),
        )
        for (key, database), told in rows.items()
    ]  # fmt: skip


class Owed(NamedTuple):
    """A delivery that a request calls for, judged; as `resubmissions.Expected`."""

    fork: Delivered
    asked: AskedOf
    is_seen: bool
    given: TrackingRow | None
    stood_in: TrackingRow | None
    status: Status
    reason: str


@lru_cache(maxsize=4)
def owed(message: Message, run: Run) -> tuple[Owed, ...]:
    """One for each request and delivery that surely lies in its interval."""
    return tuple(_all_owed(message, run)) if asked_of(run) else ()


def _all_owed(message: Message, run: Run) -> Iterator[Owed]:
    back = given_back(message)
    for fork in delivered_by(message):
        for asked in asked_of(run):
            if (
                asked.server.name == fork.key.server
                and asked.request is not None
                and asked.inside.covers(fork.first.at_ms, fork.last.at_ms)
                and (there := _whose(fork, asked, asked.request, back, run)).recipients
            ):
                item = _owed(message, there, asked, back, run)
                if item.given is not None or not _rests(asked, run):
                    yield item


def _whose(
    fork: Delivered, asked: AskedOf, request: Request, back: list[Given], run: Run
) -> Delivered:
    """For those whose mailbox surely was in the database that was asked for from then until it came
    back, or surely could, whichever it was delivered into.
    """
    there = fork._replace(database=asked.database)
    came = [each.row.at_ms for each in back if _is_own(each.row, there, asked)]
    until_ms = min(came, default=asked.give_by_ms or run.end_ms or request.at_ms)
    span = (request.at_ms, max(request.at_ms, until_ms))
    whom = surely_in(asked.database, fork.database, fork.recipients, span, run)
    return there._replace(recipients=whom)


def _rests(asked: AskedOf, run: Run) -> bool:
    """An administrator has it disabled or removed until the end: it owes nothing more."""
    of = (asked.server.name, asked.operation)
    ends = (each.possible.hi for each in rests(run) if (each.server, each.request) == of)
    return any(end_ms >= (run.end_ms or 0) for end_ms in ends)


def _owed(message: Message, fork: Delivered, asked: AskedOf, back: list[Given], run: Run) -> Owed:
    own = [each.row for each in back if _is_own(each.row, fork, asked)]
    seen = {each.recipient for each in message.visible}
    head = f"{asked.operation}.{fork.key.server}."
    stood_in = next(
        (
            each.row
            for each in back
            if each.row.safety_net == SHADOW and (each.row.context or "").startswith(head)
        ),
        None,
    )
    is_seen = seen >= set(fork.recipients)
    status, reason = _judged(fork, asked, own, run, is_seen=is_seen, stood_in=stood_in is not None)
    return Owed(fork, asked, is_seen, own[0] if own else None, stood_in, status, reason)


def _is_own(row: TrackingRow, fork: Delivered, asked: AskedOf) -> bool:
    copy = (row.server, row.database_id or "", row.copy_internal_id)
    return (row.context, row.safety_net, row.destination) == (
        asked.operation, PRIMARY, fork.database,
    ) and copy == tuple(fork.key)  # fmt: skip


def _judged(
    fork: Delivered,
    asked: AskedOf,
    own: list[TrackingRow],
    run: Run,
    *,
    is_seen: bool,
    stood_in: bool,
) -> tuple[Status, str]:
    server, name = fork.key.server, asked.operation
    left_out = set(fork.recipients) - {who for row in own for who in row.recipients or ()}
    if own and left_out:
        return VIOLATED, f"{server} resubmitted it for {name} without {', '.join(sorted(left_out))}"
    assert asked.request is not None
    assert asked.give_by_ms is not None
    what = f"{server} had delivered it into {fork.database} at {stamp(fork.first.at_ms)}"
    lost_ms = asked.server.lost_ms(fork.key.database_id)
    if own or (lost_ms is not None and stood_in):
        return HOLDS, ""
    if lost_ms is not None and lost_ms < asked.give_by_ms:
        reason = f"{what}, and lost its queue database at {stamp(lost_ms)}"
        return (HOLDS if is_seen else UNKNOWN), reason
    if fork.first.at_ms + run.config.hold_ms < asked.give_by_ms:
        kept = stamp(fork.first.at_ms + run.config.hold_ms)
        return (HOLDS if is_seen else UNKNOWN), f"{what}, and kept it until {kept}"
    if not asked.is_completed and asked.give_by_ms > (run.end_ms or 0):
        return UNKNOWN, f"{what}; the run ended before it surely could give it back for {name}"
    if touches(asked.server.holes, asked.request.at_ms, asked.give_by_ms):
        return UNKNOWN, f"{what}; its record has a hole where it may have resubmitted it"
    return VIOLATED, f"{what}, inside of the interval of {name}, and never resubmitted it"
