"""Inbound sessions of Active Manager: servers of the organisation may ask, nobody may send mail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from nodes.core.config import NodeConfig
from nodes.core.effects import CloseSession
from nodes.core.inbound_session import InboundSession
from nodes.core.inputs import PeerAuthenticated, SessionAccepted
from nodes.core.replies import R421_STOPPING, R550_NOT_ALLOWED
from nodes.core.work import Work

_ORGANISATION = frozenset({"mailbox", "active_manager"})

Use: TypeAlias = Callable[[InboundSession], None]


class ManagerSessions:
    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._config = config
        self._work = work
        self._sessions: dict[str, InboundSession] = {}
        self._is_stopping = False

    def accepted(self, happened: SessionAccepted) -> None:
        if self._is_stopping:
            self._work.emit(CloseSession(happened.session, R421_STOPPING))
            return
        session = InboundSession(
            happened.session, happened.client_address, self._config.server, self._work
        )
        self._sessions[session.name] = session

    def authenticated(self, happened: PeerAuthenticated) -> None:
        server = self._config.server_named(happened.peer)
        session = self._sessions.get(happened.session)
        if session is not None and server is not None and server.role in _ORGANISATION:
            session.peer = server.name

    def heard(self, name: str, use: Use) -> None:
        """What a server of the organisation asks; anyone else is refused (TL-6)."""
        session = self._sessions.get(name)
        if session is not None and session.peer is None:
            session.reply(R550_NOT_ALLOWED)
        elif session is not None:
            use(session)

    def anybody(self, name: str, use: Use) -> None:
        session = self._sessions.get(name)
        if session is not None:
            use(session)

    def active(self, name: str) -> None:
        self.anybody(name, lambda session: session.active())

    def reset(self, name: str) -> None:
        self.anybody(name, lambda session: session.active())

    def lost(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.lost()

    def stop(self) -> None:
        self._is_stopping = True
