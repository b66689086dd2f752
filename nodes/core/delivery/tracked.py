"""A message under way: its forks, what of them has ended, and what of that is not durable yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from nodes.core.delivery.dsn import Report
from nodes.core.interface.queue_changes import (
    Change,
    FinishFork,
    InsertMessage,
    NoteDelayNotified,
    RerouteFork,
    SetShadowServer,
    SplitFork,
)
from nodes.core.model.fork_states import ENDS, ForkMove, after
from nodes.core.model.message import Fork, ForkState, PrimaryMessage
from nodes.core.model.next_hop import NextHop

End: TypeAlias = FinishFork | SplitFork | RerouteFork


@dataclass(frozen=True, slots=True)
class HasShadow:
    """A message that came into the queues has its shadow there."""

    shadow_server: str


@dataclass(slots=True)
class Tracked:
    """What is left of the fork of each next hop, ends not yet durable, side effects not yet done.

    `since_ms`: when it came into its delivery queues, from which on it may grow old (SM-12);
    `first_done_ms`: when the first of its recipients was served. `begun`: how many sessions this
    server had begun when it came, at `came_ms`, or was loaded. `holder`: of its shadow, where the
    disk does not know it yet.
    """

    message: PrimaryMessage
    forks: dict[NextHop, Fork]
    since_ms: int
    first_done_ms: int | None
    begun: int
    came_ms: int
    ends: list[End] = field(default_factory=list)
    ends_under_way: tuple[End, ...] = ()
    reports: list[Report] = field(default_factory=list)
    holder: SetShadowServer | None = None
    side_effects: set[int] = field(default_factory=set)
    delay_notified: bool = False
    committing: bool = False
    completing: bool = False

    @property
    def is_done(self) -> bool:
        """Every fork has ended, and every side effect is done (SM-10)."""
        return not self.side_effects and all(f.state in ENDS for f in self.forks.values())

    @property
    def waiting(self) -> tuple[str, ...]:
        """Recipients that nobody has served or given up yet."""
        return tuple(r for f in self.forks.values() if f.state not in ENDS for r in f.recipients)

    @property
    def may_be_delayed(self) -> bool:
        """Whether its sender may hear of that: once, and not of what was resubmitted (SN-10)."""
        is_back = self.message.resubmit_request is not None
        return bool(self.waiting) and not (self.delay_notified or is_back)

    def is_over(self, next_hop: NextHop) -> bool:
        """Nothing of it waits for that next hop, or is on its way there."""
        fork = self.forks.get(next_hop)
        return fork is None or fork.state in ENDS

    def send(self, report: Report | None) -> None:
        """With what is written down next; None: there is nobody to inform."""
        if report is None:
            return
        self.reports.append(report)
        self.side_effects.add(report.message.internal_id)

    def move(self, next_hop: NextHop, move: ForkMove) -> None:
        fork = self.forks[next_hop]
        self.forks[next_hop] = replace(fork, state=after(fork.state, move))

    def end(
        self,
        next_hop: NextHop,
        recipients: tuple[str, ...],
        move: ForkMove,
        now_ms: int,
        redirected_to: NextHop | None = None,
    ) -> None:
        """These recipients leave the fork; with the last of them it ends itself."""
        if not recipients:
            return
        fork = self.forks[next_hop]
        state = after(fork.state, move)
        if state is ForkState.DONE and self.first_done_ms is None:
            self.first_done_ms = now_ms
        left = tuple(each for each in fork.recipients if each not in recipients)
        key = (self.message.internal_id, next_hop)
        if left:
            self.forks[next_hop] = replace(fork, recipients=left)
            self.ends.append(SplitFork(*key, recipients, state.value, now_ms, redirected_to))
        else:
            self.move(next_hop, move)
            self.ends.append(FinishFork(*key, state.value, now_ms, redirected_to))

    def reroute(self, next_hop: NextHop, recipients: tuple[str, ...], to: NextHop) -> None:
        """These recipients of a fork that waits wait for another next hop. Of what is out there the
        rest is put back with them.
        """
        fork, there = self.forks.pop(next_hop), self.forks.get(to)
        left = tuple(each for each in fork.recipients if each not in recipients)
        if left:
            self.forks[next_hop] = replace(fork, recipients=left)
        if there is None or there.state in ENDS:
            self.forks[to] = Fork(to, recipients)
        else:
            self.forks[to] = replace(there, recipients=(*there.recipients, *recipients))
        self.ends.append(RerouteFork(self.message.internal_id, next_hop, recipients, to))


def stored(message: PrimaryMessage, reports: tuple[Report, ...]) -> Iterator[Change]:
    for each in reports:
        yield InsertMessage(each.message, each.body)
        if each.is_of_delay:
            yield NoteDelayNotified(message.internal_id)
