"""redundancy_exposure: no message is on fewer than two servers but for a reason that the record
names, and every server that counts for one at the end has it (SM-15).

The stretches are what the report draws (`expected.exposure.stretches`): from the acknowledgement on
a single custodian has to be an acceptance without a shadow that its server logged, later a store
that was lost or had kept its copy long enough. A custodian is believed by the logs, so those that
its queue database should still have at the end are looked for in its listing, in whichever queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, asked
from spark_eval.cases.forms import agreement
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.exposure.custody import custodies
from spark_eval.expected.exposure.stretches import UNSAID, Stretch, is_watched, stretches
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.plan import LEDGER, MAILBOXES, QUEUES, TRACKING

SILENT = ("SM-15",)


def _cases(message: Message, run: Run) -> Iterator[Case]:
    if is_watched(message):
        yield from _named(message, run)
        yield from _there_at_the_end(message, run)


def _named(message: Message, run: Run) -> Iterator[Case]:
    silent = [each for each in stretches(message, run) if each.cause == UNSAID]
    worst = max(silent, key=lambda each: each.length_ms, default=None)
    detail, weight = "", 0
    if worst is not None:
        detail = f"on {_on(worst)} for {stamp(worst.length_ms)}, and nothing says why"
        weight = worst.length_ms
    ok = message.ok
    yield from asked(
        _status(worst, run), message.message_id, SILENT, detail, worst.lo if worst else None,
        ok.ref if ok else None, weight=weight,
    )  # fmt: skip


def _on(stretch: Stretch) -> str:
    return " and ".join(stretch.servers) or "no server"


def _status(stretch: Stretch | None, run: Run) -> Status:
    """Where a log has a hole then, it may be what said why."""
    if stretch is None:
        return HOLDS
    whole = all(each.shows(stretch.lo, stretch.lo) for each in run.servers.values())
    return VIOLATED if whole else UNKNOWN


def _there_at_the_end(message: Message, run: Run) -> Iterator[Case]:
    """Not of what goes within a heartbeat: servers go on until they are stopped, and are listed
    then.
    """
    end_ms = run.end_ms or 0
    owed = {
        each.server
        for held in custodies(message, run).values()
        for each in held
        if each.in_queues and each.lo < end_ms and each.hi > end_ms + 2 * run.config.heartbeat_ms
    }
    listed = {row.server for row in message.queued if row.queue != "discard"}
    for name in sorted(owed):
        known = name in listed if run.is_listed(name) else None
        yield from asked(
            agreement(known, True), f"{message.message_id} at {name}", SILENT,
            f"counted as a custodian at the end, and in none of the queues of {name}"
            if known is False else f"no sound queue listing of {name}", end_ms, server=name,
        )  # fmt: skip


CLAIM = Claim(
    "redundancy_exposure",
    SILENT,
    needs=frozenset({LEDGER, MAILBOXES, QUEUES, TRACKING}),
    of_message=_cases,
)
