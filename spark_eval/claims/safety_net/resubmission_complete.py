"""resubmission_complete: what a failover lost, or may have lost, and what an administrator asks
for, comes back from every Safety Net of its boundary that has it (SN-3 to SN-8, SN-20, TP-3).

Asks every primary of every transition whether it was asked to, and every copy that surely lies in
the interval, or was lost with the copy of the database that was left. `expected.resubmissions`
derives both; Active Manager's word that all was asked counts for nothing. Of an administrator's
request it asks every server of the boundary whether it took that on, and every delivery that surely
lies in the interval (`expected.asked_resubmissions`).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.claims.claim import Claim
from spark_eval.expected.safety_net.asked_resubmissions import AskedOf, Owed, asked_of, owed
from spark_eval.expected.safety_net.asked_resubmissions import judged as taken_on
from spark_eval.expected.safety_net.lagged_copies import activations
from spark_eval.expected.safety_net.resubmissions import Expected, expected
from spark_eval.expected.safety_net.safety_net_requests import Asking, askings, judged
from spark_eval.expected.totals import Totals
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.operation_kinds import LaggedActivation
from spark_eval.read.plan import LIFECYCLE, TRACKING


def _copies(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for item in expected(each, run):
            yield from _copy(each, item, run)
        for wanted in owed(each, run):
            yield from _owed(each, wanted)


def _owed(message: Message, item: Owed) -> tuple[Case, ...]:
    return asked(
        item.status, message.message_id, ("SN-8", *_without_a_dag(item.asked)), item.reason,
        item.fork.first.at_ms, item.fork.first, item.asked.request, item.given,
    )  # fmt: skip


def _without_a_dag(of: AskedOf) -> tuple[str, ...]:
    return () if of.server.dag else ("SN-3",)


def _copy(message: Message, item: Expected, run: Run) -> Iterator[Case]:
    asking, brought = item.asking, item.fork.first.row
    lost = (1e9 if item.is_seen else 1e12) if item.lost else 0
    is_of_folders = not run.directory.public_folders.isdisjoint(brought.recipients or ())
    yield from asked(
        item.status, message.message_id,
        (
            "SN-4",
            "SN-8",
            *(("SN-14",) if is_of_folders else ()),
            *_over_sites(asking, run),
            *_of_lag(asking, run),
        ),
        item.reason,
        brought.at_ms, brought, asking.change.mounted, asking.learnt, item.given,
        weight=lost + (run.end_ms or 0) - brought.at_ms,
    )  # fmt: skip


def _asked(run: Run, totals: Totals) -> Iterator[Case]:
    for asking in askings(run):
        status, detail = judged(asking, run)
        yield from asked(
            status, f"{asking.name} at {asking.server.name}",
            (
                "SN-4",
                "SN-6",
                "TP-6",
                *_while_away(asking, run),
                *_over_sites(asking, run),
                *_of_lag(asking, run),
            ),
            detail,
            (asking.learnt or asking.change.mounted).at_ms, asking.change.mounted, asking.learnt,
            asking.request, weight=1e6,
        )  # fmt: skip
    for of in asked_of(run):
        status, detail = taken_on(of, run)
        yield from asked(
            status, f"{of.operation} at {of.server.name}", _without_a_dag(of), detail,
            of.request.at_ms if of.request else of.asked and of.asked.lo, of.request, weight=1e6,
        )  # fmt: skip


def _over_sites(asking: Asking, run: Run) -> tuple[str, ...]:
    """A DAG over several sites is one boundary."""
    copy = run.servers.get(asking.change.after.server)
    return ("TP-3",) if copy is not None and copy.site != asking.server.site else ()


def _of_lag(asking: Asking, run: Run) -> tuple[str, ...]:
    """Of a lagged copy, the whole lag, or from a point in time on."""
    change = asking.change
    asked_for = activations(run).get((change.database, change.after.epoch))
    if asked_for is None or not isinstance(asked_for.planned.keys, LaggedActivation):
        return ()
    return ("SN-5",) if asked_for.planned.keys.before_ms is None else ("SN-20",)


def _while_away(asking: Asking, run: Run) -> tuple[str, ...]:
    until_ms = asking.learnt.at_ms if asking.learnt else run.end_ms
    was_away = touches(asking.outages, asking.change.mounted.at_ms or 0, until_ms or 0)
    return ("SN-7",) if was_away else ()


CLAIM = Claim(
    "resubmission_complete",
    ("SN-3", "SN-4", "SN-5", "SN-6", "SN-7", "SN-8", "SN-14", "SN-20", "TP-3", "TP-6"),
    needs=frozenset({LIFECYCLE, TRACKING}),
    of_message=_copies,
    of_run=_asked,
)
