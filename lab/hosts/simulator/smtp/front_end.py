"""An inbound session of a simulated front end, as `nodes.shell.smtp.front_end_connection`: MAIL is
its core's to answer too, and every answer comes later.
"""

from lab.hosts.simulator.smtp.inbound import Commands, SimulatedInboundSession
from lab.hosts.simulator.smtp.steps import Announced, Announcement
from nodes.core.interface.effects import MailFrom
from nodes.core.interface.inputs import OutboxRequested, SenderOffered
from nodes.core.model.outbox import IntoOutbox


class SimulatedFrontEndSession(SimulatedInboundSession):
    """What a client announces is said to the core command by command."""

    __slots__ = ()

    def said_one_by_one(self, said: Announcement) -> Commands:
        if isinstance(said.prologue, IntoOutbox):
            reply = yield OutboxRequested(self.name, said.prologue.database)
            if reply.code != 250:
                return Announced(reply, ())
        reply = yield SenderOffered(self.name, said.envelope.sender)
        if reply.code != 250:
            return Announced(reply, ())
        return (yield from self.recipients(said.envelope))

    def offer_sender(self, command: MailFrom) -> None:
        self._sessions.server.give(SenderOffered(self.name, command.address))
