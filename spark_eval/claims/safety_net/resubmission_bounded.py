"""resubmission_bounded: nothing comes back but what a failover or an administrator calls for (SN-4,
SN-8, SN-12).

Asks every copy that came back whether it belongs to the database and the interval of a failover, or
of an administrator's request, is for mailboxes of that database alone, and came once for one
request; every copy that left the boundary in an interval asked for whether it stayed away; every
request whether it belongs to a failover, or to what an administrator asked for, of a database of
that boundary; and every switchover that lost nothing whether nobody was asked.
`expect.resubmissions` narrows: each entry must have happened, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, refs
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import Hop, hops
from spark_eval.expected.safety_net.asked_resubmissions import asked_of, of_administrator
from spark_eval.expected.safety_net.operations import Operation
from spark_eval.expected.safety_net.resubmissions import PRIMARY, Given, given_back
from spark_eval.expected.safety_net.safety_net_requests import (
    Asking,
    Request,
    askings,
    home_servers,
    requests,
)
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING

Copy = tuple[str, str, str | None, str | None, str | None]


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    for each in (message, *message.dsns):
        given = given_back(each)
        if given:
            yield from _came_back(each, given, run)
        if askings(run) or asked_of(run):
            yield from _left(each, given, run)


# what came back


def copies_back(given: list[Given]) -> list[list[Given]]:
    """The rows of each copy and request."""
    once: dict[Copy, list[Given]] = {}
    for each in given:
        row = each.row
        copy = (
            row.server, row.database_id or "", row.context, row.copy_internal_id, row.safety_net
        )  # fmt: skip
        once.setdefault(copy, []).append(each)
    return list(once.values())


def is_outside(rows: list[Given], run: Run) -> bool:
    """Whether no failover called for that copy; another one came more than once."""
    at_home, strangers = _is_at_home(rows[0], run), _strangers(rows, run)
    return len(rows) == 1 and _judged(rows, strangers, run, at_home=at_home)[0] == VIOLATED


def _came_back(message: Message, given: list[Given], run: Run) -> Iterator[Case]:
    for rows in copies_back(given):
        strangers, at_home = _strangers(rows, run), _is_at_home(rows[0], run)
        status, detail = _judged(rows, strangers, run, at_home=at_home)
        yield Case(
            status,
            message.message_id,
            ("SN-8", "SN-12") if strangers or not at_home else ("SN-8",),
            detail,
            rows[0].row.at_ms,
            tuple(each.row.ref for each in rows[:2]),
            weight=len(rows),
        )


def _strangers(rows: list[Given], run: Run) -> list[str]:
    """Recipients that have no mailbox in the database that was resubmitted to."""
    named = dict.fromkeys(who for each in rows for who in each.row.recipients or ())
    return [who for who in named if run.directory.mailboxes.get(who) != rows[0].row.destination]


def _is_at_home(given: Given, run: Run) -> bool:
    """Whether the server is in the boundary of the database that it resubmitted to."""
    destination = given.row.destination or ""
    return any(each.name == given.row.server for each in home_servers(destination, run))


def _judged(
    rows: list[Given], strangers: list[str], run: Run, *, at_home: bool
) -> tuple[Status, str]:
    row, first = rows[0].row, rows[0]
    named = f"{row.server}: {row.context or '?'}"
    if len(rows) > 1:
        return VIOLATED, (f"{named} resubmitted its copy {row.copy_internal_id} {len(rows)} times")
    ordered = of_administrator(row.context, run)
    if ordered is None and first.epoch is None:
        return VIOLATED, f"{named} names no failover, and no administrator asked for it"
    database = first.database if ordered is None else ordered.database
    if row.destination is not None and row.destination != database:
        return VIOLATED, f"{named} resubmitted to {row.destination}"
    if strangers:
        whom = ", ".join(strangers)
        return VIOLATED, f"{named} resubmitted for {whom}, no mailbox of {row.destination}"
    if not at_home:
        where = f"{row.destination}, which is in another boundary"
        return VIOLATED, f"{named} resubmitted to {where}"
    if ordered is not None:
        return _in_its_interval(first, ordered, named, run)
    asking = _asking(first.database, first.epoch, row.server, run)
    if asking is None:
        if (first.database, first.epoch) in _told(run):
            what = "belongs to a failover of which only Active Manager tells"
            return UNKNOWN, f"{named} {what}"
        return VIOLATED, f"{named} belongs to no failover"
    return _inside(first, asking, named)


def _in_its_interval(given: Given, ordered: Operation, named: str, run: Run) -> tuple[Status, str]:
    """A Shadow Safety Net says when the last fork was delivered, and its first may lie before."""
    asked = next(
        (
            each
            for each in asked_of(run)
            if (each.operation, each.server.name) == (ordered.id, given.row.server)
        ),
        None,
    )
    delivered_ms = given.row.delivered_at_ms
    if asked is None or delivered_ms is None:
        return HOLDS, ""
    is_late = given.row.safety_net == PRIMARY and delivered_ms >= asked.outside_from_ms
    if delivered_ms < asked.outside_before_ms or is_late:
        when, words = stamp(delivered_ms), ordered.planned.words
        return VIOLATED, f"{named} resubmitted what was delivered at {when}; asked for: {words}"
    return HOLDS, ""


def _inside(given: Given, asking: Asking, named: str) -> tuple[Status, str]:
    if asking.is_lossless:
        return VIOLATED, f"{named} follows a switchover that lost nothing"
    delivered_ms, to = given.row.delivered_at_ms, asking.change.after.server
    before_ms, after_ms = asking.outside_before_ms, asking.outside_after_ms
    if delivered_ms is not None and before_ms is not None and delivered_ms < before_ms:
        survived = stamp(asking.limits.survived_ms)
        return VIOLATED, (
            f"{named} resubmitted what was delivered at {stamp(delivered_ms)}; the last log that "
            f"{to} replayed is not older than {survived}"
        )
    is_primary = given.row.safety_net == PRIMARY
    if (
        is_primary
        and None not in (delivered_ms, after_ms)
        and (delivered_ms or 0) > (after_ms or 0)
    ):
        known = stamp((after_ms or 0) - asking.server.askew_ms)
        return VIOLATED, (
            f"{named} resubmitted what it delivered at {stamp(delivered_ms)}, and knew of {to} at "
            f"{known}"
        )
    return HOLDS, ""


def _asking(database: str | None, epoch: int | None, server: str, run: Run) -> Asking | None:
    return next(
        (
            each
            for each in askings(run)
            if (each.change.database, each.change.after.epoch) == (database, epoch)
            and each.server.name == server
        ),
        None,
    )


def _told(run: Run) -> set[tuple[str | None, int | None]]:
    """Failovers by Active Manager's word."""
    return {(row.database, row.epoch) for row in run.lifecycle if row.event == "failover-mounted"}


# what left


def _left(message: Message, given: list[Given], run: Run) -> Iterator[Case]:
    """What went to a server outside, or to another boundary, is not resubmitted: at a time that
    surely lies in an interval for which the Safety Net of its server was asked.
    """
    gone: dict[Key, list[Hop]] = {}
    for hop in hops(message, run):
        key = key_of(hop.row)
        if hop.left and key is not None and _is_inside(hop, run):
            gone.setdefault(key, []).append(hop)
    for key, away in gone.items():
        again = _given_back_to(key, away, given)
        first = min(away, key=lambda hop: (hop.row.at_ms, hop.row.ref)).row
        peers = " and ".join(sorted({hop.peer for hop in away}))
        detail = ""
        if again is not None:
            detail = (
                f"{key.server} sent it to {peers}, outside its boundary, and resubmitted it for "
                f"{again.row.context}"
            )
        yield Case(
            VIOLATED if again else HOLDS, message.message_id, ("SN-12",), detail,
            again.row.at_ms if again else first.at_ms,
            refs(first.ref, again.row.ref if again else None),
        )  # fmt: skip


def _is_inside(hop: Hop, run: Run) -> bool:
    return any(
        each.server.name == hop.row.server
        and each.request is not None
        and each.inside_to_ms is not None
        and each.inside_from_ms <= hop.row.at_ms < each.inside_to_ms
        for each in askings(run)
    ) or any(
        each.server.name == hop.row.server
        and each.request is not None
        and each.inside.covers(hop.row.at_ms, hop.row.at_ms)
        for each in asked_of(run)
    )


def _given_back_to(key: Key, away: list[Hop], given: list[Given]) -> Given | None:
    """The resubmission of that copy to one of those whom it had left for."""
    gone_to = {who for hop in away for who in hop.row.recipients or ()}
    return next(
        (
            each
            for each in given
            if each.row.safety_net == PRIMARY
            and (each.row.server, each.row.database_id or "", each.row.copy_internal_id) == key
            and gone_to & set(each.row.recipients or ())
        ),
        None,
    )


# requests


def _of_run(run: Run, totals: Totals) -> Iterator[Case]:
    if run.active_copies or asked_of(run):
        for request in requests(run):
            yield _request(request, run)
        yield from _lossless(run)
    if run.expect.resubmissions is not None:
        yield from _expected(run, totals)


def _request(request: Request, run: Run) -> Case:
    mounted = next(
        (
            change.mounted
            for active in run.active_copies.values()
            for change in active.changes
            if (change.database, change.after.epoch) == (request.database, request.epoch)
        ),
        None,
    )
    ordered = of_administrator(request.request_id, run)
    database = (request.database if ordered is None else ordered.database) or ""
    at_home = any(each.name == request.server for each in home_servers(database, run))
    if ordered is not None:
        status, detail = _of_administrator(request, database, at_home=at_home)
    else:
        status, detail = _of_request(request, run, at_home=at_home, is_known=mounted is not None)
    return Case(
        status,
        f"{request.request_id} at {request.server}",
        (("SN-4",) if ordered is None else ("SN-8",)) + (() if at_home else ("SN-12",)),
        detail,
        request.at_ms,
        refs(request.ref, mounted.ref if mounted else None),
    )


def _of_administrator(request: Request, database: str, *, at_home: bool) -> tuple[Status, str]:
    if at_home:
        return HOLDS, ""
    named = f"{request.server}: {request.request_id}"
    return VIOLATED, f"{named} asks a server outside the boundary of {database}"


def _of_request(request: Request, run: Run, *, at_home: bool, is_known: bool) -> tuple[Status, str]:
    named = f"{request.server}: {request.request_id}"
    if request.database is not None and not at_home:
        return VIOLATED, f"{named} asks a server outside the boundary of {request.database}"
    if not is_known:
        if (request.database, request.epoch) in _told(run):
            return UNKNOWN, f"{named} belongs to a failover of which only Active Manager tells"
        return VIOLATED, f"{named} belongs to no failover"
    if _is_lossless(request.database, request.epoch, run):
        return VIOLATED, f"{named} follows a switchover that lost nothing"
    return HOLDS, ""


def _is_lossless(database: str | None, epoch: int | None, run: Run) -> bool:
    return any(
        each.is_lossless
        for each in askings(run)
        if (each.change.database, each.change.after.epoch) == (database, epoch)
    )


def _lossless(run: Run) -> Iterator[Case]:
    """Nobody is asked after a switchover that lost nothing: a case that holds."""
    by_change = {each.name: each for each in askings(run) if each.is_lossless}
    for name, asking in by_change.items():
        change = asking.change
        asked = [
            each
            for each in requests(run)
            if (each.database, each.epoch) == (change.database, change.after.epoch)
        ]
        first = min(asked, key=lambda each: (each.at_ms, each.ref), default=None)
        detail = (
            f"a Safety Net was asked after a switchover to {change.after.server} that lost nothing"
        )
        yield Case(
            VIOLATED if first else HOLDS, name, ("SN-4",), detail, change.mounted.at_ms,
            refs(change.mounted.ref, first.ref if first else None),
        )  # fmt: skip


# expect.resubmissions


def _expected(run: Run, totals: Totals) -> Iterator[Case]:
    """Each entry happened, and what no entry names did not."""
    entries = {
        (each.database, (each.from_ or "").partition("-")[0])
        for each in run.expect.resubmissions or ()
    }
    seen = totals.resubmitted
    if not entries and not seen:
        yield Case(HOLDS, "expect.resubmissions", expected=True, at_ms=0)
    for database, safety_net in sorted({*entries, *seen}, key=str):
        came, at_ms, ref = seen.get((database, safety_net), (0, None, None))
        is_named = (database, safety_net) in entries
        what = "at least one is expected" if is_named else "and no entry names them"
        yield Case(
            HOLDS if is_named and came else VIOLATED,
            f"expect.resubmissions {database} {safety_net}",
            (),
            f"{came} resubmissions to {database} from {safety_net} Safety Nets, {what}",
            at_ms or 0,
            refs(ref),
            expected=True,
        )


CLAIM = Claim(
    "resubmission_bounded",
    ("SN-4", "SN-8", "SN-12"),
    needs=frozenset({TRACKING}),
    of_message=_of_message,
    of_run=_of_run,
)
