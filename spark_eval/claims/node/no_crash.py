"""no_crash: no server ends by a mistake of its own, or works for ever on one moment.

Asks each server of the organisation: `crashed` in its lifecycle log is the end of a process by its
own mistake, `session-failed` that of a session; a log that does not say `started` before anything
else was received hides both (TL-4). A server that the simulator stopped since it span has crashed,
too. What a server that was killed did is for other claims.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow

MISTAKES = ("crashed", "session-failed")


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    rows: dict[str, list[LifecycleRow]] = {}
    for row in run.lifecycle:
        rows.setdefault(row.server, []).append(row)
    mailboxes = {each.name for each in run.servers.values() if each.is_mailbox}
    for server in sorted({*rows, *mailboxes}):
        yield from _case(server, rows.get(server, []), run)


def _case(server: str, rows: list[LifecycleRow], run: Run) -> Iterator[Case]:
    mistakes = [row for row in rows if row.event in MISTAKES]
    first = min(mistakes, key=lambda row: (row.at_ms or 0, row.mono_ns or 0), default=None)
    began = min(rows, key=lambda row: (row.at_ms or 0, row.ref), default=None)
    shown = first or began
    at_ms, ref = (shown.at_ms, (shown.ref,)) if shown else (None, ())
    if first is None and any(row.event == "started" for row in rows):
        yield Case(HOLDS, server, ("TL-4",), server=server)
    elif first is None:
        is_damaged = any(each.server == server for each in run.damage)
        if not is_damaged:
            detail = f"the lifecycle log of {server} has no start of it"
            yield Case(VIOLATED, server, ("TL-4",), detail, at_ms, ref, server=server)
    else:
        why, when = _why(first), stamp(first.at_ms)
        what = f"a session of {server} failed at {when}"
        if first.event == "crashed":
            what = f"{server} crashed at {when}"
        yield Case(
            VIOLATED, server, ("TL-4",), f"{what}: {why}", at_ms, ref, len(mistakes), server=server
        )


def _why(row: LifecycleRow) -> str:
    """The last line of a traceback."""
    return (row.reason or "no reason given").strip("\n").split("\n")[-1]


CLAIM = Claim("no_crash", ("TL-4",), needs=frozenset({LIFECYCLE}), of_run=_cases)
