"""Making one message redundant: attempts at other servers until one holds a shadow copy (SR-1, SR-3
to SR-6).

Each attempt may use what is left of the time divided by the attempts left, so one silent server
cannot use up all, and a tenth is kept back for the answer to the sender. A shadow whose 250 was
lost is an orphan (SR-5): this part never learns of it, and its holder ends it by SM-6, SM-7 or
SN-2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from nodes.core.engine.waiting import Waiting
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.effects import ShadowRequest
from nodes.core.interface.inputs import TransmissionAnswered
from nodes.core.model.message import BodyHandle, PrimaryMessage
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease, Request


@dataclass(frozen=True, slots=True)
class Made:
    """A shadow copy stands on `server`, in its queue database of `database_id`; it said `reply`, at
    attempt number `attempts`. `silent`: the servers that had not answered in time.
    """

    server: str
    reply: str
    attempts: int
    database_id: str
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMade:
    """No shadow copy was confirmed; `reasons` has one entry an attempt, `server: reason`."""

    reasons: tuple[str, ...]

    @property
    def attempts(self) -> int:
        return len(self.reasons)


Outcome: TypeAlias = Made | NotMade


@dataclass(frozen=True, slots=True)
class Attempt(Waiting):
    """The session that attempt `number` needs."""

    making: ShadowMaking
    number: int

    def ready(self, lease: Lease) -> None:
        self.making.transmit(self.number, lease)

    def failed(self, reason: str) -> None:
        self.making.failed(self.number, reason)

    def __str__(self) -> str:
        return f"sends the shadow of message {self.making.message.internal_id} there"


@dataclass(frozen=True, slots=True)
class Offer(Waiting):
    """The answer of the server of attempt `number`."""

    making: ShadowMaking
    number: int
    lease: Lease

    def answered(self, answer: TransmissionAnswered) -> None:
        self.making.answered(self.number, self.lease, answer)

    def lost(self, reason: str) -> None:
        self.making.failed(self.number, reason)

    def __str__(self) -> str:
        return f"has a shadow of message {self.making.message.internal_id}, or tries another server"


@dataclass(frozen=True, slots=True)
class AttemptLimit(Waiting):
    making: ShadowMaking
    number: int

    def __call__(self) -> None:
        self.making.give_up(self.number)

    def __str__(self) -> str:
        internal_id = self.making.message.internal_id
        return f"tries another server for the shadow of message {internal_id}"


@dataclass(slots=True)
class ShadowMaking:
    """One message on its way to a shadow server. `start` it once; `done` is called once.

    `until_ms` is when the sender's session ends; `database_id` is this server's own, under which
    the shadow is kept.
    """

    work: Work
    sessions: Sessions
    primary: str
    database_id: str
    message: PrimaryMessage
    body: BodyHandle
    servers: tuple[str, ...]
    until_ms: int
    done: Callable[[Outcome], None]
    _reasons: list[str] = field(default_factory=list)
    _silent: list[str] = field(default_factory=list)
    _attempt: int = -1
    _request: Request | None = None
    _lease: Lease | None = None
    _timer: Timer | None = None

    def start(self) -> None:
        self._next_attempt()

    def _next_attempt(self) -> None:
        self._attempt += 1
        number = self._attempt
        if number >= len(self.servers):
            self.done(NotMade(tuple(self._reasons)))
            return
        self._lease = None
        share_ms = self._share_ms(len(self.servers) - number)
        self._timer = self.work.at(self.work.now_ms + share_ms, AttemptLimit(self, number))
        attempt, server = Attempt(self, number), self.servers[number]
        request = self.sessions.request(server, "shadowredundancy", attempt.ready, attempt.failed)
        if self._attempt == number and self._lease is None:
            self._request = request

    def _share_ms(self, attempts_left: int) -> int:
        left_ms = max(0, self.until_ms - self.work.now_ms)
        return max(1, left_ms * 9 // (10 * attempts_left))

    def transmit(self, number: int, lease: Lease) -> None:
        self._request = None
        if not lease.offers_shadow:
            lease.release()
            self.failed(number, "XSHADOWREQUEST is not offered")
            return
        self._lease = lease
        message, offer = self.message, Offer(self, number, lease)
        lease.transmit(
            ShadowRequest(
                self.primary,
                self.database_id,
                message.internal_id,
                message.network_message_id,
                message.resubmit_request,
            ),
            message.envelope,
            self.body,
            offer.answered,
            offer.lost,
        )

    def answered(self, number: int, lease: Lease, answer: TransmissionAnswered) -> None:
        lease.release()
        if answer.code != 250:
            self.failed(number, f"{answer.code} {answer.text}")
            return
        self._stop_timer()
        reply, database_id = f"{answer.code} {answer.text}", lease.session.database_id
        server, silent = self.servers[number], tuple(dict.fromkeys(self._silent))
        self.done(Made(server, reply, number + 1, database_id, silent))

    def give_up(self, number: int) -> None:
        """The attempt's share of the time is over."""
        request, lease = self._request, self._lease
        self._request = self._lease = None
        if request is not None:
            request.cancel()
        if lease is not None:
            lease.hang_up()
        self._silent.append(self.servers[number])
        self.failed(number, "no answer in its share of the session")

    def failed(self, number: int, reason: str) -> None:
        if number != self._attempt:
            return
        self._stop_timer()
        self._request = None
        self._reasons.append(f"{self.servers[number]}: {reason}")
        self._next_attempt()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
