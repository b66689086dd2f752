"""Front End Transport: the core of a server that passes sessions from outside on to the Transport
service of a mailbox server of its site (TP-7; 2013's Client Access server). The same one door as a
transport node's (`nodes.core.node`).

    front_end = FrontEnd(config)
    effects = front_end.handle(SenderOffered(…), now_ms)
    wake_at = front_end.next_deadline_ms()

It keeps nothing: no queue, no database, no message longer than its client waits for the answer. It
accepts nothing itself, so its death loses nothing. It has no right of its own and gives none: to
every verb of the organisation it says no, whoever asks (TL-6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.core.config.config import NodeConfig
from nodes.core.engine.one_door import OneDoor
from nodes.core.engine.waiting import Waits
from nodes.core.engine.work import Work
from nodes.core.interface import inputs
from nodes.core.interface.effects import DropBody, MailFrom, RecipientTo
from nodes.core.interface.replies import R550_NOT_ALLOWED
from nodes.core.receiving.limits import recipient_refusal
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.outbound import PeerReached, Sessions
from nodes.core.sessions.proxied import MailboxServers, ProxiedSession


class FrontEnd(OneDoor):
    """A server of role `frontend`. Give it `FrontEndStarted` before anything from a session."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._work = Work(self._report)
        self._inbound = InboundSessions(config, self._work)
        self._outbound = Sessions(config, self._work)
        self._servers = MailboxServers(config)
        self._proxied: dict[str, ProxiedSession] = {}
        self._handlers = self._dispatch_table()

    def _parts_waiting(self) -> tuple[Waits, ...]:
        return (self._outbound,)

    def _hear(self, happened: inputs.Input) -> None:
        self._handlers.get(type(happened), self._not_mine)(happened)

    def _report(self, event: object) -> None:
        """That a server was reached is nobody's news here."""
        assert isinstance(event, PeerReached)

    def _dispatch_table(self) -> dict[type, Callable[[Any], None]]:
        inbound, outbound = self._inbound, self._outbound
        return {
            inputs.FrontEndStarted: lambda h: inbound.begin(),
            inputs.SessionAccepted: self._accepted,
            inputs.PeerAuthenticated: lambda h: None,
            inputs.SenderOffered: self._sender_offered,
            inputs.RecipientOffered: self._recipient_offered,
            inputs.CommandNotUnderstood: lambda h: inbound.not_understood(h.session),
            inputs.MessageOffered: self._message_offered,
            inputs.TransactionReset: self._reset,
            inputs.SessionActive: lambda h: inbound.active(h.session),
            inputs.ConnectionLost: self._connection_lost,
            inputs.SessionOpened: outbound.opened,
            inputs.SessionFailed: lambda h: outbound.failed(h.session, h.reason),
            inputs.PassedCommandAnswered: outbound.answered,
            inputs.TransmissionActive: lambda h: outbound.active(h.session),
            inputs.TransmissionAnswered: outbound.answered,
            inputs.SessionLost: lambda h: outbound.failed(h.session, h.reason),
            inputs.DeadlineReached: lambda h: self._work.run_due(),
            inputs.StopRequested: lambda h: inbound.stop(),
        }

    def _accepted(self, happened: inputs.SessionAccepted) -> None:
        self._inbound.accepted(happened)
        client = self._inbound.named(happened.session)
        if client is not None:
            proxied = ProxiedSession(client, self._work, self._outbound, self._servers)
            self._proxied[client.name] = proxied

    def _command_offered(
        self,
        happened: inputs.SenderOffered | inputs.RecipientOffered,
        command: MailFrom | RecipientTo,
    ) -> None:
        if happened.session in self._proxied:
            self._proxied[happened.session].command_offered(command)

    def _sender_offered(self, happened: inputs.SenderOffered) -> None:
        client = self._inbound.named(happened.session)
        if client is None or self._inbound.lets_in(client):
            self._command_offered(happened, MailFrom(happened.address))

    def _recipient_offered(self, happened: inputs.RecipientOffered) -> None:
        refusal = recipient_refusal(self._config, None, happened)
        client = self._inbound.named(happened.session)
        if refusal is not None and client is not None:
            client.reply(refusal)
        else:
            self._command_offered(happened, RecipientTo(happened.address))

    def _message_offered(self, happened: inputs.MessageOffered) -> None:
        if happened.session in self._proxied:
            self._proxied[happened.session].message_offered(happened)
        else:
            self._work.emit(DropBody(happened.body))

    def _reset(self, happened: inputs.TransactionReset) -> None:
        self._inbound.reset(happened.session)
        if happened.session in self._proxied:
            self._proxied[happened.session].reset()

    def _connection_lost(self, happened: inputs.ConnectionLost) -> None:
        self._inbound.lost(happened.session)
        proxied = self._proxied.pop(happened.session, None)
        if proxied is not None:
            proxied.closed()

    def _not_mine(self, happened: inputs.Input) -> None:
        """A verb of the organisation: every one of them awaits an answer."""
        session = self._inbound.named(getattr(happened, "session", ""))
        if session is not None:
            session.reply(R550_NOT_ALLOWED)
