"""Failovers and what came back from Safety Nets: sums of what each message shows, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED
from spark_eval.expected.safety_net.asked_resubmissions import Owed, owed
from spark_eval.expected.safety_net.called_for import copies_back, of_copy
from spark_eval.expected.safety_net.operations import operations
from spark_eval.expected.safety_net.resubmissions import (
    PRIMARY,
    SHADOW,
    Expected,
    expected,
    given_back,
)
from spark_eval.expected.safety_net.safety_net_requests import askings, requests
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import Change
from spark_eval.histories.run import NO_LIMITS, Run
from spark_eval.read.rows import TrackingRow
from spark_eval.results.row import Row, of_rows

Failover = tuple[str | None, int | None]
"""Database and epoch; as a request names them, or None, as an administrator's does."""
ON_REQUEST: Failover = (None, None)
_IN_TRANSITIONS = (
    "requests",
    "expected",
    "resubmitted",
    "missing",
    "unknown",
    "excused",
    "outside",
)
_IN_VERDICT = (
    "requests", "expected", "resubmitted", "missing", "outside", "from_primary", "from_shadow",
)  # fmt: skip


def asks_safety_nets(run: Run) -> bool:
    """Whether the plan has something that makes somebody ask a Safety Net."""
    several = any(len(each.copies) > 1 for each in run.databases.values())
    return several or bool(run.planned_operations) or run.expect.resubmissions is not None


@dataclass(slots=True)
class Returns:
    """What was to come back for each failover, and what did, by name of the count."""

    of: dict[Failover, Counter[str]] = field(default_factory=dict)

    def add(self, other: Returns) -> None:
        for failover, counts in other.of.items():
            self._of(failover).update(counts)

    def count(self, message: Message, run: Run) -> None:
        for each in expected(message, run):
            change = each.asking.change
            counts = self._of((change.database, change.after.epoch))
            counts["expected"] += 1
            counts["missing"] += each.status == VIOLATED
            counts["unknown"] += each.status == UNKNOWN
            # of what need not come back, since recipients see it, and cannot
            counts["excused"] += each.status == HOLDS and each.reason != ""
        for wanted in owed(message, run):
            counts = self._of(ON_REQUEST)
            counts["expected"] += 1
            counts["missing"] += wanted.status == VIOLATED
        for copy in copies_back(given_back(message), run):
            rows, counts = copy.rows, self._of((copy.first.database, copy.first.epoch))
            counts["resubmitted"] += len(rows)
            # another one came more than once
            counts["outside"] += len(rows) == 1 and of_copy(copy, run)[0] == VIOLATED
            counts["from_primary"] += sum(each.row.safety_net == PRIMARY for each in rows)
            counts["from_shadow"] += sum(each.row.safety_net == SHADOW for each in rows)

    def count_requests(self, run: Run) -> None:
        for each in requests(run):
            self._of((each.database, each.epoch))["requests"] += 1

    def numbers(self, run: Run) -> dict[str, int]:
        """As verdict.json has them."""
        whole = sum(self.of.values(), Counter[str]())
        asks = asks_safety_nets(run)
        return {name: whole[name] if asks else 0 for name in _IN_VERDICT}

    def _of(self, failover: Failover) -> Counter[str]:
        return self.of.setdefault(failover, Counter())


def transition_rows(returns: Returns, run: Run) -> Iterator[Row]:
    """Of each change of the active copy of a mailbox database with several."""
    led: dict[Failover, str] = {}
    for operation in operations(run):
        led.setdefault((operation.database, operation.epoch), operation.id)
    for active in run.active_copies.values():
        for change in active.changes:
            failover = (change.database, change.after.epoch)
            counts = returns.of.get(failover, Counter[str]())
            yield _transition(change, led.get(failover), counts, run)


def _transition(change: Change, operation: str | None, counts: Counter[str], run: Run) -> Row:
    asked = [each for each in askings(run) if each.change is change]
    limits = run.limits.get((change.database, change.after.epoch), NO_LIMITS)
    learnt = [x.learnt.at_ms for x in asked if x.learnt and x.learnt.at_ms is not None]
    return {
        "run": run.name,
        "database": change.database,
        "epoch": change.after.epoch,
        "from": change.before.server,
        "to": change.after.server,
        "kind": change.kind,
        "cause": change.cause,
        "operation": operation,
        "mounted_ms": change.mounted.at_ms,
        "lossless": limits.lost_ms is None,
        "lost_deliveries": limits.lost_deliveries,
        "inside_from_ms": max(min(x.inside_from_ms for x in asked), 0) if asked else None,
        "known_to_all_ms": max(learnt, default=None),
        **{name: counts[name] for name in _IN_TRANSITIONS},
    }


def resubmission_rows(message: Message, run: Run) -> Iterator[Row]:
    """Of each copy of a Primary Safety Net that was to come back."""
    for each in expected(message, run):
        called = _CalledFor(each.asking.change.after.epoch, None, each.is_inside, each.lost)
        yield _resubmission_row(message, each, each.fork.first.row, called, run)
    for asked in owed(message, run):
        called = _CalledFor(None, asked.asked.operation, inside=True, lost=False)
        yield _resubmission_row(message, asked, asked.fork.first, called, run)


class _CalledFor(NamedTuple):
    """What called for a copy: a failover, of `epoch`, or an administrator's `operation`."""

    epoch: int | None
    operation: str | None
    inside: bool
    lost: bool


def _resubmission_row(
    message: Message, of: Expected | Owed, first: TrackingRow, called: _CalledFor, run: Run
) -> Row:
    came = of.given or of.stood_in
    return {
        "run": run.name,
        "database": of.fork.database,
        "epoch": called.epoch,
        "operation": called.operation,
        "server": of.fork.key.server,
        "message_id": message.message_id,
        "brought_ms": first.at_ms,
        "inside": called.inside,
        "lost": called.lost,
        "resubmitted_ms": came.at_ms if came else None,
        "stood_in": of.stood_in.server if of.stood_in and not of.given else None,
        "status": of.status,
        "reason": of.reason,
        "refs": of_rows(first, of.given, of.stood_in),
    }


def operation_rows(run: Run) -> Iterator[Row]:
    for each in operations(run):
        yield {
            "run": run.name,
            "operation": each.id,
            "kind": each.planned.kind,
            "what": each.planned.words,
            "database": each.database,
            "to": getattr(each.planned.keys, "to", None),
            "planned_ms": each.planned.at_ms,
            "asked_ms": each.asked_ms,
            "took_effect": each.took_effect,
            "reason": each.reason,
        }
