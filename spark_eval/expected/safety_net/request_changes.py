"""Resubmit requests that an administrator disabled, enabled again or removed (SN-16).

By the plan, and by each server's own answer, or where nobody waited for that any more, by its
lifecycle log: one that had completed the request before, or had not taken it on, says so and
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.safety_net.operations import Operation, operations
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.read.operation_kinds import RequestChange

ENABLE = "enable_resubmit"
_SAYS = {
    "disable_resubmit": "resubmit-disabled",
    ENABLE: "resubmit-running",
    "remove_resubmit": "resubmit-removed",
}
# `par-mbx1: 250 2.0.0 Resubmit request changed; par-mbx2: 503 …`
_ANSWER = re.compile(r"(?:^|; )([A-Za-z0-9.-]+): ([0-9]{3})")


class Rest(NamedTuple):
    """While a server gives nothing back for a request: perhaps in `possible`, surely in
    `certain`.
    """

    operation: Operation
    server: str
    request: str
    possible: Interval
    certain: Interval


class Change(NamedTuple):
    """What was asked of one server, and the code that it answered, if any."""

    operation: Operation
    server: Server
    request: str
    code: str | None
    agreed: bool


@lru_cache(maxsize=1)
def changes(run: Run) -> tuple[Change, ...]:
    """In the order of time."""
    return tuple(_changes(run)) if run.planned_operations else ()


def _changes(run: Run) -> Iterator[Change]:
    for operation in operations(run):
        keys = operation.planned.keys
        if isinstance(keys, RequestChange) and operation.asked is not None:
            said = dict(_ANSWER.findall(operation.reason or ""))
            for server in run.servers.values():
                if server.is_mailbox:
                    code, request = said.get(server.name), keys.request or ""
                    agreed = code == "250" or _logged(operation, server, request, run)
                    yield Change(operation, server, request, code, agreed)


def _logged(operation: Operation, server: Server, request: str, run: Run) -> bool:
    at, event = operation.asked, _SAYS[operation.planned.kind]
    assert at is not None
    near = Interval(at.lo - server.slack_ms, at.hi + server.slack_ms)
    times = run.said_ms(event, server=server.name, request_id=request)
    return any(near.touches(each, each) for each in times)


@lru_cache(maxsize=1)
def rests(run: Run) -> tuple[Rest, ...]:
    """From a change that a server agreed to, to its being enabled again, if ever. A page that is
    under way then is finished.
    """
    agreed = [each for each in changes(run) if each.agreed]
    return tuple(_rest(each, agreed) for each in agreed if each.operation.planned.kind != ENABLE)


def _rest(change: Change, agreed: list[Change]) -> Rest:
    server, asked = change.server, change.operation.asked
    assert asked is not None
    again = [
        each.operation.asked
        for each in agreed
        if (each.server.name, each.request) == (server.name, change.request)
        and each.operation.planned.kind == ENABLE
        and each.operation.asked is not None
        and each.operation.asked.lo > asked.lo
    ]
    first = min(again, default=Interval(FOREVER_MS, FOREVER_MS))
    slack_ms = server.slack_ms
    return Rest(
        change.operation, server.name, change.request,
        Interval(asked.lo - slack_ms, first.hi + slack_ms),
        Interval(asked.hi + slack_ms, first.lo - slack_ms),
    )  # fmt: skip
