"""One client session of a front end, and the session behind it to a mailbox server (TP-7).

What the client says is passed on command by command, and what it hears is what the server behind
said. Until the message itself is on its way nothing is accepted: where the server does not answer,
the next one is chosen and hears the same commands again. From then on there is one answer, or its
loss, which the client hears as a refusal: it sends again, and mailboxes hide the second copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.effects import (
    DropBody,
    LogConnectivity,
    MailFrom,
    PassedCommand,
)
from nodes.core.interface.inputs import MessageOffered, PassedCommandAnswered, TransmissionAnswered
from nodes.core.interface.replies import (
    R451_NO_SERVER,
    R451_SERVER_LOST,
    R503_BAD_SEQUENCE,
    Reply,
)
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease, Request

PURPOSE = "inboundproxy"
SERVICE_CLOSING = 421


class MailboxServers:
    """Those of the site, each transaction beginning with the next one."""

    def __init__(self, config: NodeConfig) -> None:
        site = config.me.site
        servers = [s.name for s in config.servers if s.role == "mailbox" and s.site == site]
        self._servers = sorted(servers)
        self._turn = 0
        # the client hears that none answers before it has waited for ConnectionInactivityTimeout
        self.patience_ms = config.server.receive_inactivity_timeout_ms // (len(servers) + 1)

    def in_turn(self) -> Iterator[str]:
        turn, self._turn = self._turn, (self._turn + 1) % max(1, len(self._servers))
        return iter(self._servers[turn:] + self._servers[:turn])


class ProxiedSession:
    """`servers` are those of its site; `outbound` opens the sessions behind."""

    def __init__(
        self, client: InboundSession, work: Work, outbound: Sessions, servers: MailboxServers
    ) -> None:
        self._client, self._work = client, work
        self._outbound, self._servers = outbound, servers
        self._left: Iterator[str] = iter(())
        self._commands: list[PassedCommand] = []
        self._heard = 0  # how many of them the server behind has taken
        self._content: MessageOffered | None = None
        self._request: Request | None = None
        self._lease: Lease | None = None
        self._timer: Timer | None = None

    def command_offered(self, command: PassedCommand) -> None:
        self._client.active()
        if isinstance(command, MailFrom):
            self.reset()
            self._left = self._servers.in_turn()
        elif not self._commands:
            self._client.reply(R503_BAD_SEQUENCE)
            return
        self._commands.append(command)
        self._go_on()

    def message_offered(self, offered: MessageOffered) -> None:
        self._client.active()
        moved = self._client.may(InboundMove.OFFER)
        assert moved, "offered a message while another one awaits its answer"
        self._content = offered
        self._go_on()

    def reset(self) -> None:
        """What the server behind has taken of a transaction is void with its session."""
        if self._heard:
            self._leave()
        self._commands.clear()

    def closed(self) -> None:
        """The client is gone: so is the session behind, whatever is under way in it."""
        self._leave()
        if self._content is not None:
            self._work.emit(DropBody(self._content.body))

    def _go_on(self) -> None:
        if self._lease is not None and not self._lease.is_open:
            # its time was over between two commands, which makes it no worse than others
            self._left = chain((self._lease.peer,), self._left)
            self._leave()
        if self._lease is None:
            self._choose()
        elif self._heard < len(self._commands):
            command = self._commands[self._heard]
            self._lease.pass_command(command, self._command_answered, self._lost)
            self._wait(anew=False)
        elif self._content is not None:
            self._stop_waiting()
            envelope, body = self._content.envelope, self._content.body
            self._lease.pass_message(envelope, body, self._message_answered, self._message_lost)

    def _choose(self) -> None:
        server = next(self._left, None)
        if server is None:
            self._give_up()
            return
        self._request = self._outbound.request(
            server, PURPOSE, self._stands, self._lost, opens=True
        )
        self._wait(anew=True)

    def _stands(self, lease: Lease) -> None:
        self._lease = lease
        self._go_on()

    def _lost(self, _reason: str) -> None:
        """Nothing was accepted: another server is as good."""
        self._leave()
        self._choose()

    def _command_answered(self, answer: PassedCommandAnswered) -> None:
        is_new = self._heard == len(self._commands) - 1 and self._content is None
        if answer.code < 400:
            self._heard += 1
        if is_new and answer.code != SERVICE_CLOSING:
            self._answer_command(Reply(answer.code, (answer.text,)))
        elif answer.code < 400:
            self._go_on()
        else:  # it ends the session, or refuses what another server took
            self._lost(answer.text)

    def _answer_command(self, reply: Reply) -> None:
        self._stop_waiting()
        if reply.code >= 400:
            self._commands.pop()
        self._client.reply(reply)

    def _message_answered(self, answer: TransmissionAnswered) -> None:
        self._log(f"{answer.code} {answer.text}")
        is_over = answer.code == SERVICE_CLOSING
        self._finish(R451_SERVER_LOST if is_over else Reply(answer.code, (answer.text,)))

    def _message_lost(self, reason: str) -> None:
        self._log(reason)
        self._leave()
        self._finish(R451_SERVER_LOST)

    def _give_up(self) -> None:
        """No server of the site answers."""
        if self._content is not None:
            self._finish(R451_NO_SERVER)
        else:
            self._answer_command(R451_NO_SERVER)

    def _finish(self, reply: Reply) -> None:
        assert self._content is not None
        self._work.emit(DropBody(self._content.body))
        self._content, self._heard = None, 0
        self._commands.clear()
        self._client.answer_message(reply)

    def _leave(self) -> None:
        """The session behind, or the wish for one, ends; nobody hears of it."""
        self._stop_waiting()
        lease, request, self._heard = self._lease, self._request, 0
        self._lease = self._request = None
        if lease is not None:
            lease.hang_up()
        elif request is not None:
            request.cancel()

    def _wait(self, *, anew: bool) -> None:
        """A server has so long for one command of the client, with all that it hears before it."""
        if self._timer is not None and not anew:
            return
        self._stop_waiting()
        due_ms = self._work.now_ms + self._servers.patience_ms
        self._timer = self._work.at(due_ms, self._gave_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _gave_up(self) -> None:
        assert self._request is not None
        self._outbound.give_up(self._request, "another mailbox server is chosen")

    def _log(self, said: str) -> None:
        """Which message the session behind carried, and what the server said of it."""
        assert self._lease is not None
        assert self._content is not None
        session, message_id = self._lease.session, self._content.header.message_id
        row = LogConnectivity(session.name, session.peer, ">", f"Passed {message_id}: {said}")
        self._work.emit(row)
