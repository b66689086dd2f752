"""An inbound session of a simulated front end, as `nodes.shell.smtp.front_end_connection`: every
command is its core's to answer, and the answer comes later.
"""

from collections.abc import Generator
from typing import TypeAlias

from lab.hosts.simulator.connection import Connection
from lab.hosts.simulator.smtp.inbound import SimulatedInboundSession, SimulatedInboundSessions
from lab.hosts.simulator.smtp.steps import Announced, Announcement
from nodes.core.interface.inputs import (
    Input,
    OutboxRequested,
    RecipientOffered,
    SenderOffered,
    TransactionReset,
)
from nodes.core.interface.replies import Reply
from nodes.core.model.outbox import IntoOutbox

Commands: TypeAlias = Generator[Input, Reply, Announced]


class SimulatedFrontEndSession(SimulatedInboundSession):
    """What a client announces is said to the core command by command."""

    __slots__ = ("_commands",)

    def __init__(
        self, sessions: SimulatedInboundSessions, name: str, connection: Connection
    ) -> None:
        super().__init__(sessions, name, connection)
        self._commands: Commands | None = None

    def announced(self, said: Announcement) -> None:
        if said.resets:
            self._sessions.server.give(TransactionReset(self.name))
        self._commands = self._said_one_by_one(said)
        self._sessions.server.give(next(self._commands))

    def answer(self, reply: Reply) -> None:
        if self._commands is None:
            super().answer(reply)
            return
        try:
            following = self._commands.send(reply)
        except StopIteration as end:
            self._commands = None
            self.connection.say(end.value, forward=False)
        else:
            self._sessions.server.give(following)

    def _said_one_by_one(self, said: Announcement) -> Commands:
        if isinstance(said.prologue, IntoOutbox):
            reply = yield OutboxRequested(self.name, said.prologue.database)
            if reply.code != 250:
                return Announced(reply, ())
        reply = yield SenderOffered(self.name, said.envelope.sender)
        if reply.code != 250:
            return Announced(reply, ())
        refused = []
        for address in said.envelope.recipients:
            reply = yield RecipientOffered(self.name, address)
            if reply.code != 250:
                refused.append((address, reply.code, " ".join(reply.lines)))
        is_pointless = len(refused) == len(said.envelope.recipients)
        return Announced(reply if is_pointless else None, tuple(refused))
