"""How long each copy must stay, and when it must be gone (SN-1, SN-2, SM-11, SM-12).

Judged on what the queue databases hold at the end. A copy whose time is up goes within a heartbeat;
between the two nothing is asked. Copies in a queue database that was replaced are not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.expected.mail.forks import forks_of
from spark_eval.expected.shadow.shadow_copies import Copy, copies_of
from spark_eval.histories.message import Message
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref

PRIMARY_NET = "Primary Safety Net"


class Stay(NamedTuple):
    """A copy that a store owes: until when it must be there, after when it must be gone, and in
    which of its queues it may be; `name` is its network message id.
    """

    server: str
    name: str | None
    internal_id: str | None
    what: str
    keep_until_ms: int
    gone_after_ms: int
    queues: tuple[str, ...]
    ref: Ref | None


def stays(message: Message, run: Run) -> Iterator[Stay]:
    yield from _in_primary_net(message, run)
    if run.config.enabled:
        for copy in copies_of(message, run):
            if copy.held is not None and copy.own_lost_ms is None and copy.promoted is None:
                yield from _let_go(copy, run) if copy.discard else _unacknowledged(copy)


def _in_primary_net(message: Message, run: Run) -> Iterator[Stay]:
    hold_ms = run.config.hold_ms
    for key, forks in forks_of(message, run).items():
        server, primary = run.servers.get(key.server), message.primaries[key]
        is_done = forks.complete and not forks.expired and forks.first_done_ms is not None
        name = primary.network_message_id
        if is_done and server is not None and name and server.lost_ms(key.database_id) is None:
            assert forks.first_done_ms is not None
            last_ms = forks.first_done_ms if forks.known_ms is None else forks.known_ms
            yield Stay(
                key.server, name, key.internal_id, PRIMARY_NET, forks.first_done_ms + hold_ms,
                last_ms + hold_ms, ("primary-safety-net",), forks.done_ref,
            )  # fmt: skip


def _let_go(copy: Copy, run: Run) -> Iterator[Stay]:
    """Where the clocks of the primary leave open when it was delivered, nothing is asked."""
    row, held = copy.discard, copy.held
    assert row is not None
    assert held is not None
    since_ms = row.at_ms if row.delivered_at_ms is None else copy.delivered_at_ms
    if since_ms is not None:
        until_ms = since_ms + run.config.hold_ms
        yield Stay(
            copy.server.name, copy.network_message_id, held.internal_id, "Shadow Safety Net",
            until_ms, until_ms, ("shadow-safety-net",), row.ref,
        )  # fmt: skip


def _unacknowledged(copy: Copy) -> Iterator[Stay]:
    held, until_ms = copy.held, copy.stays_until_ms
    if held is not None and until_ms is not None and not copy.kept.as_primary:
        yield Stay(
            copy.server.name, copy.network_message_id, held.internal_id, "shadow queue", until_ms,
            until_ms, ("shadow", "shadow-safety-net"), held.ref,
        )  # fmt: skip
