"""While the component HubTransport of a server was Inactive, and while its Receive connector
authenticated no other server, since an administrator had set it so (TL-5, TL-6).

The plan says who set it and when, the operation's rows when that was written into Active Directory
and when each server that ran had read it. A server that may have been away then reads it when it is
back. It outlasts every restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from spark_eval.histories.organisation.server import Server
from spark_eval.intervals.interval import FOREVER_MS, Interval
from spark_eval.intervals.outage import Outage
from spark_eval.read.operation_kinds import ComponentState, ReceiveConnector
from spark_eval.read.plan import PlannedOperation
from spark_eval.read.rows import OperationRow

NOT_ACCEPTING = "421 4.3.2 System not accepting network messages"
INACTIVE, TLS = "Inactive", "Tls"


Set: TypeAlias = Callable[[PlannedOperation], bool | None]
"""Whether an operation sets it (True) or ends it (False); None for any other one."""


def _sets_inactive(planned: PlannedOperation) -> bool | None:
    keys = planned.keys
    return keys.state == INACTIVE if isinstance(keys, ComponentState) else None


def _sets_denying(planned: PlannedOperation) -> bool | None:
    keys = planned.keys
    return keys.auth_mechanism == TLS if isinstance(keys, ReceiveConnector) else None


def inactive_of(
    planned: Iterable[PlannedOperation], rows: Sequence[OperationRow], servers: Mapping[str, Server]
) -> dict[str, tuple[Outage, ...]]:
    """By server, in the order of time; only those that were ever Inactive."""
    return _while_set(planned, rows, servers, _sets_inactive)


def denying_of(
    planned: Iterable[PlannedOperation], rows: Sequence[OperationRow], servers: Mapping[str, Server]
) -> dict[str, tuple[Outage, ...]]:
    """The same of those that ever authenticated no other server."""
    return _while_set(planned, rows, servers, _sets_denying)


def _while_set(
    planned: Iterable[PlannedOperation],
    rows: Sequence[OperationRow],
    servers: Mapping[str, Server],
    sets: Set,
) -> dict[str, tuple[Outage, ...]]:
    changes: dict[str, list[tuple[bool, Outage]]] = {}
    for each in planned:
        server, is_set = servers.get(getattr(each.keys, "server", None) or ""), sets(each)
        if is_set is not None and server is not None:
            change = _change(each, rows, server)
            if change is not None:
                changes.setdefault(server.name, []).append((is_set, change))
    return {server: tuple(_spans(own)) for server, own in changes.items()}


def _change(
    planned: PlannedOperation, rows: Sequence[OperationRow], server: Server
) -> Outage | None:
    """The time in which the server may have read it; without a certain extent where nobody saw that
    it did. None where it was never written.
    """
    own = [row for row in rows if row.operation == planned.id and row.at_ms is not None]
    written = [row.at_ms or 0 for row in own if row.phase == "applied"]
    if not written:
        return None
    read = [row.at_ms or 0 for row in own if row.phase == "evidence"]
    lo_ms, hi_ms = min(written) - server.slack_ms, max([*read, *written]) + server.slack_ms
    for down in sorted(server.downs):
        if down.outage.possible.touches(lo_ms, hi_ms):
            hi_ms = max(hi_ms, down.outage.possible.hi + server.slack_ms)
    within = Interval(lo_ms, hi_ms)
    return Outage(within, within if any(row.took_effect for row in own) else None)


def _spans(changes: Iterable[tuple[bool, Outage]]) -> Iterator[Outage]:
    """One for each time that it was set."""
    since: Outage | None = None
    for is_set, change in changes:
        if is_set and since is None:
            since = change
        elif not is_set and since is not None:
            yield _span(since, change.possible)
            since = None
    if since is not None:
        yield _span(since, Interval(FOREVER_MS, FOREVER_MS))


def _span(since: Outage, until: Interval) -> Outage:
    possible = Interval(since.possible.lo, until.hi)
    is_certain = since.certain is not None and since.possible.hi < until.lo
    return Outage(possible, Interval(since.possible.hi, until.lo) if is_certain else None)
