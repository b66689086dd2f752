"""copies_seeded: a copy of a mailbox database on a server that came anew is seeded from the active
one before it is of any use (TP-8).

Asks each copy of such a server: it was opened as one that is to be seeded, and it was seeded
within the time that requests, a seed and their refusals take (`expected.new_servers`), not counting
while the server or a way to it was in trouble. Asks each mount of it, and each failover to it that
nobody asked for, whether it was seeded before.

Not asked is what the new server says of its start, where it has not said anything: `copies_logged`
does.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import agreement, precedence, response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.new_servers import NewCopy, due_ms, new_copies
from spark_eval.expected.totals import Totals
from spark_eval.histories.organisation.active_copies import MOUNTED
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

REQUIRED = ("TP-8",)
SEEDING = "seeding"


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for copy in new_copies(run):
        if copy.server.lives:
            yield from _opened(copy)
            yield from _in_time(copy, run)
            for mount in copy.said(MOUNTED):
                yield from _before(copy, mount, mount.at_ms or 0, "was mounted", run)
            yield from _decided(copy, run)


def _name(copy: NewCopy) -> str:
    return f"{copy.database} on {copy.server.name}"


def _opened(copy: NewCopy) -> Iterator[Case]:
    for row in copy.said("copy-opened")[:1]:
        detail = (
            f"{copy.server.name} came anew, and opened its copy of {copy.database} at "
            f"{stamp(row.at_ms)} as {row.state or '?'}, not to be seeded"
        )
        status = agreement(row.state, SEEDING)
        yield from asked(status, _name(copy), REQUIRED, detail, row.at_ms, row)


def _in_time(copy: NewCopy, run: Run) -> Iterator[Case]:
    by_ms, seeded = due_ms(copy, run), copy.seeded
    if by_ms is None:
        return
    is_over = copy.until_ms is not None and copy.until_ms <= by_ms
    status = response(
        seeded.at_ms if seeded else None, by_ms, run.end_ms, is_excused=is_over,
        is_shown=copy.server.shows(copy.since_ms, by_ms),
    )  # fmt: skip
    detail = (
        f"{copy.server.name} came anew, and its copy of {copy.database} was not seeded by "
        f"{stamp(by_ms)}"
    )
    yield from asked(status, _name(copy), REQUIRED, detail, by_ms, seeded)


def _decided(copy: NewCopy, run: Run) -> Iterator[Case]:
    """By Active Manager alone: what it is asked for may wait for a seed."""
    for change in run.active_copies[copy.database].decided:
        cause = change.cause or ""
        is_own = change.kind == "failover" and not cause.startswith("asked for")
        is_to_it = (change.to or "").lower() == copy.server.name and cause != "found active"
        at_ms = change.at_ms or 0
        ends = copy.until_ms is None or at_ms < copy.until_ms
        opened = copy.said("copy-opened")
        if is_own and is_to_it and ends and opened and at_ms > (opened[0].at_ms or 0):
            yield from _before(copy, change, at_ms, "was decided on", run)


def _before(copy: NewCopy, row: LifecycleRow, at_ms: int, what: str, run: Run) -> Iterator[Case]:
    seeded = copy.seeded
    late_ms = 0 if row.server == copy.server.name else copy.server.askew_ms + copy.server.slack_ms
    status = precedence(
        None if seeded is None else (seeded.at_ms or 0) - late_ms, at_ms,
        is_shown=copy.server.shows(copy.since_ms, at_ms),
    )  # fmt: skip
    detail = (
        f"the copy of {copy.database} on {copy.server.name}, which came anew, {what} at "
        f"{stamp(at_ms)}, and it was not seeded before"
    )
    yield from asked(status, _name(copy), REQUIRED, detail, at_ms, row, seeded)


CLAIM = Claim("copies_seeded", REQUIRED, needs=frozenset({LIFECYCLE}), of_run=_cases)
