"""Outbound sessions: opened, pooled, reused, given up (design decision 11).

Somebody who wants to contact a peer asks for a `Lease`; an idle session is reused, else a new one
is opened, up to the limit per peer, and that of Transport in all (MaxOutboundConnections). Every
wait for the peer has one deadline, ConnectionInactivityTimeOut of the Send connector, put off while
bytes of a message pass (SR-6). A session is retired after
IntraOrgConnectorSmtpMaxMessagesPerConnection messages, after `AGE_LIMIT_MS`, and when it was idle
for `IDLE_LIMIT_MS`; earlier where the peer's Receive connector ends sessions earlier, so that it
does not just when something is said on one. Each service of a peer (smtp, replication, management)
has a pool of its own. A request that `opens` has a session apart from the pool and its limit, which
ends with the lease: it neither waits for mail nor keeps mail waiting. This part does not know what
is sent, nor why.

SM-2, "asks in every session it opens, whatever for", hangs here: each newly opened session, of
whatever service, is reported before anybody else gets it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.engine.awaited import answer_of
from nodes.core.engine.waiting import Wait, Waiting, ends_ms, then_of
from nodes.core.engine.work import Because, Work
from nodes.core.interface.effects import HangUp, LogConnectivity, OpenSession
from nodes.core.interface.inputs import (
    DiscardAnswered,
    PassedCommandAnswered,
    SessionOpened,
    TransmissionAnswered,
)
from nodes.core.sessions.outbound_session import (
    CopyAnswer,
    Lease,
    Ready,
    Request,
    ResubmitAnswer,
    Session,
)
from nodes.core.sessions.outbound_states import SessionMove, SessionState, after

SMTP = "smtp"
AGE_LIMIT_MS = 5 * 60_000
IDLE_LIMIT_MS = 60_000
# of ConnectionTimeout and ConnectionInactivityTimeout, whose defaults make the limits above of it
AGE_SHARE, IDLE_SHARE = 2, 5

Answer: TypeAlias = (
    TransmissionAnswered | PassedCommandAnswered | DiscardAnswered | ResubmitAnswer | CopyAnswer
)
_AWAITING = {
    TransmissionAnswered: SessionState.TRANSMITTING,
    DiscardAnswered: SessionState.ASKING,
}


@dataclass(frozen=True, slots=True)
class PeerReached:
    """A session stands. Whoever asks in it at once has it first, and hands it over then."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class SessionLimit(Waiting):
    """A session is given up: the peer said nothing for too long, or nobody used it."""

    session: Session
    give_up: Callable[[Session], None]

    def __call__(self) -> None:
        self.give_up(self.session)

    def __str__(self) -> str:
        return f"hangs up {self.session.name} to {self.session.peer}, which is idle"

    @property
    def is_limit(self) -> bool:
        return self.session.state is not SessionState.IDLE


@dataclass(slots=True)
class Peer:
    """What is going on with one service of one other server."""

    idle: list[Session] = field(default_factory=list)
    open_count: int = 0
    waiting: deque[Request] = field(default_factory=deque)


class Sessions:
    """All outbound sessions of a node."""

    def __init__(self, config: NodeConfig, work: Work) -> None:
        self.work = work
        self._config = config.server
        self._most_open = config.server.max_outbound_connections_per_peer
        self._most_in_all = config.server.max_outbound_connections
        self._open_in_all = 0
        self._ends = {server.name: server.receive_connector for server in config.servers}
        self._peers: dict[tuple[str, str], Peer] = {}
        self._sessions: dict[str, Session] = {}
        self._count = 0

    def request(
        self,
        peer: str,
        purpose: str,
        ready: Ready,
        failed: Because,
        service: str = SMTP,
        *,
        opens: bool = False,
    ) -> Request:
        """Ask for a session; `ready(lease)` or `failed(reason)` follows, unless the request is
        cancelled first. `opens`: one apart, since an idle one may have been dead for long.
        """
        wish = Request(peer, service, purpose, ready, failed, self, self.work.now_ms)
        state = self._peers.setdefault((peer, service), Peer())
        if opens:
            self._open(wish, is_apart=True)
        elif state.idle:
            self._grant(wish, state.idle.pop())
        elif state.open_count < self._most_open and self._has_room(service):
            self._open(wish)
        else:
            state.waiting.append(wish)
        return wish

    def _has_room(self, service: str) -> bool:
        """Whether Transport may open one more; an idle session to another server makes room."""
        if service != SMTP or self._open_in_all < self._most_in_all:
            return True
        idle = [session for state in self._peers.values() for session in state.idle]
        spare = next((each for each in idle if each.service == SMTP), None)
        if spare is None:
            return False
        self.hang_up(spare)
        return self._open_in_all < self._most_in_all

    @property
    def begun(self) -> int:
        """How many sessions were begun so far: later ones have higher numbers."""
        return self._count

    def give_up(self, wish: Request, reason: str) -> None:
        """Hang up what a request has become: for whoever waits it is lost."""
        if wish.session is not None and wish.session.state is not SessionState.CLOSED:
            self.work.emit(HangUp(wish.session.name))
            self._lost(wish.session, reason)

    def hang_up_idle(self) -> None:
        for state in self._peers.values():
            for session in list(state.idle):
                self.hang_up(session)

    def opened(self, happened: SessionOpened) -> None:
        session = self._sessions.get(happened.session)
        if session is None:
            return
        self._move(session, SessionMove.OPENED)
        session.offers_shadow = happened.offers_shadow
        session.database_id = happened.database_id
        self._log(session, ">", "Established connection")
        self.work.report(PeerReached(Lease(session, self)))
        if session.state is SessionState.IDLE:
            self._hand_over(session)

    def failed(self, name: str, reason: str) -> None:
        session = self._sessions.get(name)
        if session is not None:
            self._lost(session, reason)

    def answered(self, happened: Answer) -> None:
        """Final answer to what the session awaits; any other comes too late."""
        session = self._sessions.get(happened.session)
        awaits = _AWAITING.get(type(happened), SessionState.REQUESTING)
        if session is None or session.state is not awaits:
            return
        awaited = session.awaited
        self._move(session, SessionMove.ANSWERED)
        self._clear_timer(session)
        session.awaited = None
        assert awaited is not None
        awaited.answered(happened)

    def active(self, name: str) -> None:
        """The peer takes what is transmitted, however slowly."""
        session = self._sessions.get(name)
        if session is not None and session.state is SessionState.TRANSMITTING:
            self._await_peer(session)

    def discards_refused(self, name: str, code: int, text: str) -> None:
        """The peer refuses to answer. The session is of no further use: hang up, then notify who
        waited.
        """
        session = self._sessions.get(name)
        if session is not None and session.state is SessionState.ASKING:
            self.work.emit(HangUp(name))
            self._lost(session, f"{code} {text}")

    def waits(self) -> Iterator[Wait]:
        """Answers of peers and sessions that are being opened, in the order of sessions; then
        requests without one.
        """
        for session in self._sessions.values():
            yield from _waits_of(session)
        for state in self._peers.values():
            for wish in (wish for wish in state.waiting if not wish.over):
                awaited = f"a session to {wish.peer} to be free ({wish.purpose})"
                until_ms = ends_ms(wish.ready, None)
                yield Wait(awaited, then_of(wish.ready), wish.asked_ms, until_ms)

    def use(self, session: Session, move: SessionMove) -> None:
        self._move(session, move)
        self._await_peer(session)

    def release(self, session: Session) -> None:
        """Back to the pool, to the next one waiting, or out of service."""
        if session.state is SessionState.CLOSED:
            return
        assert session.state is SessionState.IDLE, "released a session that awaits an answer"
        state = self._pool(session)
        if session.is_apart or self._is_spent(session):
            self.hang_up(session)
        elif (wish := self._next_waiting(state)) is not None:
            self._grant(wish, session)
        elif (wish := self._next_elsewhere(session.service)) is not None:
            self._pool(wish).waiting.appendleft(wish)
            self.hang_up(session)
        else:
            session.request = None
            state.idle.append(session)
            self._set_timer(session, self._idle_limit_ms(session), self.hang_up)

    def hang_up(self, session: Session) -> None:
        if session.state is not SessionState.CLOSED:
            self.work.emit(HangUp(session.name))
            self._log(session, "-", f"Messages: {session.messages}")
            self._forget(session)

    def hand_over(self, lease: Lease) -> None:
        """The question asked first is answered: now whoever the session was opened for gets it."""
        self._hand_over(lease.session)

    def withdraw(self, wish: Request) -> None:
        if wish.session is not None:
            self.hang_up(wish.session)

    def _open(self, wish: Request, *, is_apart: bool = False) -> None:
        self._count += 1
        name, now_ms = f"out-{self._count}", self.work.now_ms
        session = Session(
            name, self._count, wish.peer, wish.service, now_ms, is_apart, request=wish
        )
        wish.session = session
        self._sessions[session.name] = session
        if not is_apart:
            self._pool(session).open_count += 1
            self._open_in_all += wish.service == SMTP
        self._await_peer(session)
        destination = wish.purpose if wish.purpose == "shadowredundancy" else wish.peer
        self.work.emit(LogConnectivity(session.name, destination, "+", wish.purpose))
        self.work.emit(OpenSession(session.name, wish.peer, wish.purpose, wish.service))

    def _pool(self, of: Session | Request) -> Peer:
        return self._peers[(of.peer, of.service)]

    def _grant(self, wish: Request, session: Session) -> None:
        wish.session = session
        session.request = wish
        self._clear_timer(session)
        self._hand_over(session)

    def _hand_over(self, session: Session) -> None:
        wish = session.request
        self._clear_timer(session)
        if wish is None or wish.over:
            self.release(session)
            return
        wish.over = True
        wish.ready(Lease(session, self))

    def _timed_out(self, session: Session) -> None:
        self.work.emit(HangUp(session.name))
        self._lost(session, "ConnectionInactivityTimeOut")

    def _lost(self, session: Session, reason: str) -> None:
        """Notify whoever waited: for the answer if there is one awaited, for the session if it was
        still being opened.
        """
        awaited, wish = session.awaited, session.request
        self._log(session, "-", f"Messages: {session.messages} (Retry : {reason})")
        self._forget(session)
        if awaited is not None:
            awaited.lost(reason)
        if wish is not None and not wish.over:
            wish.over = True
            wish.failed(reason)

    def _forget(self, session: Session) -> None:
        self._move(session, SessionMove.CLOSE)
        self._clear_timer(session)
        session.awaited = None
        del self._sessions[session.name]
        if session.is_apart:
            return
        state = self._pool(session)
        state.open_count -= 1
        self._open_in_all -= session.service == SMTP
        if session in state.idle:
            state.idle.remove(session)
        wish = self._next_waiting(state) or self._next_elsewhere(session.service)
        if wish is not None:
            self._open(wish)

    def _next_waiting(self, state: Peer) -> Request | None:
        while state.waiting:
            wish = state.waiting.popleft()
            if not wish.over:
                return wish
        return None

    def _next_elsewhere(self, service: str) -> Request | None:
        """Who waits for a session to another server only since there are MaxOutboundConnections."""
        pools = [state for (_, kind), state in self._peers.items() if kind == service]
        others = (state for state in pools if state.open_count < self._most_open)
        return next(filter(None, map(self._next_waiting, others)), None)

    def _is_spent(self, session: Session) -> bool:
        limit = self._config.max_messages_per_connection
        ends_ms = self._ends[session.peer].connection_timeout_ms
        too_old = self.work.now_ms - session.opened_ms >= min(AGE_LIMIT_MS, ends_ms // AGE_SHARE)
        return too_old or (limit > 0 and session.messages >= limit)

    def _idle_limit_ms(self, session: Session) -> int:
        return min(IDLE_LIMIT_MS, self._ends[session.peer].inactivity_timeout_ms // IDLE_SHARE)

    def _move(self, session: Session, move: SessionMove) -> None:
        session.state = after(session.state, move)

    def _await_peer(self, session: Session) -> None:
        self._set_timer(session, self._config.send_inactivity_timeout_ms, self._timed_out)

    def _set_timer(self, session: Session, wait_ms: int, action: Callable[[Session], None]) -> None:
        self._clear_timer(session)
        session.timer = self.work.at(self.work.now_ms + wait_ms, SessionLimit(session, action))

    def _clear_timer(self, session: Session) -> None:
        if session.timer is not None:
            session.timer.cancel()
            session.timer = None

    def _log(self, session: Session, direction: str, description: str) -> None:
        self.work.emit(LogConnectivity(session.name, session.peer, direction, description))


def _waits_of(session: Session) -> Iterator[Wait]:
    """The session is idle where it waits for nothing."""
    limit_ms = None if session.timer is None else session.timer.due_ms
    awaited, wish = session.awaited, session.request
    if awaited is not None:
        until_ms = ends_ms(awaited.answered, limit_ms)
        question = answer_of(session.peer, awaited.effect)
        yield Wait(question, then_of(awaited.answered), awaited.asked_ms, until_ms)
    elif wish is not None and not wish.over:
        until_ms = ends_ms(wish.ready, limit_ms)
        opened = f"session {session.name} to {session.peer} to open ({wish.purpose})"
        yield Wait(opened, then_of(wish.ready), session.opened_ms, until_ms)
