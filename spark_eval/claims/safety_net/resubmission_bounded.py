"""resubmission_bounded: nothing comes back but what a failover or an administrator calls for (SN-4,
SN-8, SN-12).

Asks every copy that came back whether it belongs to the database and the interval of a failover, or
of an administrator's request, is for mailboxes of that database alone, and came once for one
request; every copy that left the boundary in an interval asked for whether it stayed away; every
request whether it belongs to a failover, or to what an administrator asked for, of a database of
that boundary, the last also where the Safety Net has refused it; and every switchover that lost
nothing whether nobody was asked.
`expect.resubmissions` narrows: each entry must have happened, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked, fits, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.crossings import Hop, hops
from spark_eval.expected.safety_net.asked_resubmissions import asked_of, of_administrator
from spark_eval.expected.safety_net.called_for import copies_back, is_at_home, of_copy, of_request
from spark_eval.expected.safety_net.resubmissions import PRIMARY, Given, given_back
from spark_eval.expected.safety_net.safety_net_requests import Request, askings, requests
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import grouped


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        given = given_back(each)
        yield from _came_back(each, given, run)
        yield from _left(each, given, run)


def _came_back(message: Message, given: list[Given], run: Run) -> Iterator[Case]:
    for copy in copies_back(given, run):
        status, detail = of_copy(copy, run)
        is_for_others = copy.strangers or not copy.is_at_home
        yield from asked(
            status, message.message_id, ("SN-8", "SN-12") if is_for_others else ("SN-8",), detail,
            copy.first.row.at_ms, *(each.row.ref for each in copy.rows[:2]), weight=len(copy.rows),
        )  # fmt: skip


def _left(message: Message, given: list[Given], run: Run) -> Iterator[Case]:
    """What went to a server outside, or to another boundary, is not resubmitted: at a time that
    surely lies in an interval for which the Safety Net of its server was asked.
    """
    gone = (hop for hop in hops(message, run) if hop.left and _is_inside(hop, run))
    for key, away in grouped(gone, lambda hop: key_of(hop.row)).items():
        if key is None:
            continue
        again = _given_back_to(key, away, given)
        first = min(away, key=lambda hop: (hop.row.at_ms, hop.row.ref)).row
        peers = " and ".join(sorted({hop.peer for hop in away}))
        wrong = ""
        if again is not None:
            left = f"{key.server} sent it to {peers}, outside its boundary"
            wrong = f"{left}, and resubmitted it for {again.row.context}"
        status, detail = fits(wrong)
        yield from asked(
            status, message.message_id,
            ("SN-12", "SR-16") if message.is_relayed else ("SN-12",), detail,
            again.row.at_ms if again else first.at_ms, first, again.row if again else None,
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
    again = (
        each
        for each in given
        if each.row.safety_net == PRIMARY
        and (each.row.server, each.row.database_id or "", each.row.copy_internal_id) == key
        and gone_to & set(each.row.recipients or ())
    )
    return next(again, None)


def _of_run(run: Run, totals: Totals) -> Iterator[Case]:
    if run.active_copies or asked_of(run):
        for request in requests(run):
            yield from _request(request, run)
        yield from _refused(run)
        yield from _lossless(run)
    if run.expect.resubmissions is not None:
        yield from _expected(run, totals)


def _request(request: Request, run: Run) -> Iterator[Case]:
    changes = (change for active in run.active_copies.values() for change in active.changes)
    of = (request.database, request.epoch)
    mounted = next((c.mounted for c in changes if (c.database, c.after.epoch) == of), None)
    ordered = of_administrator(request.request_id, run)
    database = request.database if ordered is None else ordered.database or ""
    at_home = is_at_home(request.server, database, run)
    status, detail = of_request(request, database, run, is_known=bool(mounted or ordered))
    yield from asked(
        status, f"{request.request_id} at {request.server}",
        (("SN-4",) if ordered is None else ("SN-8",)) + (() if at_home else ("SN-12",)), detail,
        request.at_ms, request, mounted,
    )  # fmt: skip


def _refused(run: Run) -> Iterator[Case]:
    """What Active Manager asks of a server for as long as that refuses it."""
    rows = run.said("safety-net-refused")
    for (request, server), said in grouped(rows, lambda row: (row.request_id, row.peer)).items():
        first = min(said, key=lambda row: (row.at_ms or 0, row.ref))
        if is_at_home(server or "", first.database, run):
            continue
        detail = f"{first.server} asked {server} for {first.database}, which is in another boundary"
        yield from asked(
            VIOLATED, f"{request} at {server}", ("SN-12",), detail, first.at_ms, first,
            weight=len(said),
        )  # fmt: skip


def _lossless(run: Run) -> Iterator[Case]:
    """Nobody is asked after a switchover that lost nothing: a case that holds."""
    by_change = {each.name: each.change for each in askings(run) if each.is_lossless}
    for name, change in by_change.items():
        of = (change.database, change.after.epoch)
        after = [each for each in requests(run) if (each.database, each.epoch) == of]
        first = min(after, key=lambda each: (each.at_ms, each.ref), default=None)
        switched = f"a switchover to {change.after.server} that lost nothing"
        status, detail = fits(f"a Safety Net was asked after {switched}" if first else "")
        yield from asked(
            status, name, ("SN-4",), detail, change.mounted.at_ms, change.mounted, first
        )


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
            f"expect.resubmissions {database} {safety_net}", (),
            f"{came} resubmissions to {database} from {safety_net} Safety Nets, {what}", at_ms or 0,
            refs(ref), expected=True,
        )  # fmt: skip


CLAIM = Claim(
    "resubmission_bounded",
    ("SN-4", "SN-8", "SN-12", "SR-16"),
    needs=frozenset({TRACKING}),
    of_message=_of_message,
    of_run=_of_run,
)
