"""Keeping shadow messages for one primary server: ask, let go, or take over (SM-2 to SM-8).

The shadow server asks the primary with XQDISCARD in every session it opens to it, and opens one of
its own when ShadowHeartbeatFrequency has passed since it last asked. Such heartbeats do not wait
for each other: one that hangs ends by its time-out, and its answer is worth hearing until then.
The final reply to its own question is the only thing that counts as contact. Two things make it
assume ownership: a reply that carries another database id than a message was made under (SM-7,
those messages alone), and no contact for ShadowResubmitTimeSpan (SM-6, all of them) - the latter
only after an attempt that began when the span was over has failed too, so that a server that slept
asks first.

Replies are taken in one after another, and none while messages are on their way out of the queue:
what such a change leaves behind must be there for the next reply. What a late one is worth,
`discard_questions` says. A message whose stay is over is neither let go nor promoted: the disk
drops it (SN-2), and may have done so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.delivery.safety_net import SafetyNet
from nodes.core.engine.tracking_rows import shadow_row
from nodes.core.engine.work import COMMIT_RETRY_MS, Then, Timer, Work
from nodes.core.interface.inputs import DiscardAnswered
from nodes.core.interface.queue_changes import Change, MoveToShadowSafetyNet, SetContact
from nodes.core.interface.replies import QueueShown
from nodes.core.model.lab_time import iso
from nodes.core.model.message import Contact, ShadowKey, ShadowMessage
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease
from nodes.core.shadow.contact_log import log_answer, log_no_contact
from nodes.core.shadow.discard_questions import DiscardQuestions, Heard
from nodes.core.shadow.heartbeats import Asked, Attempt, Heartbeat, Span

MOST_HANGING = 20
"""Heartbeats under way at once, as many as a peer has sessions for mail by default."""
TOO_MANY_HANG = "too many heartbeats hang"

Promote: TypeAlias = Callable[[tuple[ShadowMessage, ...], str, int], None]


class ShadowQueue:
    """The shadow messages held for `primary`. `promote(shadows, cause, last_contact_ms)` takes them
    over.
    """

    def __init__(
        self,
        primary: str,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        safety_net: SafetyNet,
        promote: Promote,
    ) -> None:
        self.primary = primary
        self.held: dict[ShadowKey, ShadowMessage] = {}
        self._frequency_ms = config.transport.shadow_heartbeat_frequency_ms
        self._span_ms = config.transport.shadow_resubmit_time_span_ms
        self._work = work
        self._sessions = sessions
        self._safety_net = safety_net
        self._promote = promote
        self._contact = Contact(primary, "", 0, 0)
        self._questions = DiscardQuestions()
        self._heard: deque[Heard] = deque()
        self._leaving: set[ShadowKey] = set()
        self._is_taking_in = False
        self._quiet_until_ms = 0
        self._promotion: Timer | None = None
        self._heartbeat: Timer | None = None
        self._span: Timer | None = None
        self._attempts: list[Attempt] = []

    def opened(self, contact: Contact) -> None:
        self._contact = contact
        self._questions.database_id = contact.database_id

    def resume(self) -> None:
        """After a restart: go on with what the last contact had begun (SM-7), ask at once about the
        rest, and find the span where it stood.
        """
        self._promote_other_databases()
        if self.held:
            self._set_heartbeat(self._work.now_ms)
            self._set_span()

    def add(self, shadow: ShadowMessage) -> None:
        """A shadow message that is durable by now."""
        self.held[shadow.key] = shadow
        if self._heartbeat is None:
            self._set_heartbeat(self._work.now_ms + self._frequency_ms)
        if self._span is None:
            self._set_span()

    def remove(self, key: ShadowKey) -> ShadowMessage | None:
        """The message is no longer held; with the last one goes every timer. Without the oldest the
        span is over later, and an attempt under way may have begun too early to count.
        """
        shadow = self.held.pop(key, None)
        if not self.held:
            self._stop_timers()
        elif self._span is None:
            self._set_span()
        return shadow

    def shown(self) -> QueueShown:
        """As somebody who looks sees it: the next retry is the next heartbeat."""
        due_ms = None if self._heartbeat is None else self._heartbeat.due_ms
        return QueueShown("shadow", self.primary, len(self.held), due_ms)

    def ask_first(self, lease: Lease) -> None:
        """A session to the primary was opened, for whatever: ask before it is used (SM-2)."""
        if self.held:
            self._ask(lease, lambda: self._sessions.hand_over(lease))

    def _ask(self, lease: Lease, then: Then) -> None:
        """Of a loss whoever wanted the session is notified; a heartbeat says so itself."""
        contact = self._contact
        youngest = max((s.internal_id for s in self.held.values()), default=0)
        question = self._questions.ask(self._work.now_ms, youngest)
        asked = Asked(self, question, lease, then)
        lease.ask(contact.database_id, contact.confirmed_sequence, asked.answered, asked.lost)

    def discards_answered(self, asked: Asked, answer: DiscardAnswered) -> None:
        lease, question = asked.lease, asked.question
        self._attempts = [a for a in self._attempts if a.request is not lease.session.request]
        is_outdated = self._questions.hear(question, answer.database_id)
        now_ms = self._work.now_ms
        self._answered(Heard(question, answer, now_ms, lease, is_outdated, asked.then))

    def _begin_attempt(self) -> None:
        """A heartbeat: a session of its own, since that an idle one was lost, maybe while this
        server slept, says nothing of the primary. The attempt is known by its begin, which decides
        what its failure may cause.
        """
        self._set_heartbeat(self._work.now_ms + self._frequency_ms)
        if len(self._attempts) >= MOST_HANGING:
            self._give_up_one()
        attempt = Attempt(self, self._work.now_ms)
        self._attempts.append(attempt)
        attempt.request = self._sessions.request(
            self.primary, "heartbeat", attempt.ready, attempt.failed, opens=True
        )

    def attempt_ready(self, attempt: Attempt, lease: Lease) -> None:
        """It has asked already (`ask_first`), unless nothing is held any more."""
        if attempt in self._attempts:
            self._attempts.remove(attempt)
        lease.release()

    def attempt_failed(self, attempt: Attempt, reason: str) -> None:
        if attempt not in self._attempts:
            return
        self._end_failed(attempt, reason)
        if self.held and attempt.begun_ms >= self._span_over_ms():
            self._take_over(tuple(self.held.values()), "resubmit-time-span")

    def _give_up_one(self) -> None:
        """The one that began soonest after the one before it: those that stay are spread over the
        time-out, and an answer that takes long still finds one. Not the first since the span is
        over, whose failure is waited for.
        """
        over_ms = self._span_over_ms()
        pairs = (
            (later.begun_ms - earlier.begun_ms, later)
            for earlier, later in pairwise(self._attempts)
            if not earlier.begun_ms < over_ms <= later.begun_ms
        )
        _, nearest = min(pairs, key=lambda pair: pair[0])
        self._end_failed(nearest, TOO_MANY_HANG)
        if nearest.request is not None:
            self._sessions.give_up(nearest.request, TOO_MANY_HANG)

    def _end_failed(self, attempt: Attempt, reason: str) -> None:
        self._attempts.remove(attempt)
        log_no_contact(self._work, self.primary, attempt.begun_ms, reason)

    def _answered(self, heard: Heard) -> None:
        """Contact, unless it is outdated: it counts from now on, and is taken in in its turn."""
        log_answer(self._work, self.primary, heard)
        if not heard.is_outdated:
            # what was taken in is confirmed only once it is durable
            self._contact = replace(self._contact, last_contact_ms=heard.heard_ms)
            self._put_off_heartbeat(heard.question.asked_ms + self._frequency_ms)
        self._heard.append(heard)
        self._take_in_next()

    def _take_in_next(self) -> None:
        while self._heard and not self._leaving and not self._is_taking_in:
            self._take_in(self._heard.popleft())

    def _take_in(self, heard: Heard) -> None:
        """Write down everything that the answer says, then act on it. What an outdated one names is
        done all the same.
        """
        self._is_taking_in = True
        contact = self._contact if heard.is_outdated else self._contact_after(heard)
        goes_on = heard.answer.more and _progress(contact) != _progress(self._contact)
        done = self._discarded_by(heard.answer)

        def taken_in() -> None:
            self._is_taking_in = False
            self._contact = replace(contact, last_contact_ms=self._contact.last_contact_ms)
            for shadow, change in done:
                self._let_go(shadow, change)
            self._promote_other_databases()
            self._after_contact()
            if goes_on and heard.lease.is_open:
                self._ask(heard.lease, heard.then)
            else:
                heard.then()
            self._take_in_next()

        def not_taken_in(_reason: str) -> None:
            self._is_taking_in = False
            self.hold_again(tuple(shadow for shadow, _ in done))
            heard.then()
            self._take_in_next()

        changes: tuple[Change, ...] = (SetContact(contact), *(c for _, c in done))
        self._work.commit(changes, taken_in, not_taken_in)

    def _contact_after(self, heard: Heard) -> Contact:
        answer, held_up_to = heard.answer, heard.question.held_up_to
        confirmed = answer.notifications[-1][0] if answer.notifications else 0
        if answer.database_id == self._contact.database_id:
            confirmed = max(confirmed, self._contact.confirmed_sequence)
            held_up_to = max(held_up_to, self._contact.held_up_to)
        return Contact(self.primary, answer.database_id, heard.heard_ms, confirmed, held_up_to)

    def _discarded_by(
        self, answer: DiscardAnswered
    ) -> list[tuple[ShadowMessage, MoveToShadowSafetyNet]]:
        """What the answer lets go of; a message named twice, or never held, is nothing new."""
        done = []
        for _sequence, internal_id, delivered_ms, first_ms in answer.notifications:
            key = ShadowKey(self.primary, answer.database_id, internal_id)
            shadow = self.held.get(key)
            if shadow is not None and not self._safety_net.is_over(shadow.received_ms):
                del self.held[key]
                expires_ms = self._safety_net.expiry_of_delivered(delivered_ms)
                change = MoveToShadowSafetyNet(key, delivered_ms, expires_ms, first_ms)
                done.append((shadow, change))
        return done

    def _let_go(self, shadow: ShadowMessage, change: MoveToShadowSafetyNet) -> None:
        # as the primary's clock had it
        custom = (("DeliveredAt", iso(change.delivered_ms)),)
        self._work.emit(shadow_row("HADISCARD", "REDUNDANCY", shadow, custom=custom))

    def _after_contact(self) -> None:
        if self.held:
            if self._heartbeat is None:
                self._set_heartbeat(self._work.now_ms + self._frequency_ms)
            self._set_span()
        else:
            self._stop_timers()

    def _promote_other_databases(self) -> None:
        """Those that were made under another database id than the primary was found with after they
        had come (SM-7).
        """
        contact = self._contact
        others = tuple(
            shadow
            for shadow in self.held.values()
            if shadow.key.primary_database_id != contact.database_id
            and shadow.internal_id <= contact.held_up_to
        )
        if others:
            self._take_over(others, "database-id-changed")

    def _take_over(self, shadows: tuple[ShadowMessage, ...], cause: str) -> None:
        """They are promoted from here on; `hold_again` undoes it where that cannot be made
        durable. One whose stay is over waits for the disk's word of its end.
        """
        there = tuple(s for s in shadows if not self._safety_net.is_over(s.received_ms))
        for shadow in there:
            del self.held[shadow.key]
            self._leaving.add(shadow.key)
        if not self.held:
            self._stop_timers()
        elif len(there) < len(shadows):
            self._quiet_until_ms = self._work.now_ms + COMMIT_RETRY_MS
            self._after_contact()
        if there:
            self._promote(there, cause, self._contact.last_contact_ms)

    def promoted(self, shadows: tuple[ShadowMessage, ...]) -> None:
        """They have left, durably."""
        self._leaving.difference_update(shadow.key for shadow in shadows)
        self._take_in_next()

    def not_promoted(self, shadows: tuple[ShadowMessage, ...]) -> None:
        self._leaving.difference_update(shadow.key for shadow in shadows)
        self.hold_again(shadows)
        if self._promotion is None:
            self._promotion = self._work.again(COMMIT_RETRY_MS, self._promote_again)
        self._take_in_next()

    def _promote_again(self) -> None:
        self._promotion = None
        self._promote_other_databases()

    def hold_again(self, shadows: tuple[ShadowMessage, ...]) -> None:
        """A change that ended their stay did not become durable: they are held as before, oldest
        first. What the disk refused now is not tried again at once.
        """
        self._quiet_until_ms = self._work.now_ms + COMMIT_RETRY_MS
        everything = (*self.held.values(), *shadows)
        self.held = {s.key: s for s in sorted(everything, key=lambda s: s.internal_id)}
        self._after_contact()

    def _span_over_ms(self) -> int:
        """Last contact + span; a queue that was never in contact counts from its oldest message."""
        oldest_ms = next(iter(self.held.values())).received_ms
        return max(self._contact.last_contact_ms, oldest_ms) + self._span_ms

    def span_is_over(self) -> None:
        """Ask once more: an attempt that began before is too early to count."""
        self._span = None
        if not self.held:
            return
        over_ms = self._span_over_ms()
        if self._work.now_ms < max(over_ms, self._quiet_until_ms):
            self._set_span()
        elif all(attempt.begun_ms < over_ms for attempt in self._attempts):
            self._begin_attempt()

    def _set_heartbeat(self, due_ms: int) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._heartbeat = self._work.at(due_ms, Heartbeat(self))

    def heartbeat_is_due(self) -> None:
        self._heartbeat = None
        if self.held:
            self._begin_attempt()

    def _put_off_heartbeat(self, due_ms: int) -> None:
        """Never to sooner: a late answer is as old as its question, and others were asked since."""
        if self._heartbeat is not None and self._heartbeat.due_ms < due_ms:
            self._set_heartbeat(due_ms)

    def _set_span(self) -> None:
        if self._span is not None:
            self._span.cancel()
        due_ms = max(self._span_over_ms(), self._quiet_until_ms)
        self._span = self._work.at(due_ms, Span(self))

    def _stop_timers(self) -> None:
        for timer in (self._heartbeat, self._span):
            if timer is not None:
                timer.cancel()
        self._heartbeat = self._span = None


def _progress(contact: Contact) -> tuple[str, int]:
    return contact.database_id, contact.confirmed_sequence
