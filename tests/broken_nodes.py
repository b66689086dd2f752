"""Nodes that break one promise each, and the scenario in which that shows.

Each is a context in which every node of a simulation is broken. `tests/scenarios` asks whether the
evaluation finds such nodes, `tests/second_opinion` compares two opinions about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from nodes.core.delivery import Delivery
from nodes.core.inputs import PeerAuthenticated
from nodes.core.message import DiscardNotification
from nodes.core.node import Node
from nodes.core.receiving import Receiving
from nodes.core.shadow_making import Made
from nodes.core.shadow_queue import ShadowQueue
from nodes.store import mailbox_database
from nodes.store.mailbox_database import MailboxDatabase

Broken = Callable[[], AbstractContextManager[Any]]


@contextmanager
def acknowledges_before_the_shadow_stands() -> Iterator[None]:
    def take_primary(self: Any, session: Any, offered: Any) -> None:
        message = self._primary_message(offered)
        self._keep(session, message, offered.body)

        def made(outcome: Any) -> None:
            if isinstance(outcome, Made):
                self._redundancy.log_made(message, outcome)

        body = f"db:{message.internal_id}"
        self._redundancy.make(message, body, session.closes_ms, None, made)

    with patch.object(Receiving, "_take_primary", take_primary):
        yield


@contextmanager
def makes_no_shadow() -> Iterator[None]:
    def take_primary(self: Any, session: Any, offered: Any) -> None:
        self._keep(session, self._primary_message(offered), offered.body)

    with patch.object(Receiving, "_take_primary", take_primary):
        yield


def ignores_a_new_database() -> AbstractContextManager[Any]:
    return patch.object(ShadowQueue, "_promote_other_databases", lambda self: None)


def never_takes_over() -> AbstractContextManager[Any]:
    return patch.object(ShadowQueue, "_span_is_over", lambda self: None)


@contextmanager
def _span_times(factor: float) -> Iterator[None]:
    made = ShadowQueue.__init__

    def changed(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self._span_ms = int(self._span_ms * factor)

    with patch.object(ShadowQueue, "__init__", changed):
        yield


def waits_half_as_long_again() -> AbstractContextManager[Any]:
    return _span_times(1.5)


@contextmanager
def takes_over_half() -> Iterator[None]:
    take_over = ShadowQueue._take_over

    def half(self: Any, shadows: Any, cause: str) -> None:
        take_over(self, tuple(shadows)[::2], cause)

    with patch.object(ShadowQueue, "_take_over", half):
        yield


@contextmanager
def counts_a_session_of_the_primary_as_contact() -> Iterator[None]:
    handle = Node.handle

    def contact_too(self: Any, happened: Any, now_ms: int) -> Any:
        effects = handle(self, happened, now_ms)
        caller = happened.peer if isinstance(happened, PeerAuthenticated) else None
        queue = self._shadow._queues.get(caller)
        if queue is not None:
            queue._contact = replace(queue._contact, last_contact_ms=now_ms)
        return effects

    with patch.object(Node, "handle", contact_too):
        yield


@contextmanager
def notifies_after_the_first_fork() -> Iterator[None]:
    answered = Delivery._answered

    def notifies(self: Any, tracked: Any, fork: Any, result: Any) -> None:
        answered(self, tracked, fork, result)
        notified = (tracked.message.shadow_server, self._identity.next_sequence())
        if notified[0] is not None:
            done = (tracked.message.internal_id, self._work.now_ms)
            self._discards.add(DiscardNotification(*notified, *done))

    with patch.object(Delivery, "_answered", notifies):
        yield


def detects_no_duplicate() -> AbstractContextManager[Any]:
    return patch.object(MailboxDatabase, "_has", lambda self, mailbox, asked: False)


@contextmanager
def forgets_the_last_recipient() -> Iterator[None]:
    """Of every delivery to three mailboxes or more, which says all the same that it was done."""
    arrival = mailbox_database._arrival

    def short(asked: Any, delivered: tuple[str, ...], content: bytes) -> Any:
        return arrival(asked, delivered[: max(2, len(delivered) - 1)], content)

    with patch.object(mailbox_database, "_arrival", short):
        yield


@dataclass(frozen=True, slots=True)
class BrokenRun:
    """What is broken shows in this scenario under most seeds."""

    broken: Broken
    scenario: str


RUNS = (
    BrokenRun(acknowledges_before_the_shadow_stands, "one-server-at-a-time"),
    BrokenRun(acknowledges_before_the_shadow_stands, "site-cut"),
    BrokenRun(acknowledges_before_the_shadow_stands, "across-boundaries"),
    BrokenRun(makes_no_shadow, "primary-loses-its-queue-database"),
    BrokenRun(makes_no_shadow, "across-boundaries"),
    BrokenRun(ignores_a_new_database, "primary-loses-its-queue-database"),
    BrokenRun(ignores_a_new_database, "one-server-at-a-time"),
    BrokenRun(never_takes_over, "primary-returns-after-promotion"),
    BrokenRun(never_takes_over, "around-the-span"),
    BrokenRun(waits_half_as_long_again, "primary-returns-after-promotion"),
    BrokenRun(waits_half_as_long_again, "around-the-span"),
    BrokenRun(takes_over_half, "primary-loses-its-queue-database"),
    BrokenRun(takes_over_half, "around-the-span"),
    BrokenRun(counts_a_session_of_the_primary_as_contact, "one-way-heartbeat"),
    BrokenRun(notifies_after_the_first_fork, "half-done-fork"),
    BrokenRun(notifies_after_the_first_fork, "one-server-at-a-time"),
    BrokenRun(detects_no_duplicate, "primary-returns-after-promotion"),
    BrokenRun(detects_no_duplicate, "lossy-failover"),
    BrokenRun(detects_no_duplicate, "acknowledgement-lost"),
    BrokenRun(forgets_the_last_recipient, "calm"),
    BrokenRun(forgets_the_last_recipient, "lossy-failover"),
)
