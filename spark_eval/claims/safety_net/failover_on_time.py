"""failover_on_time: a mailbox database whose active copy is gone fails over as soon as Active
Manager can see that (TP-6).

Asks each time that a fault surely took the server of an active copy away, for longer than

    as many questions without an answer as make a copy silent, each awaited, and one more
    (`settings.software` of the plan, `expected.active_manager`)
    + two exchanges of a wall second each, in lab time
    + five times the clock's resolution (host.json), and how far clocks are apart

from then on, or from when on Active Manager was there and could reach another copy of the database
all that time: by then it has decided for another copy, or one was mounted.

Not asked: while an earlier failover of the database is under way; where the other copies have
failed, or are lagged ones, which nobody activates but an administrator; or where Active Manager
says that none may be mounted by itself, and each that it can reach is not to be
(DatabaseCopyAutoActivationPolicy), or may lack more logs than AutoDatabaseMountDial allows: the
way of logs to it was in trouble, and for as long again and ConnectionInactivityTimeOut after that,
or so many were made since the last that it surely has (`copies_follow`).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.gone_copies import Gone, due_ms, gone_copies
from spark_eval.expected.totals import Totals
from spark_eval.histories.run import Run
from spark_eval.read.plan import LIFECYCLE


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for gone in gone_copies(run):
        by_ms, end_ms = due_ms(gone, run), min(gone.certain.hi, run.end_ms or 0)
        is_under_way = any(at_ms < gone.certain.lo for at_ms in gone.decided)
        if by_ms is not None and by_ms <= end_ms and not is_under_way:
            yield from _case(gone, by_ms, end_ms)


def _case(gone: Gone, by_ms: int, end_ms: int) -> Iterator[Case]:
    start_ms, mounted = gone.certain.lo, gone.copy.mounted
    followed_ms = [] if gone.followed_ms is None else [gone.followed_ms]
    came = (at_ms for at_ms in (*gone.decided, *followed_ms) if at_ms >= start_ms)
    is_excused = not gone.manager.shows(start_ms, by_ms)
    detail = (
        f"{gone.server.name} had the active copy of {gone.active.database} and was away from "
        f"{stamp(start_ms)} on; {gone.manager.name} decided for no other one by {stamp(by_ms)}"
    )
    yield from asked(
        response(min(came, default=None), by_ms, end_ms, is_excused=is_excused),
        f"{gone.active.database} on {gone.server.name}", ("TP-6",), detail, by_ms, mounted,
    )  # fmt: skip


CLAIM = Claim("failover_on_time", ("TP-6",), needs=frozenset({LIFECYCLE}), of_run=_cases)
