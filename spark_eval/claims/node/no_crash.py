"""no_crash: no server ends by a mistake of its own, or works for ever on one moment.

Asks each server of the organisation: `crashed` in its lifecycle log is the end of a process by its
own mistake, `session-failed` that of a session; a log that does not say `started` before anything
else was received hides both (TL-4). A server that the simulator stopped since it span has crashed,
too. What a server that was killed did is for other claims.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import FITS, NOT_ASKED, VIOLATED, Case, Judged, asked
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow, grouped

MISTAKES = ("crashed", "session-failed")


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    rows = grouped(run.lifecycle, lambda row: row.server)
    mailboxes = {each.name for each in run.servers.values() if each.is_mailbox}
    for server in sorted({*rows, *mailboxes}):
        yield from _case(server, rows.get(server, []), run)


def _case(server: str, rows: list[LifecycleRow], run: Run) -> Iterator[Case]:
    mistakes = [row for row in rows if row.event in MISTAKES]
    first = min(mistakes, key=lambda row: (row.at_ms or 0, row.mono_ns or 0), default=None)
    shown = first or min(rows, key=lambda row: (row.at_ms or 0, row.ref), default=None)
    status, detail = _judged(server, rows, first, run)
    yield from asked(
        status, server, ("TL-4",), detail, shown.at_ms if shown else None, shown,
        weight=len(mistakes), server=server,
    )  # fmt: skip


def _judged(server: str, rows: list[LifecycleRow], first: LifecycleRow | None, run: Run) -> Judged:
    """`first`: the first mistake."""
    if first is not None:
        what = "crashed" if first.event == "crashed" else "failed"
        who = server if what == "crashed" else f"a session of {server}"
        return VIOLATED, f"{who} {what} at {stamp(first.at_ms)}: {_why(first)}"
    if any(row.event == "started" for row in rows):
        return FITS
    if any(each.server == server for each in run.damage):
        return NOT_ASKED
    return VIOLATED, f"the lifecycle log of {server} has no start of it"


def _why(row: LifecycleRow) -> str:
    """The last line of a traceback."""
    return (row.reason or "no reason given").strip("\n").split("\n")[-1]


CLAIM = Claim("no_crash", ("TL-4",), needs=frozenset({LIFECYCLE}), of_run=_cases)
