"""promotions_counted: a lifecycle log says of how many messages a promotion began, and so many
follow in the message tracking log of its server (TL-4).

Asks every `promotion-begun`: until the next one of the same primary
server and cause, or, where another one begins while the first may be under way, of both together,
as many RESUBMIT rows have that server and cause as the rows say, neither fewer nor more.

Not asked: a promotion while which its server may have been away, or its disk full, or its log has a
hole, from when it began until it has surely been made durable; or until the run was over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import agreement
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.totals import Promotion, Totals, take_over
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.outage import Certainty
from spark_eval.read.plan import EXACT_TRACKING, LIFECYCLE
from spark_eval.read.rows import LifecycleRow, grouped

# what a disk takes to commit a promotion
DISK_MS = 30_000


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    came = {promotion: list(times) for promotion, times in totals.taken_over.items()}
    take_over(came, run.probes)
    for promotion, begun in _begun(run).items():
        server, times = run.servers.get(promotion[0]), sorted(came.get(promotion, ()))
        if server is not None:
            late_ms = DISK_MS + slack_ms(run) + server.slack_ms
            for rows, until_ms in _together(begun, late_ms):
                yield from _case(promotion, server, rows, times, until_ms or run.end_ms or 0, run)


def _begun(run: Run) -> dict[Promotion, list[LifecycleRow]]:
    begun = run.said("promotion-begun")
    rows = (row for row in begun if row.at_ms is not None and row.messages is not None)
    return grouped(rows, lambda row: (row.server, (row.primary or "").lower(), row.cause or ""))


def _together(
    rows: list[LifecycleRow], late_ms: int
) -> Iterator[tuple[list[LifecycleRow], int | None]]:
    """Those of which one may be under way when the next one begins; and when another one does."""
    rows.sort(key=lambda row: (row.at_ms or 0, row.ref))
    found = [rows[:1]]
    for row in rows[1:]:
        if (row.at_ms or 0) - (found[-1][-1].at_ms or 0) <= late_ms:
            found[-1].append(row)
        else:
            found.append([row])
    for place, each in enumerate(found, start=1):
        yield each, found[place][0].at_ms if place < len(found) else None


def _case(
    promotion: Promotion, server: Server, rows: list[LifecycleRow], times: list[int],
    until_ms: int, run: Run,
) -> Iterator[Case]:  # fmt: skip
    first_ms, last_ms = rows[0].at_ms or 0, rows[-1].at_ms or 0
    from_ms = first_ms - server.slack_ms
    done_ms = last_ms + DISK_MS + slack_ms(run) + server.slack_ms
    if run.end_ms is None or done_ms > run.end_ms or not _is_asked(server, from_ms, done_ms):
        return
    said = sum(row.messages or 0 for row in rows)
    logged = bisect_left(times, until_ms) - bisect_left(times, from_ms)
    name, primary, cause = promotion
    detail = (
        f"{name} says at {stamp(first_ms)} that it promotes {said} messages of {primary} by "
        f"{cause}; {logged} RESUBMIT rows follow"
    )
    yield from asked(
        agreement(said, logged), f"{name} and {primary}", ("TL-4",), detail, first_ms, *rows[:3],
        weight=abs(said - logged), server=server.name,
    )  # fmt: skip


def _is_asked(server: Server, from_ms: int, done_ms: int) -> bool:
    starts = any(from_ms < life.lo_ms <= done_ms for life in server.lives[1:])
    is_there = server.out(from_ms, done_ms) is Certainty.NO and not starts
    return is_there and server.shows(from_ms, done_ms)


CLAIM = Claim(
    "promotions_counted", ("TL-4",), needs=frozenset({LIFECYCLE, EXACT_TRACKING}), of_run=_cases
)
