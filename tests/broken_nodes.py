"""Nodes that break one promise each, and the scenario in which that shows.

Each is a context in which every node of a simulation is broken. `tests/scenarios` asks whether the
evaluation finds such nodes, `tests/second_opinion` compares two opinions about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any
from unittest.mock import patch

from nodes.core import receiving
from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.copies.local_copy import CopyHere
from nodes.core.copies.log_replay import LogReceiving
from nodes.core.delivery.delivery import Delivery
from nodes.core.delivery.delivery_queue import Answered, DeliveryQueue
from nodes.core.delivery.discard_notifications import Discards
from nodes.core.delivery.dsn import non_delivery_report
from nodes.core.failover.failover import MARGIN_MS, FailingOver
from nodes.core.interface.effects import Commit, DeliverTo
from nodes.core.interface.inputs import PeerAuthenticated
from nodes.core.interface.queue_changes import InsertMessage, PromoteShadow
from nodes.core.interface.replies import R451_COPY_BUSY
from nodes.core.model.database_copy import CopyState
from nodes.core.model.message import DiscardNotification
from nodes.core.node import Node
from nodes.core.receiving import Receiving
from nodes.core.resubmission.request import Resubmitting
from nodes.core.routing import routing
from nodes.core.routing.categorizer import forks_of
from nodes.core.routing.routing import database_of
from nodes.core.sessions.outbound_session import Lease
from nodes.core.shadow import shadow_queue
from nodes.core.shadow.primary_side import Redundancy
from nodes.core.shadow.shadow_attempts import Made
from nodes.core.shadow.shadow_queue import ShadowQueue
from nodes.store.mailbox import database as mailbox_database
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.mailbox.mailbox_copy import state_of
from nodes.store.queue import changes
from nodes.store.queue.database import QueueDatabase

END_OF_HEADER = b"\r\n\r\n"
Context = AbstractContextManager[Any]
Broken = Callable[[], Context]


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


def ignores_a_new_database() -> Context:
    return patch.object(ShadowQueue, "_promote_other_databases", lambda self: None)


def never_takes_over() -> Context:
    return patch.object(ShadowQueue, "_span_is_over", lambda self: None)


@contextmanager
def _span_times(factor: float) -> Iterator[None]:
    made = ShadowQueue.__init__

    def changed(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self._span_ms = int(self._span_ms * factor)

    with patch.object(ShadowQueue, "__init__", changed):
        yield


def waits_half_as_long() -> Context:
    return _span_times(0.5)


def waits_half_as_long_again() -> Context:
    return _span_times(1.5)


@contextmanager
def waits_two_heartbeats_longer() -> Iterator[None]:
    """Than the span, and asks every heartbeat meanwhile."""
    made = ShadowQueue.__init__

    def changed(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self._span_ms += 2 * self._frequency_ms

    with patch.object(ShadowQueue, "__init__", changed):
        yield


@contextmanager
def heeds_the_third_answer_of_a_new_database() -> Iterator[None]:
    """And so promotes two heartbeats late."""
    promote = ShadowQueue._promote_other_databases
    heard: dict[tuple[int, str], int] = {}

    def later(self: Any) -> None:
        known = self._contact.database_id
        if any(shadow.key.primary_database_id != known for shadow in self.held.values()):
            told = heard[id(self), known] = heard.get((id(self), known), 0) + 1
            if told < 3:
                return
        promote(self)

    with patch.object(ShadowQueue, "_promote_other_databases", later):
        yield


def asks_in_heartbeats_only() -> Context:
    """Never in a session that was opened for something else."""
    asks = ShadowQueue.ask_first

    def in_its_own(self: Any, lease: Lease) -> None:
        wish = lease.session.request
        if wish is not None and wish.purpose == "heartbeat":
            asks(self, lease)

    return patch.object(ShadowQueue, "ask_first", in_its_own)


@contextmanager
def tells_everybody_everything() -> Iterator[None]:
    """Every shadow server is told of everybody's messages, its own among them."""

    def answer(self: Any, asked: Any) -> None:
        others = (
            told
            for server, waiting in self._by_server.items()
            if server != asked.asking_server
            for told in waiting
        )
        everybody = tuple(others)

        def listed(waiting: Any, most: int) -> Iterator[Any]:
            return islice((*waiting, *everybody), most)

        with patch("nodes.core.delivery.discard_notifications.islice", listed):
            tells(self, asked)

    tells = Discards.answer
    with patch.object(Discards, "answer", answer):
        yield


def logs_no_failed_heartbeat() -> Context:
    return patch.object(shadow_queue, "log_no_contact", lambda *arguments: None)


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


def detects_no_duplicate() -> Context:
    return patch.object(MailboxDatabase, "_has", lambda self, mailbox, asked: False)


@contextmanager
def forgets_the_last_recipient() -> Iterator[None]:
    """Of every delivery to three mailboxes or more, which says all the same that it was done."""
    arrival = mailbox_database._arrival

    def short(asked: Any, delivered: tuple[str, ...], content: bytes) -> Any:
        return arrival(asked, delivered[: max(2, len(delivered) - 1)], content)

    with patch.object(mailbox_database, "_arrival", short):
        yield


@contextmanager
def forgets_who_was_put_off() -> Iterator[None]:
    answered = Delivery._answered

    def as_if_nobody_were(self: Any, tracked: Any, fork: Any, result: Any) -> None:
        answered(self, tracked, fork, replace(result, deferred=()))

    with patch.object(Delivery, "_answered", as_if_nobody_were):
        yield


def forgets_discard_notifications_at_a_restart() -> Context:
    return patch.object(Discards, "opened", lambda self, *rows: None)


@contextmanager
def drops_notifications_when_they_are_answered() -> Iterator[None]:
    answer = Discards.answer

    def answer_and_drop(self: Any, asked: Any) -> None:
        answer(self, asked)
        self._by_server.pop(asked.asking_server, None)

    with patch.object(Discards, "answer", answer_and_drop):
        yield


def promotes_without_asking_first() -> Context:
    def take_over_at_once(self: Any) -> None:
        self._span = None
        if self.held and self._work.now_ms >= self._span_over_ms():
            self._take_over(tuple(self.held.values()), "resubmit-time-span")
        elif self.held:
            self._set_span()

    return patch.object(ShadowQueue, "_span_is_over", take_over_at_once)


def keeps_the_last_contact_in_memory_only() -> Context:
    return patch.object(ShadowQueue, "opened", lambda self, contact: None)


def delivers_what_it_promoted_before_a_kill_without_a_new_shadow() -> Context:
    return patch.object(Redundancy, "_was_being_sent_anew", lambda self, message: False)


# ------------------------------------------------------------------ what is given up


@contextmanager
def throws_away_one_in_ten() -> Iterator[None]:
    """With a row that says so, and without a DSN."""
    enqueue = Delivery._enqueue

    def enqueue_nine(self: Any, message: Any) -> None:
        if message.internal_id % 10:
            enqueue(self, message)
        else:
            self._expire(self._messages[message.internal_id])

    with patch.object(Delivery, "_enqueue", enqueue_nine), tells_nobody():
        yield


def tells_nobody() -> Context:
    return patch("nodes.core.delivery.delivery.non_delivery_report", lambda *_: None)


@contextmanager
def tells_senders_twice() -> Iterator[None]:
    fail = Delivery._fail

    def fail_and_tell(self: Any, tracked: Any, recipients: Any, status: str) -> None:
        fail(self, tracked, recipients, status)
        about = (tracked.message, recipients, status, self._work.now_ms)
        report = non_delivery_report(self._config, self._identity, *about)
        if report is not None:
            tracked.reports.append(report)
            tracked.side_effects.add(report.message.internal_id)

    with patch.object(Delivery, "_fail", fail_and_tell):
        yield


@contextmanager
def waits_for_no_dsn() -> Iterator[None]:
    fail = Delivery._fail

    def fail_and_forget(self: Any, tracked: Any, recipients: Any, status: str) -> None:
        fail(self, tracked, recipients, status)
        tracked.side_effects.clear()

    with patch.object(Delivery, "_fail", fail_and_forget):
        yield


# ------------------------------------------------------------------ what a message says


@contextmanager
def flips_a_bit_of_every_fiftieth_body() -> Iterator[None]:
    deliver, numbers = MailboxDatabase.deliver, count(1)

    def flipped(self: Any, asked: Any, content: bytes) -> Any:
        if next(numbers) % 50 == 0:
            content = content[:-10] + bytes([content[-10] ^ 1]) + content[-9:]
        return deliver(self, asked, content)

    with patch.object(MailboxDatabase, "deliver", flipped):
        yield


@contextmanager
def promotes_without_the_body() -> Iterator[None]:
    promote = changes._APPLY[PromoteShadow]

    def header_only(db: Any, change: Any, fetch: Any) -> None:
        promote(db, change, fetch)
        db.execute(
            "UPDATE bodies SET content = substr(content, 1, instr(content, x'0d0a0d0a') + 3) "
            "WHERE body_id = (SELECT body_id FROM messages WHERE internal_id = ?)",
            (change.message.internal_id,),
        )

    with patch.dict(changes._APPLY, {PromoteShadow: header_only}):
        yield


@contextmanager
def exchanges_the_texts_of_what_is_stored_together() -> Iterator[None]:
    """Of each two messages of one transaction, as a page of a resubmission is, or a group of
    commits; each keeps its header.
    """
    commit = QueueDatabase.commit

    def exchanged(self: Any, commits: Sequence[Commit], fetch: Any, halfway: Any) -> Any:
        stored = [each for asked in commits for each in asked.changes]
        bodies = [each.body for each in stored if isinstance(each, InsertMessage)]
        pairs = list(zip(bodies[::2], bodies[1::2], strict=False))
        wrong_text = {own: other for pair in pairs for own, other in (pair, pair[::-1])}

        def changed(change: Any) -> Any:
            if not isinstance(change, InsertMessage) or change.body not in wrong_text:
                return change
            header, end, _ = fetch(change.body).partition(END_OF_HEADER)
            _, _, text = fetch(wrong_text[change.body]).partition(END_OF_HEADER)
            return replace(change, body=f"made:{(header + end + text).decode()}")

        wrong = [replace(asked, changes=tuple(map(changed, asked.changes))) for asked in commits]
        return commit(self, wrong, fetch, halfway)

    with patch.object(QueueDatabase, "commit", exchanged):
        yield


# ------------------------------------------------------------------ delivery that is late

FIVE_MINUTES_MS, AN_HOUR_MS = 5 * 60_000, 60 * 60_000


@contextmanager
def _delivers_late(wait_ms: Callable[[Any], int]) -> Iterator[None]:
    """`wait_ms(message)`: how long its delivery queues wait for it."""
    enqueue = Delivery._enqueue

    def enqueue_later(self: Any, message: Any) -> None:
        late_ms = wait_ms(message)
        if late_ms:
            self._work.again(late_ms, lambda: enqueue(self, message))
        else:
            enqueue(self, message)

    with patch.object(Delivery, "_enqueue", enqueue_later):
        yield


def delivers_everything_five_minutes_late() -> Context:
    return _delivers_late(lambda message: FIVE_MINUTES_MS)


def delivers_one_in_fifty_an_hour_late() -> Context:
    return _delivers_late(lambda message: 0 if message.internal_id % 50 else AN_HOUR_MS)


@contextmanager
def delivers_late_after_a_restart() -> Iterator[None]:
    """What it finds in its queue database waits for an hour."""
    opened = Delivery.opened

    def opened_late(self: Any, messages: Any) -> None:
        with _delivers_late(lambda message: AN_HOUR_MS):
            opened(self, messages)

    with patch.object(Delivery, "opened", opened_late):
        yield


def waits_an_hour_for_every_retry() -> Context:
    return patch("nodes.core.delivery.delivery_queue.retry_interval_ms", lambda *_: AN_HOUR_MS)


@contextmanager
def delivers_to_the_second_recipient_late() -> Iterator[None]:
    """Ten minutes after the others, where a mailbox database takes the message for several."""
    hand_out, finish = DeliveryQueue._hand_out, DeliveryQueue._finish
    later: dict[tuple[int, int], str] = {}

    def without_the_second(self: Any, parcel: Any) -> None:
        recipients = parcel.fork.recipients
        if database_of(self.next_hop) is not None and len(recipients) > 1:
            later[id(self), parcel.message.internal_id] = recipients[1]
            others = (recipients[0], *recipients[2:])
            parcel = replace(parcel, fork=replace(parcel.fork, recipients=others))
        hand_out(self, parcel)

    def and_the_second_later(self: Any, parcel: Any, result: Any) -> None:
        second = later.pop((id(self), parcel.message.internal_id), None)
        if second is not None and isinstance(result, Answered):
            self._attempts[parcel.message.internal_id] = 10  # the last step of the retry ladder
            result = replace(result, deferred=((second, "432 4.3.2 later"),))
        finish(self, parcel, result)

    with (
        patch.object(DeliveryQueue, "_hand_out", without_the_second),
        patch.object(DeliveryQueue, "_finish", and_the_second_later),
    ):
        yield


# ------------------------------------------------------------------ Safety Nets


@contextmanager
def _with_demand(**wrong: Callable[[Any], Any]) -> Iterator[None]:
    """Safety Nets that work on another demand than they were asked for."""
    begin = Resubmitting.__init__

    def init(self: Any, request: Any, *more: Any) -> None:
        demand = request.demand
        changed = {name: value(demand) for name, value in wrong.items()}
        begin(self, replace(request, demand=replace(demand, **changed)), *more)

    with patch.object(Resubmitting, "__init__", init):
        yield


def resubmits_for_the_wrong_database() -> Context:
    return _with_demand(destination=lambda demand: "DB2")


def leaves_out_the_last_minute_of_the_interval() -> Context:
    return _with_demand(end_ms=lambda demand: demand.end_ms - 60_000)


@contextmanager
def sends_dsns_for_resubmitted_mail() -> Iterator[None]:
    message = Resubmitting._message

    def forgets_where_it_came_from(self: Any, *arguments: Any) -> Any:
        return replace(message(self, *arguments), resubmit_request=None)

    with patch.object(Resubmitting, "_message", forgets_where_it_came_from):
        yield


def resubmits_after_a_lossless_switchover() -> Context:
    def as_if_it_lacked_something(self: Any, failover: Any, managed: Any, answer: Any) -> int:
        return max(int(answer.last_log_ms) - MARGIN_MS, int(managed.created_ms))

    return patch.object(FailingOver, "_start_ms", as_if_it_lacked_something)


# ------------------------------------------------------------------ copies of a database


@contextmanager
def mounts_the_second_copy_beside_the_first() -> Iterator[None]:
    """Active Manager, in a switchover."""

    def mount_at_once(self: Any, failover: Any) -> None:
        self._mount(self._records.failovers[(failover.database, failover.epoch)])

    with patch.object(FailingOver, "_go", mount_at_once):
        yield


@contextmanager
def hears_of_no_other_copy_by_its_logs() -> Iterator[None]:
    """Only Active Manager may tell it; until then it goes on."""
    out_of_date = LogReceiving._out_of_date

    def busy(self: Any, copy: Any, epoch: int) -> Any:
        if epoch > copy.epoch and copy.is_source:
            return R451_COPY_BUSY
        return out_of_date(self, copy, epoch)

    with (
        patch.object(LogReceiving, "_out_of_date", busy),
        patch.object(CopyHere, "superseded", lambda self, epoch: None),
    ):
        yield


@contextmanager
def takes_mail_into_a_copy_that_was_dismounted() -> Iterator[None]:
    """It says that it knows of the other copy, and delivers into its own."""
    learn = ActiveCopies._learn

    def learn_of_its_own(self: Any, copy: Any, known: Any, then: Any, failed: Any) -> None:
        me = self._config.me.name
        if known.server == me != copy.server:
            then()
        else:
            learn(self, copy, known, then, failed)

    def as_if_there_were_no_other(connection: Any) -> CopyState:
        state = state_of(connection)
        return state if state is CopyState.ACTIVE else CopyState.SINGLE

    with (
        patch.object(ActiveCopies, "_learn", learn_of_its_own),
        patch.object(ActiveCopies, "takes", ActiveCopies.is_here),
        patch("nodes.store.mailbox.database.state_of", as_if_there_were_no_other),
    ):
        yield


# ------------------------------------------------------------------ across boundaries


@contextmanager
def puts_mail_straight_into_a_mailbox_of_another_boundary() -> Iterator[None]:
    with (
        patch.object(routing, "hop_into", lambda config, database: f"database:{database}"),
        patch.object(receiving, "is_inside", lambda config, name: name is not None),
    ):
        yield


@contextmanager
def takes_two_hops_inside_a_boundary() -> Iterator[None]:
    transmit = Lease.transmit

    def as_from_outside(self: Any, prologue: Any, *more: Any) -> None:
        transmit(self, None if isinstance(prologue, DeliverTo) else prologue, *more)

    with patch.object(Lease, "transmit", as_from_outside):
        yield


@contextmanager
def resubmits_what_left_the_boundary() -> Iterator[None]:
    message = Resubmitting._message

    def to_whoever_had_it(self: Any, copy: Any, recipients: Any) -> Any:
        forks = forks_of(self._config, recipients)
        return replace(message(self, copy, recipients), forks=forks)

    with (
        patch.object(Resubmitting, "_recipients", lambda self, copy: copy.recipients),
        patch.object(Resubmitting, "_message", to_whoever_had_it),
    ):
        yield


@dataclass(frozen=True, slots=True)
class BrokenRun:
    """What is broken shows in this scenario under most seeds."""

    broken: Broken
    scenario: str


# what two opinions are compared about
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
    BrokenRun(waits_two_heartbeats_longer, "half-done-fork"),
    BrokenRun(waits_two_heartbeats_longer, "one-way-heartbeat"),
    BrokenRun(heeds_the_third_answer_of_a_new_database, "primary-loses-its-queue-database"),
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
