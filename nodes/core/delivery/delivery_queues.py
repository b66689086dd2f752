"""Where forks wait: the delivery queue of each next hop, and what is in which.

Recipients whose mailbox is in another database now wait for that one, from the next moment on at
which their fork waits (SN-8).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nodes.core.categorizer.mailboxes import Mailboxes
from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies, CopyMoved
from nodes.core.delivery.delivery_queue import DeliveryQueue
from nodes.core.delivery.mailbox_deliveries import MailboxDeliveries
from nodes.core.delivery.redirecting import Redirecting
from nodes.core.delivery.results import Parcel, Result
from nodes.core.delivery.tracked import Tracked
from nodes.core.engine.work import Work
from nodes.core.interface.replies import QueueShown
from nodes.core.model.fork_states import ForkMove
from nodes.core.model.message import ForkState
from nodes.core.model.next_hop import NextHop
from nodes.core.sessions.outbound import Sessions


class DeliveryQueues:
    """`take` hands out a fork, `report` hears what became of it."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        active_copies: ActiveCopies,
        mailboxes: Mailboxes,
        take: Callable[[int, NextHop], Parcel | None],
        report: Callable[[Parcel, Result], None],
    ) -> None:
        self._mailboxes = mailboxes
        self._queues: dict[NextHop, DeliveryQueue] = {}
        self._turn = 0
        most = config.server.max_concurrent_mailbox_deliveries
        self._make = partial(
            DeliveryQueue,
            config=config,
            work=work,
            sessions=sessions,
            active_copies=active_copies,
            deliveries=MailboxDeliveries(most, self._go_on),
            take=take,
            report=report,
            idle=self._remove,
        )
        self.redirecting = Redirecting(self._queues)

    def of(self, next_hop: NextHop) -> DeliveryQueue:
        """Made when something is to wait for that next hop first, or again after it was removed."""
        if next_hop not in self._queues:
            self._queues[next_hop] = self._make(next_hop)
        return self._queues[next_hop]

    def _remove(self, next_hop: NextHop) -> None:
        """It was empty for QueueMaxIdleTime. How often it had failed is forgotten with it."""
        del self._queues[next_hop]

    def leave(self, internal_id: int, next_hop: NextHop) -> None:
        """The message waits for that next hop no more."""
        queue = self._queues.get(next_hop)
        if queue is not None:
            queue.leave(internal_id)

    def _go_on(self) -> None:
        """A mailbox delivery is over, and another one may begin: of each queue in its turn, so that
        a long one lets the others through.
        """
        queues = list(self._queues.values())
        first = self._turn % len(queues)
        self._turn += 1
        for queue in (*queues[first:], *queues[:first]):
            queue.pump()

    def shown(self) -> tuple[QueueShown, ...]:
        """Every queue, by its next hop; also those that are empty, until they are removed."""
        queues = sorted(self._queues.items(), key=lambda item: str(item[0]))
        return tuple(queue.shown() for _, queue in queues)

    def length_of(self, next_hop: NextHop) -> int:
        """How many messages the queue of that next hop holds, those on their way out too."""
        queue = self._queues.get(next_hop)
        return 0 if queue is None else queue.length

    def moved(self, event: CopyMoved) -> None:
        queue = self._queues.get(NextHop.into(event.database))
        if queue is not None:
            queue.moved()

    def let_go(self) -> None:
        """What was held for a mailbox that was moving."""
        for queue in list(self._queues.values()):
            queue.let_go()

    def enter(self, tracked: Tracked) -> None:
        """For those who have moved since it was categorised where they are now."""
        for next_hop in tuple(tracked.forks):
            self._reroute(tracked, next_hop)
        for fork in tuple(tracked.forks.values()):
            if fork.state is ForkState.QUEUED:
                self.of(fork.next_hop).append(tracked.message.internal_id)

    def resolve_anew(self, tracked: Tracked) -> None:
        """Mailboxes may be elsewhere."""
        for next_hop in tuple(tracked.forks):
            self._append(tracked, self._reroute(tracked, next_hop))

    def put_back(self, tracked: Tracked, queue: NextHop) -> None:
        """What was out waits for its retry."""
        tracked.move(queue, ForkMove.PUT_BACK)
        others = self._reroute(tracked, queue)
        if queue in tracked.forks:
            self.of(queue).put_back(tracked.message.internal_id)
        self._append(tracked, others)

    def enter_again(self, tracked: Tracked, queue: NextHop) -> None:
        """For recipients who came to wait while it was out for others, or whose mailbox moves."""
        tracked.move(queue, ForkMove.PUT_BACK)
        others = self._reroute(tracked, queue)
        self._append(tracked, (queue, *others) if queue in tracked.forks else others)

    def _append(self, tracked: Tracked, next_hops: tuple[NextHop, ...]) -> None:
        for next_hop in next_hops:
            self.of(next_hop).append(tracked.message.internal_id)

    def _reroute(self, tracked: Tracked, next_hop: NextHop) -> tuple[NextHop, ...]:
        """Recipients of a fork that waits, and whose mailbox is in another database now, wait for
        that one. Gives next hops that the message waits for only from now on.
        """
        fork, internal_id = tracked.forks[next_hop], tracked.message.internal_id
        if fork.state is not ForkState.QUEUED or next_hop.database is None:
            return ()
        elsewhere: dict[NextHop, list[str]] = {}
        for recipient in fork.recipients:
            database = self._mailboxes.get(recipient)
            if database not in (None, next_hop.database):
                elsewhere.setdefault(NextHop.into(str(database)), []).append(recipient)
        new = tuple(to for to in elsewhere if tracked.is_over(to))
        for to, recipients in elsewhere.items():
            tracked.reroute(next_hop, tuple(recipients), to)
        if next_hop not in tracked.forks:
            self.leave(internal_id, next_hop)
            self.redirecting.ended(internal_id, next_hop)
        return new
