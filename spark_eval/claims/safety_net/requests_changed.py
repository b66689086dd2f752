"""requests_changed: a resubmit request that an administrator disables, or removes, gives nothing
more back; one that is enabled again goes on (SN-16).

Asks every server that was at work on the request when it was asked to change it whether it agreed;
every message that a Safety Net gives back whether its request was surely disabled, or removed, at
that time; and every request that was removed whether it is completed later. What is enabled again
owes all of its interval (`resubmission_complete`).

Not asked: a page that is under way when the server answers; servers that were away, or whose answer
nobody has heard.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.request_changes import ENABLE, Change, changes, rests
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import LIFECYCLE, TRACKING

REQUIRED = ("SN-16",)
TAKEN_ON, COMPLETED = "resubmit-requested", "resubmit-completed"


def _of_message(message: Message, run: Run) -> Iterator[Case]:
    if not rests(run):
        return
    for each in message.with_dsns:
        for row in each.of_event("RESUBMIT"):
            of = [r for r in rests(run) if (r.server, r.request) == (row.server, row.context)]
            wrong = next((r for r in of if r.certain.covers(row.at_ms, row.at_ms)), None)
            status, detail = fits(
                f"{row.server} gave it back for {row.context}, after {wrong.operation.id}"
                if wrong
                else ""
            )
            if of:
                yield from asked(status, each.message_id, REQUIRED, detail, row.at_ms, row,
                                 server=row.server)  # fmt: skip


def _of_run(run: Run, _totals: Totals) -> Iterator[Case]:
    for change in changes(run):
        if _must_agree(change, run):
            status, detail = fits(
                ""
                if change.agreed
                else f"{change.server.name} has {change.request}, and answered {change.code} to "
                f"{change.operation.id}"
            )
            yield from asked(
                status, f"{change.operation.id} at {change.server.name}", REQUIRED, detail,
                change.operation.asked_ms, server=change.server.name,
            )  # fmt: skip
    for rest in rests(run):
        late = [
            row
            for row in run.said(COMPLETED)
            if (row.server, row.request_id) == (rest.server, rest.request)
            and row.at_ms is not None
            and rest.certain.covers(row.at_ms, row.at_ms)
        ]
        status, detail = fits(
            f"{rest.server} completed {rest.request} at {stamp(late[0].at_ms)}, after "
            f"{rest.operation.id}"
            if late
            else ""
        )
        yield from asked(
            status, f"{rest.operation.id} at {rest.server}", REQUIRED, detail, rest.certain.lo,
            *late[:1], server=rest.server,
        )  # fmt: skip


def _must_agree(change: Change, run: Run) -> bool:
    """It was there, and surely at work on the request; or had it disabled, to enable it again."""
    server, at = change.server, change.operation.asked
    assert at is not None
    like = {"server": server.name, "request_id": change.request}
    taken = run.said_ms(TAKEN_ON, **like)
    over = [*run.said_ms(COMPLETED, **like), *run.said_ms("resubmit-removed", **like)]
    earlier = [
        each.operation.planned.kind
        for each in rests(run)
        if (each.server, each.request) == (server.name, change.request)
        and (each.operation.asked_ms or 0) < at.lo
    ]
    is_enabled = change.operation.planned.kind == ENABLE
    is_there = server.out(at.lo, at.hi + server.slack_ms) is Certainty.NO
    return (
        earlier == (["disable_resubmit"] if is_enabled else [])
        and any(each < at.lo - server.slack_ms for each in taken)
        and not any(each <= at.hi + server.slack_ms for each in over)
        and is_there
        and (change.agreed or change.code is not None)
        and server.shows(at.lo, at.hi)
    )


CLAIM = Claim(
    "requests_changed",
    REQUIRED,
    needs=frozenset({LIFECYCLE, TRACKING}),
    of_message=_of_message,
    of_run=_of_run,
)
