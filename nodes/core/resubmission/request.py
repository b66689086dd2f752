"""One resubmit request at work: a page of copies is read, becomes new primary messages, and is
written down with the progress, in one transaction; then the next (SN-8, SN-10 to SN-12).

So every copy of the interval is resubmitted once, whenever the server is killed. Nothing is read
before the interval is over and every delivery in it is on disk: what is written behind the progress
would be missed. The next page waits until the messages of this one are redundant, so that a
long interval does not use up every session at once; but it does not wait long, since a server that
never answers must not hold up what is kept for a while only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from nodes.core.back_pressure import BackPressure
from nodes.core.categorizer.categorizer import AsReceived, Categorised, Categorizer
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.engine.tracking_rows import resubmitted_row
from nodes.core.engine.work import COMMIT_RETRY_MS, Because, Then, Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import SafetyNetRead
from nodes.core.interface.queue_changes import Change, InsertMessage
from nodes.core.interface.resubmit_changes import AdvanceResubmitRequest, SetResubmitState
from nodes.core.model.identity import Identity
from nodes.core.model.message import Envelope, Fork, PrimaryMessage
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import (
    KeptCopy,
    Position,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.core.model.resubmit_states import TRANSITIONS, ResubmitMove

LOOK_AGAIN_MS = 1000
PAGE_WAIT_MS = 10_000
AT_A_TIME = 4

SendAnew: TypeAlias = Callable[[PrimaryMessage, str | None, Then], None]
OfCopies: TypeAlias = Callable[[Sequence[KeptCopy], tuple[Categorised, ...]], None]


@dataclass(frozen=True, slots=True)
class Resubmitted:
    """A copy, the message that is made of it, and how that was categorised where it was."""

    message: PrimaryMessage
    copy: KeptCopy
    categorised: Categorised


def recipients_in(database: str, copy: KeptCopy, mailboxes: Mapping[str, str]) -> tuple[str, ...]:
    """Those of a copy whose mailbox is in the database now, whichever it was delivered into."""
    return tuple(r for r in copy.recipients if mailboxes.get(r) == database)


def _as_received(copy: KeptCopy) -> AsReceived:
    """As it was stored; of a Shadow Safety Net for its primary server alone: what went on from
    there, to be expanded by another one, is in that one's Safety Nets (SN-12).
    """
    body = f"db:{copy.position.internal_id}"
    return AsReceived(copy.envelope, body, copy.size_bytes, (copy.primary,))


class Page:
    """The messages of a page on their way to be redundant, AT_A_TIME at once, so that live mail has
    no more than these before it (SN-19). `then` is called once, when all are or on `hurry`.
    """

    def __init__(
        self,
        wanted: Sequence[Resubmitted],
        send: Callable[[PrimaryMessage, Then], None],
        then: Then,
    ) -> None:
        self._waiting = deque(each.message for each in wanted)
        self._left = len(wanted)
        self._send, self._then = send, then

    @property
    def is_under_way(self) -> bool:
        return self._left > 0

    def begin(self) -> None:
        for _ in range(min(AT_A_TIME, self._left)):
            self._next()

    def hurry(self) -> None:
        """Somebody does not answer: all others go at once, and nothing waits for the page."""
        while self._waiting:
            self._next()
        self._go_on()

    def _next(self) -> None:
        if self._waiting:
            self._send(self._waiting.popleft(), self._is_on_its_way)

    def _is_on_its_way(self) -> None:
        self._left -= 1
        self._next()
        if not self._left:
            self._go_on()

    def _go_on(self) -> None:
        then, self._then = self._then, _nothing
        then()


def _nothing() -> None: ...


class Resubmitting:
    """`request` is as it stands; `begin` goes on with it unless something of it is under way."""

    def __init__(
        self,
        request: ResubmitRequest,
        config: NodeConfig,
        work: Work,
        identity: Identity,
        delivery: Delivery,
        send_anew: SendAnew,
        categorizer: Categorizer,
        pressure: BackPressure,
    ) -> None:
        self.request = request
        self._config = config
        self._work = work
        self._identity = identity
        self._delivery = delivery
        self._send_anew = send_anew
        self._categorizer = categorizer
        self._pressure = pressure
        self._waits_for = ""
        self._position = request.progress
        self._is_under_way = False
        self._is_removed = False
        self._is_changing = False
        self._not_redundant = 0

    @property
    def is_changing(self) -> bool:
        """A change of its state, or its removal, is on the way to the disk."""
        return self._is_changing or self._is_removed

    def begin(self) -> None:
        if not self._is_under_way and self._runs:
            self._is_under_way = True
            self._next()

    def change_state(self, state: ResubmitState, changed: Then, failed: Because) -> None:
        """The state counts once it is durable; a page that is under way then is finished."""
        self._is_changing = True

        def committed() -> None:
            self._is_changing = False
            self.request = replace(self.request, state=state)
            changed()

        def not_committed(reason: str) -> None:
            self._is_changing = False
            failed(reason)

        change = SetResubmitState(self.request.demand.request_id, self.request.state, state)
        self._work.commit((change,), committed, not_committed)

    def stop(self) -> None:
        """The request is being removed: no page is begun any more."""
        self._is_removed = True

    def go_on(self) -> None:
        """It could not be removed."""
        self._is_removed = False
        self.begin()

    @property
    def _runs(self) -> bool:
        return self.request.state is ResubmitState.RUNNING and not self._is_removed

    def _next(self) -> None:
        demand, now_ms = self.request.demand, self._work.now_ms
        if not self._runs:
            self._is_under_way = False
        elif now_ms < demand.end_ms:
            self._work.at(demand.end_ms, self._next)
        elif self._delivery.has_unwritten_end(demand.end_ms):
            self._work.again(LOOK_AGAIN_MS, self._next)
        elif self._waits():
            self._work.again(PAGE_WAIT_MS, self._next)
        else:
            most = self._config.server.safety_net_page_size
            self._work.read_safety_net(
                demand.source, self._position, demand.end_ms, most, self._page, self._later
            )

    def _waits(self) -> bool:
        """For the server to be relieved, or for the delivery queue to be short again (SN-19, TL-8).
        It goes on where it stood.
        """
        queue = self._delivery.queues.length_of(NextHop.into(self.request.demand.destination))
        length, reason = queue + self._not_redundant, ""
        if self._pressure.pauses_resubmission:
            reason = "back pressure"
        elif length >= self._config.server.resubmission_queue_length:
            reason = "delivery queue"
        if reason != self._waits_for:
            event = "resubmit-paused" if reason else "resubmit-resumed"
            fields = (("request_id", self.request.demand.request_id), ("count", length))
            named = (("reason", reason),) if reason else ()
            self._work.emit(LogLifecycle(event, (*fields, *named)))
        self._waits_for = reason
        return bool(reason)

    def _later(self, _reason: str) -> None:
        """The disk refused: everything since the last progress is done again."""
        self._position = self.request.progress
        self._work.again(COMMIT_RETRY_MS, self._next)

    def _page(self, page: SafetyNetRead) -> None:
        if not self._runs:
            self._is_under_way = False
            return
        if self._pressure.pauses_resubmission:
            self._next()
            return
        if page.copies:
            self._position = page.copies[-1].position

        def categorised(copies: Sequence[KeptCopy], found: tuple[Categorised, ...]) -> None:
            wanted = self._wanted(copies, found)
            if wanted:
                self._resubmit(wanted, self._position, page.more)
            else:
                self._after_page(page.more)

        self._categorise(page.copies, categorised)

    def _after_page(self, more: bool) -> None:
        if more or not self._runs:
            self._next()
        else:
            self._finish()

    def _wanted(
        self, copies: Sequence[KeptCopy], found: tuple[Categorised, ...]
    ) -> list[Resubmitted]:
        wanted = []
        for copy, categorised in zip(copies, found, strict=True):
            hop = NextHop.into(self.request.demand.destination)
            forks = categorised.forks
            recipients = next((fork.recipients for fork in forks if fork.next_hop == hop), ())
            # a copy whose stay is over may be gone from the disk by now
            is_there = copy.expires_ms is None or copy.expires_ms > self._work.now_ms
            if recipients and is_there:
                message = self._message(copy, recipients, categorised.size_bytes)
                wanted.append(Resubmitted(message, copy, categorised))
        return wanted

    def _categorise(self, copies: tuple[KeptCopy, ...], then: OfCopies) -> None:
        """For those whose mailbox is in the database now: primary copies as resolved and converted,
        shadow copies categorised anew (SN-8, SN-11, SN-17). What went to any other next hop has
        left (SN-12), also when that was another boundary of the organisation.
        """
        demand = self.request.demand
        if demand.source is SafetyNetSource.PRIMARY:
            delivered = [each for each in copies if each.next_hop and each.next_hop.database]
            then(delivered, tuple(map(self._as_resolved, delivered)))
            return
        asked = [each for each in copies if each.primary in (demand.primaries or (each.primary,))]
        self._categorizer.categorise(
            tuple(map(_as_received, asked)), lambda found: then(asked, found), self._later
        )

    def _as_resolved(self, copy: KeptCopy) -> Categorised:
        destination = self.request.demand.destination
        here = recipients_in(destination, copy, self._config.mailboxes)
        received, forks = _as_received(copy), (Fork(NextHop.into(destination), here),)
        return Categorised(forks, (), received, received.body, received.size_bytes)

    def _message(
        self, copy: KeptCopy, recipients: tuple[str, ...], size_bytes: int
    ) -> PrimaryMessage:
        demand = self.request.demand
        return PrimaryMessage(
            internal_id=self._identity.next_internal_id(),
            network_message_id=copy.network_message_id,
            header=copy.header,
            envelope=Envelope(copy.envelope.sender, recipients),
            size_bytes=size_bytes,
            received_ms=self._work.now_ms,
            shadow_server=None,
            forks=(Fork(NextHop.into(demand.destination), recipients),),
            resubmit_request=demand.request_id,
        )

    def _resubmit(self, wanted: list[Resubmitted], progress: Position, more: bool) -> None:
        count = len(wanted)
        changes: list[Change] = [
            InsertMessage(each.message, each.categorised.body) for each in wanted
        ]
        request_id = self.request.demand.request_id
        changes.append(AdvanceResubmitRequest(request_id, progress, count))

        def committed() -> None:
            resubmitted = self.request.resubmitted + count
            self.request = replace(self.request, progress=progress, resubmitted=resubmitted)
            self._send(wanted, more)

        self._work.commit(tuple(changes), committed, self._later)

    def _send(self, wanted: list[Resubmitted], more: bool) -> None:
        for each in wanted:
            received = each.categorised.before(each.message)
            self._work.emit(resubmitted_row(received, self.request.demand, each.copy))
            self._categorizer.log(each.message, each.categorised)
        self._not_redundant += len(wanted)
        page = Page(wanted, self._send_one, lambda: self._after_page(more))
        page.begin()
        if more and page.is_under_way:
            self._work.again(PAGE_WAIT_MS, page.hurry)

    def _send_one(self, message: PrimaryMessage, then: Then) -> None:
        def is_on_its_way() -> None:
            self._not_redundant -= 1
            then()

        self._send_anew(message, None, is_on_its_way)

    def _finish(self) -> None:
        if self.is_changing or self._not_redundant:
            self._work.again(LOOK_AGAIN_MS, self._next)
            return
        completed = TRANSITIONS[(self.request.state, ResubmitMove.FINISH)]
        self.change_state(completed, self._completed, self._later)

    def _completed(self) -> None:
        self._is_under_way = False
        demand = self.request.demand
        fields = (
            ("request_id", demand.request_id),
            ("safety_net", demand.source.value),
            ("database", demand.destination),
            ("resubmitted", self.request.resubmitted),
        )
        self._work.emit(LogLifecycle("resubmit-completed", fields))
