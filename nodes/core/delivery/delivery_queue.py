"""One delivery queue: the messages with the same next hop, in order, a few at a time (F§5.3).

Ready, or waiting to retry after a failure (RT-5). A message that the next hop puts off is set aside
for MessageRetryInterval, one whose session broke, where that may be its own failure (`doubts`), for
as long as the queue would wait; neither holds anybody up. While an administrator has its mail
redirected (F§5.4), nothing waits. A queue that is empty for QueueMaxIdleTime is removed (F§3.2).
Knows how to hand a fork out: into a mailbox database here, or over a session. What becomes of the
message then is not its business.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.config.retry import retry_interval_ms
from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.delivery.attempts import (
    BackAgain,
    IntoMailboxes,
    NextAttempt,
    Refusal,
    Removal,
    ToServer,
    Transmission,
)
from nodes.core.delivery.doubts import Doubts
from nodes.core.delivery.mailbox_deliveries import MailboxDeliveries
from nodes.core.delivery.results import (
    NOT_MOUNTED,
    Answered,
    NotNow,
    Parcel,
    Result,
    prologue_of,
    unreachable,
)
from nodes.core.engine.work import LocalDelivery, Timer, Work
from nodes.core.interface.replies import QueueShown
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease

MESSAGES_A_CONNECTION = 20
"""SmtpConnectorQueueMessageCountThresholdForConcurrentConnections (F§3.2): so many waiting messages
make another session worth its handshake."""
MOST_CONNECTIONS = 8

Report: TypeAlias = Callable[[Parcel, Result], None]
Take: TypeAlias = Callable[[int, NextHop], Parcel | None]
Idle: TypeAlias = Callable[[NextHop], None]


class DeliveryQueue:
    """`take(internal id, next hop)` gives the parcel or None where it is not wanted any more;
    `report` gets each result; `idle` hears that the queue was empty for QueueMaxIdleTime, and is to
    be removed.
    """

    def __init__(
        self,
        next_hop: NextHop,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        active_copies: ActiveCopies,
        deliveries: MailboxDeliveries,
        take: Take,
        report: Report,
        idle: Idle,
    ) -> None:
        self.next_hop = next_hop
        self._deliveries = deliveries
        self.waiting: deque[int] = deque()
        self._config = config
        self._work = work
        self._sessions = sessions
        self._active_copies = active_copies
        self._take = take
        self._report = report
        self._idle = idle
        self._is_empty = False
        self._empty_since_ms = 0
        self._removal: Timer | None = None
        self._doubts = Doubts()
        self._aside: dict[int, Timer] = {}
        self._held: list[int] = []
        self._attempts: Counter[int] = Counter()
        self._active: Counter[int] = Counter()
        self._failures = 0
        self._retry: Timer | None = None
        self._last_error = ""
        self._is_redirected = False

    def shown(self) -> QueueShown:
        """As somebody who looks sees it."""
        retry_ms = None if self._retry is None else self._retry.due_ms
        return QueueShown("delivery", str(self.next_hop), self.length, retry_ms, self._last_error)

    @property
    def length(self) -> int:
        """Messages that wait, were set aside, are held or are on their way."""
        return len(self.waiting) + len(self._aside) + len(self._held) + self._active.total()

    def append(self, internal_id: int) -> None:
        self.waiting.append(internal_id)
        self.pump()

    def put_back(self, internal_id: int) -> None:
        """Unless it was set aside."""
        if internal_id not in self._aside:
            self.waiting.appendleft(internal_id)

    def leave(self, internal_id: int) -> None:
        """It waits for another next hop now."""
        if internal_id in self.waiting:
            self.waiting.remove(internal_id)
        if internal_id in self._held:
            self._held.remove(internal_id)
        if (timer := self._aside.pop(internal_id, None)) is not None:
            timer.cancel()
        del self._attempts[internal_id]
        self._look_whether_empty()

    def hold(self, internal_id: int) -> None:
        """It waits for nobody but mailboxes that move."""
        self._held.append(internal_id)

    def let_go(self) -> None:
        """What was held goes on, before whatever came later."""
        held, self._held = self._held, []
        self.waiting.extendleft(reversed(held))
        self.pump()

    def pump(self) -> None:
        while self._may_go() and self.waiting and self._has_room():
            parcel = self._take(self.waiting.popleft(), self.next_hop)
            if parcel is not None:
                self._active[parcel.epoch] += 1
                self._hand_out(parcel)
        self._look_whether_empty()

    def _may_go(self) -> bool:
        return self._retry is None or self._is_redirected

    def _has_room(self) -> bool:
        """What is still on its way to a copy that was active before takes no room of a queue."""
        if self._is_local():
            return self._deliveries.has_room
        under_way = self._active[self._active_copies.epoch_of(self.next_hop)]
        return under_way < min(MOST_CONNECTIONS, 1 + len(self.waiting) // MESSAGES_A_CONNECTION)

    def _is_local(self) -> bool:
        is_mailbox = self.next_hop.database is not None and not self._is_redirected
        return is_mailbox and self._active_copies.peer_of(self.next_hop) == self._config.me.name

    def _hand_out(self, parcel: Parcel) -> None:
        database = parcel.fork.next_hop.database
        if self.next_hop.delivery_type is DeliveryType.UNREACHABLE:
            self._work.at(self._work.now_ms, Refusal(self, parcel, unreachable(parcel)))
        elif database is None or not self._is_local():
            self.to_one_of(parcel, self._active_copies.targets_of(parcel.fork))
        elif self._active_copies.takes(database):
            self._into_mailboxes(parcel, database)
        else:
            self.finish(parcel, NotNow(NOT_MOUNTED))

    def to_one_of(self, parcel: Parcel, targets: tuple[str, ...]) -> None:
        """To the first that can be reached. One that was reached and then fails is not passed over:
        it may have the message.
        """
        attempt = ToServer(self, parcel, targets[1:])
        self._sessions.request(targets[0], "delivery", attempt.ready, attempt.failed)

    def _into_mailboxes(self, parcel: Parcel, database: str) -> None:
        message = parcel.message
        delivery = LocalDelivery(
            database,
            message.header,
            message.envelope.sender,
            parcel.fork.recipients,
            message.size_bytes,
            f"db:{message.internal_id}",
        )
        attempt = IntoMailboxes(self, parcel)
        self._deliveries.begin()
        self._work.deliver(
            delivery,
            self._config.duplicate_windows_ms[database],
            attempt.delivered,
            attempt.failed,
        )

    def stored(self, parcel: Parcel, result: Result) -> None:
        """Whether or not it is in its mailboxes."""
        self._deliveries.end()
        self.finish(parcel, result)

    def over(self, parcel: Parcel, lease: Lease) -> None:
        message = parcel.message
        envelope = type(message.envelope)(message.envelope.sender, parcel.fork.recipients)
        body, attempt = f"db:{message.internal_id}", Transmission(self, parcel, lease)
        lease.transmit(prologue_of(parcel), envelope, body, attempt.answered, attempt.lost)

    def finish(self, parcel: Parcel, result: Result) -> None:
        """What the copy before says, once another is active, is worth nothing: it goes there."""
        self._active[parcel.epoch] -= 1
        internal_id = parcel.message.internal_id
        self._last_error = result.reason if isinstance(result, NotNow) else ""
        if parcel.redirected_to is not None:
            self._redirected(internal_id, result)
        elif parcel.epoch != self._active_copies.epoch_of(self.next_hop):
            result = NotNow("the mailbox database is active on another server")
        elif isinstance(result, Answered):
            self._failures = 0
            self._doubts.clear()
            self._settle(internal_id, result)
        elif self._is_redirected:
            pass  # it goes to the other server at once
        elif result.is_own:
            self._set_aside(internal_id)
        elif result.was_offered and self._doubts.is_its_own(internal_id):
            self._set_aside_as_doubtful(internal_id)
        else:
            self._fail()
            if not result.was_offered:
                self._doubts.clear()
        self._report(parcel, result)
        self.pump()

    def _settle(self, internal_id: int, result: Answered) -> None:
        """The next hop works; recipients that it put off are no reason for others to wait."""
        if not result.deferred:
            del self._attempts[internal_id]
        elif not self._is_redirected:
            self._set_aside(internal_id)

    def _redirected(self, internal_id: int, result: Result) -> None:
        """What another server says shows nothing of the next hop. What it does not take waits as
        long as after one more failure.
        """
        if isinstance(result, NotNow):
            self._fail()
        elif result.deferred:
            self._set_aside(internal_id)
        else:
            del self._attempts[internal_id]

    def _set_aside(self, internal_id: int) -> None:
        """It waits for MessageRetryInterval, however often it was put off."""
        self._wait_aside(internal_id, self._config.server.message_retry_interval_ms)

    def _set_aside_as_doubtful(self, internal_id: int) -> None:
        """It waits as long as a queue would that failed as often."""
        self._attempts[internal_id] += 1
        wait_ms = retry_interval_ms(self._config.server, self._attempts[internal_id])
        self._wait_aside(internal_id, wait_ms)

    def _wait_aside(self, internal_id: int, wait_ms: int) -> None:
        due_ms = self._work.now_ms + wait_ms
        self._aside[internal_id] = self._work.at(due_ms, BackAgain(self, internal_id))

    def back_again(self, internal_id: int) -> None:
        del self._aside[internal_id]
        self.append(internal_id)

    def _fail(self) -> None:
        """The first failure of several under way sets the retry; the others add nothing."""
        if self._retry is None:
            self._failures += 1
            wait_ms = retry_interval_ms(self._config.server, self._failures)
            self._retry = self._work.again(wait_ms, NextAttempt(self))

    def try_again(self) -> None:
        self._retry = None
        self.pump()

    def _look_whether_empty(self) -> None:
        """One timer at a time: it is set again when due, and not whenever the last message goes."""
        was_empty, self._is_empty = self._is_empty, not self.length
        if self._is_empty and not was_empty:
            self._empty_since_ms = self._work.now_ms
            if self._removal is None:
                self._removal = self._work.at(self._removal_ms, Removal(self))

    @property
    def _removal_ms(self) -> int:
        return self._empty_since_ms + self._config.server.queue_max_idle_time_ms

    def remove_if_idle(self) -> None:
        self._removal = None
        if self._is_empty and self._work.now_ms < self._removal_ms:
            self._removal = self._work.at(self._removal_ms, Removal(self))
        elif self._is_empty:
            if self._retry is not None:
                self._retry.cancel()
            self._idle(self.next_hop)

    def redirect(self) -> None:
        """All that waits goes to another server, which `take` names."""
        self._is_redirected = True
        self._take_in_aside()
        self.pump()

    def redirect_no_more(self) -> None:
        """What is left waits as long as after one more failure."""
        self._is_redirected = False
        if self.waiting:
            self._fail()

    def _take_in_aside(self) -> None:
        for timer in self._aside.values():
            timer.cancel()
        self.waiting.extendleft(sorted(self._aside, reverse=True))
        self._aside.clear()

    def moved(self) -> None:
        """The next hop is another server now: nothing that failed there counts."""
        self._failures = 0
        self._doubts.clear()
        self._attempts.clear()
        self._take_in_aside()
        if self._retry is not None:
            self._retry.cancel()
        self.try_again()
