"""The sessions of whoever called this server: from the connection to its loss, and who it is.

What may be said in one is for those who listen. Anyone may be connected; some verbs are for servers
of the organisation alone (TL-6), who are known by their certificates.

Exchange refuses a connection beyond MaxConnectionRatePerMinute before its banner, whoever it is
(F§3.2). Who it is, is known only once it is in, and no stranger keeps servers of the organisation
out. So here it counts, and may be refused, once it says what a client says: a sender or a
recipient. Whoever submits from a mailbox is no client of a Receive connector.
"""

from __future__ import annotations

from nodes.core.config.config import TRUSTED_ROLES, NodeConfig
from nodes.core.engine.work import Work
from nodes.core.interface.effects import CloseSession
from nodes.core.interface.inputs import PeerAuthenticated, SessionAccepted
from nodes.core.interface.replies import (
    R421_CONNECTION_RATE,
    R421_STOPPING,
    R550_NOT_ALLOWED,
)
from nodes.core.model.outbox import IntoOutbox
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove
from nodes.core.sessions.rate import RatePerMinute
from nodes.core.sessions.room import gives_way


class InboundSessions:
    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._config = config
        self._work = work
        self._sessions: dict[str, InboundSession] = {}
        self._is_stopping = False
        self._rate = RatePerMinute(config.server.max_connection_rate_per_minute)

    def begin(self) -> None:
        """The process begins."""
        self._rate.begin(self._work.now_ms)

    def accepted(self, happened: SessionAccepted) -> None:
        if self._is_stopping:
            self._work.emit(CloseSession(happened.session, R421_STOPPING))
            return
        session = InboundSession(
            happened.session, happened.client_address, self._config.server, self._work
        )
        self._sessions[session.name] = session
        one_too_many = gives_way(self._config.server.limits, self._sessions.values(), session)
        if one_too_many is not None:
            other, reply = one_too_many
            other.send_away(reply)

    def lets_in(self, session: InboundSession) -> bool:
        """Whether one that says a sender or a recipient may stay. It is sent away where it is one
        of too many in a minute.
        """
        is_of_outbox = isinstance(session.announced, IntoOutbox)
        if session.is_let_in or session.is_lost or session.peer is not None or is_of_outbox:
            return True
        session.is_let_in = self._rate.lets_through("", self._work.now_ms)
        if not session.is_let_in:
            session.send_away(R421_CONNECTION_RATE)
        return session.is_let_in

    def authenticated(self, happened: PeerAuthenticated) -> None:
        server = self._config.server_named(happened.peer)
        session = self._sessions.get(happened.session)
        if session is not None and server is not None and server.role in TRUSTED_ROLES:
            session.peer = server.name

    def named(self, name: str) -> InboundSession | None:
        """None once it is lost."""
        return self._sessions.get(name)

    def of_a_server(self, name: str) -> InboundSession | None:
        """The session of a server of the organisation; anyone else is refused (TL-6)."""
        session = self._sessions.get(name)
        if session is not None and session.peer is None:
            session.reply(R550_NOT_ALLOWED)
            return None
        return session

    def active(self, name: str) -> None:
        session = self._sessions.get(name)
        if session is not None:
            session.active()

    def reset(self, name: str) -> None:
        session = self._sessions.get(name)
        if session is not None:
            session.active()
            session.may(InboundMove.RESET)

    def not_understood(self, name: str) -> None:
        session = self._sessions.get(name)
        if session is not None:
            session.not_understood()

    def lost(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.lost()

    def stop(self) -> None:
        """Nobody new is let in."""
        self._is_stopping = True
