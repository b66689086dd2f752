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

from spark_eval.cases.case import HOLDS, VIOLATED, Case
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
from spark_eval.read.rows import LifecycleRow

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
    for each in (message, *message.dsns):
        for row in each.of_event("RESUBMIT"):
            server = run.servers.get(row.server)
            if is_promotion(row) and server is not None and server.lives:
                primary, cause = (row.primary_server or "").lower(), row.context
                said = run.promotions_begun.get((server.name, primary, cause or ""), ())
                late_ms = DISK_MS + slack_ms(run) + server.slack_ms
                step = _Step(
                    server, each.message_id, f"{server.name} promoted it by {cause}",
                    f"a promotion of messages of {primary} had begun for that cause",
                    row.at_ms - late_ms, row.at_ms, row.ref,
                )  # fmt: skip
                yield from _case(step, said)


def _case(step: _Step, said_ms: Iterable[int]) -> Iterator[Case]:
    server = step.server
    start_ms, end_ms = step.since_ms - server.slack_ms, step.at_ms + server.slack_ms
    if any(start_ms <= each <= end_ms for each in said_ms):
        yield Case(HOLDS, step.subject, ("TL-4",), server=step.server.name)
        return
    held_up = (down.outage.possible for down in server.downs if down.kind in _HOLDS_UP)
    if server.shows(start_ms, end_ms) and not touches(held_up, start_ms, end_ms):
        detail = (
            f"{step.shown} at {stamp(step.at_ms)}; the lifecycle log of {server.name} does not say "
            f"between {stamp(step.since_ms)} and then that {step.step}"
        )
        yield Case(
            VIOLATED,
            step.subject,
            ("TL-4",),
            detail,
            step.at_ms,
            (step.ref,),
            server=step.server.name,
        )


def _of_run(run: Run, totals: Totals) -> Iterator[Case]:
    yield from _learnt(run)
    yield from _mounted(run)
    yield from _completed(run)


def _began_ms(run: Run, event: str, *key: object) -> int:
    """When the first row of that event says so, of a database and epoch, or of a request."""
    times = [row.at_ms for row in run.lifecycle if row.event == event and _key(row, key) == key]
    return min((each for each in times if each is not None), default=0)


def _key(row: LifecycleRow, like: tuple[object, ...]) -> tuple[object, ...]:
    if len(like) == 2:
        return row.database, row.epoch
    return row.server, row.request_id, row.safety_net


def _learnt(run: Run) -> Iterator[Case]:
    """Active Manager asks whoever may know already; a later change is known with all before it."""
    for row in run.lifecycle:
        server = run.servers.get(row.peer or "")
        if row.event == INFORMED and server is not None and server.lives:
            said = [
                each.at_ms
                for each in run.lifecycle
                if each.event == "active-copy"
                and (each.server, each.database) == (server.name, row.database)
                and (each.epoch or 0) >= (row.epoch or 0)
                and each.at_ms is not None
            ]
            name = f"{row.database}:{row.epoch}"
            began_ms = _began_ms(run, "failover-decided", row.database, row.epoch)
            step = _Step(
                server, f"{name} at {server.name}",
                f"{row.server} says that {server.name} was informed of {name}", "it learnt of it",
                began_ms, row.at_ms or 0, row.ref,
            )  # fmt: skip
            yield from _case(step, said)


def _mounted(run: Run) -> Iterator[Case]:
    later: dict[tuple[str, str | None, int | None], LifecycleRow] = {}
    for row in run.lifecycle:
        if row.event in (INFORMED, "failover-over"):
            key = (row.server, row.database, row.epoch)
            known = later.get(key)
            if known is None or (row.at_ms or 0) < (known.at_ms or 0):
                later[key] = row
    for (name, database, epoch), row in later.items():
        server = run.servers.get(name)
        if server is not None and server.lives:
            said = _said_ms(run, "failover-mounted", name, database, epoch)
            change = f"{database}:{epoch}"
            began_ms = _began_ms(run, "failover-decided", database, epoch)
            step = _Step(
                server, change, f"{name} says {row.event} of {change}",
                "its new copy was mounted", began_ms, row.at_ms or 0, row.ref,
            )  # fmt: skip
            yield from _case(step, said)


def _said_ms(
    run: Run, event: str, server: str, database: str | None, epoch: int | None
) -> list[int]:
    return [
        row.at_ms
        for row in run.lifecycle
        if row.event == event
        and (row.server, row.database, row.epoch) == (server, database, epoch)
        and row.at_ms is not None
    ]


def _completed(run: Run) -> Iterator[Case]:
    for row in run.lifecycle:
        server = run.servers.get(row.peer or "")
        if row.event != "safety-net-completed" or server is None or not server.lives:
            continue
        key = (server.name, row.request_id, row.safety_net)
        said = [
            each.at_ms
            for each in run.lifecycle
            if each.event == "resubmit-completed"
            and (each.server, each.request_id, each.safety_net) == key
            and each.at_ms is not None
        ]
        step = _Step(
            server, f"{row.request_id} at {server.name}",
            f"{row.server} says that {server.name} completed request {row.request_id} of its "
            f"{row.safety_net} Safety Net", "it did",
            _began_ms(run, "resubmit-requested", *key), row.at_ms or 0, row.ref,
        )  # fmt: skip
        yield from _case(step, said)


CLAIM = Claim(
    "steps_logged", ("TL-4",), needs=frozenset({LIFECYCLE}), of_message=_promotions, of_run=_of_run
)
