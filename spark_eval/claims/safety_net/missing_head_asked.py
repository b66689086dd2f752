"""missing_head_asked: a Primary Safety Net that is too young for an interval has the others answer
for the rest of it, at once (SN-9).

Asks each request that a server took on for its Primary Safety Net, and whose interval surely begins
before its queue database was made, once for each other server of the boundary: within the time that
a server surely needs to be asked (`safety_net_requests.need_ms`), and not only after the twelve
hours of SN-7, that one took on a request to stand in for it. And each of these requests: it is for
the head alone, from the start of the interval to the moment at which the queue database was made,
by the date of that row within a wall second.

Not asked: where the way between the two, or either of them, was in trouble meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.missing_heads import Head, missing_heads
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE

REQUIRED = ("SN-9",)


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for head in missing_heads(run):
        yield from _asked_at_once(head, run)
        if head.taken is not None:
            yield from _interval(head)


def _asked_at_once(head: Head, run: Run) -> tuple[Case, ...]:
    came_ms = head.taken.at_ms if head.taken else None
    detail = (
        f"{head.server.name} took {head.request.request_id} on at {stamp(head.request.at_ms)}, for "
        f"an interval from {head.request.start} on, with a younger queue database; "
        f"{head.other.name} was not asked by {stamp(head.due_ms)} to stand in for it"
    )
    return asked(
        response(came_ms, head.due_ms, run.end_ms, is_excused=head.is_excused),
        _subject(head), REQUIRED, detail, head.due_ms, head.request, head.taken,
    )  # fmt: skip


def _interval(head: Head) -> tuple[Case, ...]:
    assert head.taken is not None
    wrong = f"{head.server.name} asked {head.other.name} for its shadow messages {head.wrong}"
    status, detail = fits(wrong if head.wrong else "")
    return asked(
        status, _subject(head), REQUIRED, detail, head.taken.at_ms, head.request, head.taken
    )


def _subject(head: Head) -> str:
    return f"{head.request.request_id} of {head.server.name} at {head.other.name}"


CLAIM = Claim("missing_head_asked", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
