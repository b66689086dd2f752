"""From an accepted message to its end: every fork delivered or expired, then Primary Safety Net and
discard notification.

The promises kept here: a message's discard status becomes complete, it moves to the Primary Safety
Net and its discard notification is written in one transaction (SM-1, SM-5); a shadow is released
only when every fork is done, and every side effect, as DSNs and journal reports (SM-10); what
cannot be delivered in MessageExpirationTimeout expires with a DSN (SM-12), what cannot in
DelayNotificationTimeout is reported as delayed (RT-5).

One transaction of a message is under way at a time. What finishes meanwhile waits for it, so the
last one always knows that it is the last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from nodes.core.back_pressure import QueuesChanged
from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.categorizer.mailboxes import Mailboxes
from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.delivery.age_limit import AgeLimit
from nodes.core.delivery.delivery_queues import DeliveryQueues
from nodes.core.delivery.discard_notifications import Discards
from nodes.core.delivery.dsn import Report, delay_report, non_delivery_report
from nodes.core.delivery.ends import EndsAgain, EndsWriting
from nodes.core.delivery.journal import Journaling
from nodes.core.delivery.redirecting import Left
from nodes.core.delivery.results import Answered, Parcel, Result, addresses, by_status
from nodes.core.delivery.safety_net import SafetyNet
from nodes.core.delivery.tracked import HasShadow, Tracked, stored
from nodes.core.engine.tracking_rows import (
    defer_row,
    log_mailbox_delivery,
    primary_row,
    send_row,
    suppressed_row,
)
from nodes.core.engine.work import COMMIT_RETRY_MS, Work
from nodes.core.interface.queue_changes import (
    Change,
    DeleteMessage,
    InsertDiscard,
    MoveToPrimarySafetyNet,
    RerouteFork,
    SetShadowServer,
)
from nodes.core.model.fork_states import ENDS, ForkMove, left_of
from nodes.core.model.identity import Identity
from nodes.core.model.message import DiscardNotification, Fork, ForkState, PrimaryMessage
from nodes.core.model.next_hop import NextHop
from nodes.core.sessions.outbound import Sessions

EXPIRED_STATUS = "550 4.4.7 QUEUE.Expired"
NO_ROUTE_STATUS = "550 5.1.10 RESOLVER.ADR.RecipientNotFound"


class Delivery:
    """All primary messages of this server and the queues that they wait in."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        identity: Identity,
        safety_net: SafetyNet,
        discards: Discards,
        active_copies: ActiveCopies,
        categorizer: Categorizer,
        mailboxes: Mailboxes,
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._identity = identity
        self._safety_net = safety_net
        self._discards = discards
        self._active_copies = active_copies
        self._categorizer = categorizer
        self._mailboxes = mailboxes
        self._journaling = Journaling(config, identity, categorizer)
        self._messages: dict[int, Tracked] = {}
        self.queues = DeliveryQueues(
            config, work, sessions, active_copies, mailboxes, self._take, self._report
        )
        age_limit = partial(AgeLimit, work, self._messages)
        self._expiry = age_limit(
            config.server.message_expiration_timeout_ms, self._expire, lambda tracked: True
        )
        self._delay = age_limit(
            config.server.delay_notification_timeout_ms,
            self._notify_of_delay,
            lambda tracked: tracked.may_be_delayed,
        )

    def opened(self, messages: tuple[PrimaryMessage, ...]) -> None:
        """After a restart: every message where its forks stood; one that only lacked its end gets
        it now.
        """
        for message in messages:
            row = primary_row("LOAD", "BOOTLOADER", message, source_context="delivery")
            self._work.emit(row)
            self._track(message, message.received_ms)
        for message in messages:
            self._link_to_parent(message)
        for message in messages:
            tracked = self._messages[message.internal_id]
            if not tracked.side_effects:
                tracked.send(self._journaling.report_again(message, self._work.now_ms))
            self.queues.enter(tracked)
            self.advance(tracked)

    def add(self, message: PrimaryMessage, since_ms: int | None = None) -> None:
        """A message that is durable by now. `since_ms`: from when on it grows old, unless from now
        on (SM-12). One to groups without members is done at once.
        """
        self._track(message, self._work.now_ms if since_ms is None else since_ms)
        self._link_to_parent(message)
        tracked = self._messages[message.internal_id]
        tracked.send(self._journaling.report(message, self._work.now_ms))
        self.queues.enter(tracked)
        recipients, is_group = message.envelope.recipients, self._categorizer.is_group
        if not message.forks and not all(map(is_group, recipients)):
            self._fail(tracked, recipients, NO_ROUTE_STATUS)
        self.advance(tracked)

    def write_holder(self, holder: SetShadowServer) -> None:
        """Who holds the shadow of a message, which a full disk did not take, with what is written
        of that message next: with the first of its forks that ends, at the latest.
        """
        tracked = self._messages.get(holder.internal_id)
        if tracked is not None:
            tracked.holder = holder

    def shadowed_by(self, server: str) -> list[Tracked]:
        """Messages whose shadow copy is with that server."""
        messages = self._messages.values()
        return [tracked for tracked in messages if tracked.message.shadow_server == server]

    def has_unwritten_end(self, before_ms: int) -> bool:
        """Whether a fork ended before that time and the disk does not know it yet."""
        return any(
            end.at_ms < before_ms
            for tracked in self._messages.values()
            for end in (*tracked.ends_under_way, *tracked.ends)
            if not isinstance(end, RerouteFork)
        )

    def _track(self, message: PrimaryMessage, since_ms: int) -> None:
        forks = left_of(message.forks)
        done_ms = [f.done_ms for f in message.forks if f.state is ForkState.DONE and f.done_ms]
        first_ms, begun = min(done_ms, default=None), self._sessions.begun
        tracked = Tracked(
            message,
            forks,
            since_ms,
            first_ms,
            begun,
            came_ms=self._work.now_ms,
            delay_notified=message.delay_notified,
        )
        self._messages[message.internal_id] = tracked
        self._report_length()
        if message.shadow_server is not None:
            self._work.report(HasShadow(message.shadow_server))
        self._expiry.watch(tracked)
        self._delay.watch(tracked)

    def _report_length(self) -> None:
        self._work.report(QueuesChanged(len(self._messages)))

    @property
    def message_count(self) -> int:
        """In all queues, each once."""
        return len(self._messages)

    def _link_to_parent(self, message: PrimaryMessage) -> None:
        parent = message.side_effect_of
        if parent is not None and parent in self._messages:
            self._messages[parent].side_effects.add(message.internal_id)

    def directory_read(self) -> None:
        """Mailboxes may be elsewhere: what waits for them is resolved anew."""
        for tracked in list(self._messages.values()):
            self.queues.resolve_anew(tracked)
            self.advance(tracked)
        self.queues.let_go()

    def _take(self, internal_id: int, next_hop: NextHop) -> Parcel | None:
        """For a mailbox that moves it is held until that is over."""
        tracked = self._messages.get(internal_id)
        fork = None if tracked is None else tracked.forks.get(next_hop)
        if tracked is None or fork is None or fork.state is not ForkState.QUEUED:
            return None
        wanted = tuple(r for r in fork.recipients if self._mailboxes.moves_to(r) is None)
        if not wanted:
            self.queues.of(next_hop).hold(internal_id)
            return None
        tracked.move(next_hop, ForkMove.HAND_OUT)
        epoch = self._active_copies.epoch_of(next_hop)
        fork = replace(fork, recipients=wanted, next_hop=self.queues.redirecting.hop_of(next_hop))
        return Parcel(tracked.message, fork, next_hop, epoch)

    def in_queues(self) -> Left:
        """Each fork that has no end yet."""
        return {
            (internal_id, next_hop)
            for internal_id, tracked in self._messages.items()
            for next_hop, fork in tracked.forks.items()
            if fork.state not in ENDS
        }

    def _report(self, parcel: Parcel, result: Result) -> None:
        tracked = self._messages[parcel.message.internal_id]
        if isinstance(result, Answered):
            self._answered(tracked, parcel, result)
        else:
            self._put_back(tracked, parcel, result.reason)
        left = tracked.forks.get(parcel.queue)
        has_ended = left is None or left.state in ENDS
        self.queues.redirecting.reported(parcel, result, has_ended=has_ended)

    def _answered(self, tracked: Tracked, parcel: Parcel, result: Answered) -> None:
        """Who has it is done, and who was refused; the others wait for the retry, alone."""
        fork, queue, now_ms = parcel.fork, parcel.queue, self._work.now_ms
        self._log_delivered(tracked.message, fork, result)
        for status, recipients in by_status(result.refused).items():
            self._fail(tracked, recipients, status)
        open_still = addresses(result.deferred)
        refused = addresses(result.refused)
        served = tuple(r for r in fork.recipients if r not in (*refused, *open_still))
        tracked.end(queue, refused, ForkMove.REFUSED, now_ms)
        tracked.end(queue, served, ForkMove.ACKNOWLEDGED, now_ms, parcel.redirected_to)
        if open_still:
            self._put_back(tracked, parcel, "; ".join(by_status(result.deferred)))
        elif tracked.forks[queue].state is ForkState.SENDING:
            self.queues.enter_again(tracked, queue)
        self.advance(tracked)

    def _log_delivered(self, message: PrimaryMessage, fork: Fork, result: Answered) -> None:
        work, hop = self._work, fork.next_hop
        if not result.reply:
            log_mailbox_delivery(work, message, hop.name, result.delivered, result.duplicates)
        elif result.delivered:
            work.emit(send_row(message, hop, result.delivered, result.reply, result.server))

    def _put_back(self, tracked: Tracked, parcel: Parcel, reason: str) -> None:
        """DEFER names where it was sent, and who is left of those for whom it was."""
        queue = parcel.queue
        waiting = tracked.forks[queue].recipients
        left = tuple(each for each in parcel.fork.recipients if each in waiting)
        self._work.emit(defer_row(tracked.message, replace(parcel.fork, recipients=left), reason))
        self.queues.put_back(tracked, queue)
        self.advance(tracked)
        self._expiry.watch(tracked)  # it may have grown too old while it was out

    def _fail(self, tracked: Tracked, recipients: tuple[str, ...], status: str) -> None:
        """These recipients will not get it: say so in the log, and to the sender (SM-12); of a
        message that was resubmitted in the log alone (SN-10).
        """
        message = tracked.message
        row = primary_row("FAIL", "QUEUE", message, recipients=recipients, recipient_status=status)
        self._work.emit(row)
        report = non_delivery_report(
            self._config, self._identity, message, recipients, status, self._work.now_ms
        )
        if report is not None and message.resubmit_request is not None:
            self._work.emit(suppressed_row(message, recipients, status))
        else:
            tracked.send(report)

    def advance(self, tracked: Tracked) -> None:
        """Write down what has ended; with the last fork, and no side effect left, the end of the
        message itself.
        """
        if tracked.committing or tracked.completing:
            return
        ends, reports = tuple(tracked.ends), tuple(tracked.reports)
        completes = tracked.is_done
        if not (ends or reports or completes):
            return
        holder = [tracked.holder] if tracked.holder else []
        changes: list[Change] = [*holder, *ends, *stored(tracked.message, reports)]
        notification = self._complete(tracked, changes) if completes else None
        tracked.committing, tracked.completing = True, completes
        tracked.ends_under_way = ends
        tracked.ends.clear()
        tracked.reports.clear()
        writing = EndsWriting(self, tracked, ends, reports, bool(holder), completes, notification)
        self._work.commit(tuple(changes), writing.committed, writing.refused)

    def ends_written(self, writing: EndsWriting) -> None:
        tracked = writing.tracked
        tracked.committing = False
        tracked.ends_under_way = ()
        if writing.has_holder:
            tracked.holder = None
        for report in writing.reports:
            self._reported(tracked.message, report)
        if writing.completes:
            self._completed(tracked, writing.notification)
        self.advance(tracked)

    def ends_not_written(self, writing: EndsWriting) -> None:
        tracked = writing.tracked
        tracked.committing = tracked.completing = False
        tracked.ends_under_way = ()
        tracked.ends[:0] = writing.ends
        tracked.reports[:0] = writing.reports
        self._work.again(COMMIT_RETRY_MS, EndsAgain(self, tracked))

    def _complete(self, tracked: Tracked, changes: list[Change]) -> DiscardNotification | None:
        """The changes that end a message, appended; and the notification for the holder of its
        shadow, if any.
        """
        message, now_ms = tracked.message, self._work.now_ms
        if tracked.first_done_ms is not None:
            expires_ms = self._safety_net.expiry_of_delivered(now_ms)
            changes.append(MoveToPrimarySafetyNet(message.internal_id, now_ms, expires_ms))
        else:
            changes.append(DeleteMessage(message.internal_id))
        if message.shadow_server is None:
            return None
        notification = DiscardNotification(
            message.shadow_server,
            self._identity.next_sequence(),
            message.internal_id,
            now_ms,
            tracked.first_done_ms,
        )
        changes.append(InsertDiscard(notification))
        return notification

    def _completed(self, tracked: Tracked, notification: DiscardNotification | None) -> None:
        message = tracked.message
        del self._messages[message.internal_id]
        self._report_length()
        if notification is not None:
            self._discards.add(notification)
        parent = self._messages.get(message.side_effect_of or 0)
        if parent is not None:
            parent.side_effects.discard(message.internal_id)
            self.advance(parent)

    def _reported(self, original: PrimaryMessage, report: Report) -> None:
        event, source, context = report.logged_as
        about = original.header.message_id
        row = primary_row(event, source, report.message, reference=about, source_context=context)
        self._work.emit(row)
        self.add(report.message)

    def _expire(self, tracked: Tracked) -> None:
        """End every queued fork of what is too old. One that is out being sent is looked at again
        in a minute.
        """
        queued = [f for f in tracked.forks.values() if f.state is ForkState.QUEUED]
        for fork in queued:
            tracked.end(fork.next_hop, fork.recipients, ForkMove.EXPIRE, self._work.now_ms)
            self._fail(tracked, fork.recipients, EXPIRED_STATUS)
            self.queues.leave(tracked.message.internal_id, fork.next_hop)
            self.queues.redirecting.ended(tracked.message.internal_id, fork.next_hop)
        if queued:
            self.advance(tracked)

    def _notify_of_delay(self, tracked: Tracked) -> None:
        """Once, and the sender of what was not resubmitted alone (RT-5, SN-10)."""
        tracked.delay_notified = True
        report = delay_report(
            self._config, self._identity, tracked.message, tracked.waiting, self._work.now_ms
        )
        tracked.send(report)
        self.advance(tracked)
