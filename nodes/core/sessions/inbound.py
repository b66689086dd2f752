"""The sessions of whoever called this server: from the connection to its loss, and who it is.

What may be said in one is for those who listen. Anyone may be connected; some verbs are for servers
of the organisation alone (TL-6), who are known by their certificates. Where an administrator has
taken ExchangeServer out of the AuthMechanism of the Receive connector, no other server is: each one
that shows who it is hears 454 4.7.0 and is sent away (LogonDenied). Whoever was let in before
stays, and so does the administrator, who is this server itself.

Exchange refuses a connection beyond MaxConnectionRatePerMinute before its banner, whoever it is
(F§3.2). Who it is, is known only once it is in, and no stranger keeps servers of the organisation
out. So here it counts, and may be refused, once it says what a client says: a sender or a
recipient. Whoever submits from a mailbox is no client of a Receive connector.
"""

from __future__ import annotations

from nodes.core.config.config import TRUSTED_ROLES, NodeConfig
from nodes.core.engine.work import Work
from nodes.core.interface.effects import CloseSession, LogLifecycle
from nodes.core.interface.inputs import DirectoryRead, PeerAuthenticated, SessionAccepted
from nodes.core.interface.replies import (
    R421_CONNECTION_RATE,
    R421_STOPPING,
    R454_LOGON_DENIED,
    R550_NOT_ALLOWED,
)
from nodes.core.model.outbox import IntoOutbox
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove
from nodes.core.sessions.rate import RatePerMinute
from nodes.core.sessions.room import gives_way

TLS, EXCHANGE_SERVER = "Tls", "ExchangeServer"


class InboundSessions:
    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._config = config
        self._work = work
        self._sessions: dict[str, InboundSession] = {}
        self._is_stopping = False
        self._rate = RatePerMinute(config.server.max_connection_rate_per_minute)
        self.authenticates = True

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
        if session is None or server is None or server.role not in TRUSTED_ROLES:
            return
        if self.authenticates or server.name == self._config.me.name:
            session.peer = server.name
        else:
            session.send_away(R454_LOGON_DENIED)

    def read(self, happened: DirectoryRead) -> None:
        """The AuthMechanism of the Receive connector, as Active Directory has it."""
        did, does = self.authenticates, self._config.me.name not in happened.not_authenticating
        self.authenticates = does
        if did is not does:
            before, after = (TLS, EXCHANGE_SERVER) if does else (EXCHANGE_SERVER, TLS)
            fields = (("resource", "AuthMechanism"), ("from", before), ("to", after))
            self._work.emit(LogLifecycle("receive-connector", fields))

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
