"""steps_logged: a lifecycle log has each step that a later one, or another server, shows was taken
(TL-4).

Asks of each shadow message that was promoted: just before, its server says that a promotion of
messages of that primary server had begun, for that cause. Of each server that Active Manager says
was informed of the active copy: it says that it learnt of that change, or of a later one. Of each
change of the active copy that servers were informed of, or that is over: Active Manager says that
the new copy was mounted. Of each resubmit request that Active Manager says is complete: so does the
server that was asked.

Not asked: what a hole of the log, such as before a kill, or a full disk may have swallowed, nor a
promotion while its server was paused; servers without such a log, which is `no_crash`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import precedence
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import is_promotion
from spark_eval.intervals.interval import touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import LIFECYCLE
from spark_eval.read.rows import LifecycleRow, grouped

INFORMED = "active-copy-told"
# what a disk takes to commit a promotion
DISK_MS = 30_000
_HOLDS_UP = ("pause", "fill_disk")


class _Step(NamedTuple):
    """What shows that a step of `server` was taken, at `at_ms`; `since_ms`, from when on its log
    may say so.
    """

    server: Server
    subject: str
    shown: str
    step: str
    since_ms: int
    at_ms: int
    ref: Ref


def _promotions(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for row in each.of_event("RESUBMIT"):
            server = run.servers.get(row.server)
            if is_promotion(row) and server is not None:
                primary, cause = (row.primary_server or "").lower(), row.context
                late_ms = DISK_MS + slack_ms(run) + server.slack_ms
                step = _Step(
                    server, each.message_id, f"{server.name} promoted it by {cause}",
                    f"a promotion of messages of {primary} had begun for that cause",
                    row.at_ms - late_ms, row.at_ms, row.ref,
                )  # fmt: skip
                said = run.promotions_begun.get((server.name, primary, cause or ""), ())
                yield from _case(step, said)


def _case(step: _Step, said_ms: Iterable[int]) -> Iterator[Case]:
    server = step.server
    if not server.lives:
        return
    start_ms, end_ms = step.since_ms - server.slack_ms, step.at_ms + server.slack_ms
    said = (each for each in said_ms if start_ms <= each)
    held_up = touches(server.away(*_HOLDS_UP), start_ms, end_ms)
    is_excused = held_up or not server.shows(start_ms, end_ms)
    detail = (
        f"{step.shown} at {stamp(step.at_ms)}; the lifecycle log of {server.name} does not say "
        f"between {stamp(step.since_ms)} and then that {step.step}"
    )
    yield from asked(
        precedence(min(said, default=None), end_ms, is_excused=is_excused), step.subject, ("TL-4",),
        detail, step.at_ms, step, server=server.name,
    )  # fmt: skip


def _of_run(run: Run, totals: Totals) -> Iterator[Case]:
    yield from _learnt(run)
    yield from _mounted(run)
    yield from _completed(run)


def _decided_ms(run: Run, row: LifecycleRow) -> int:
    """When the change was decided on that a row names."""
    like = {"database": row.database, "epoch": row.epoch}
    return min(run.said_ms("failover-decided", **like), default=0)


def _learnt(run: Run) -> Iterator[Case]:
    """Active Manager asks whoever may know already; a later change is known with all before it."""
    for row in run.said(INFORMED):
        if (server := run.servers.get(row.peer or "")) is not None:
            said = [
                each.at_ms
                for each in run.said("active-copy")
                if (each.server, each.database) == (server.name, row.database)
                and (each.epoch or 0) >= (row.epoch or 0)
                and each.at_ms is not None
            ]
            name = f"{row.database}:{row.epoch}"
            step = _Step(
                server, f"{name} at {server.name}",
                f"{row.server} says that {server.name} was informed of {name}", "it learnt of it",
                _decided_ms(run, row), row.at_ms or 0, row.ref,
            )  # fmt: skip
            yield from _case(step, said)


def _mounted(run: Run) -> Iterator[Case]:
    later = [row for row in run.lifecycle if row.event in (INFORMED, "failover-over")]
    by_change = grouped(later, lambda row: (row.server, row.database, row.epoch))
    for (name, database, epoch), rows in by_change.items():
        if (server := run.servers.get(name)) is not None:
            row, change = min(rows, key=lambda row: row.at_ms or 0), f"{database}:{epoch}"
            step = _Step(
                server, change, f"{name} says {row.event} of {change}", "its new copy was mounted",
                _decided_ms(run, row), row.at_ms or 0, row.ref,
            )  # fmt: skip
            like = {"server": name, "database": database, "epoch": epoch}
            yield from _case(step, run.said_ms("failover-mounted", **like))


def _completed(run: Run) -> Iterator[Case]:
    for row in run.said("safety-net-completed"):
        if (server := run.servers.get(row.peer or "")) is not None:
            like = {"request_id": row.request_id, "safety_net": row.safety_net}
            asked_ms = run.said_ms("resubmit-requested", server=server.name, **like)
            step = _Step(
                server, f"{row.request_id} at {server.name}",
                f"{row.server} says that {server.name} completed request {row.request_id} of its "
                f"{row.safety_net} Safety Net", "it did",
                min(asked_ms, default=0), row.at_ms or 0, row.ref,
            )  # fmt: skip
            yield from _case(step, run.said_ms("resubmit-completed", server=server.name, **like))


CLAIM = Claim(
    "steps_logged", ("TL-4",), needs=frozenset({LIFECYCLE}), of_message=_promotions, of_run=_of_run
)
