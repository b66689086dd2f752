"""The inbound connections of a node, which carry the core's answers to their clients."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import format_datetime

from nodes.core.config.config import NodeConfig
from nodes.core.interface.inputs import ConnectionLost
from nodes.core.interface.replies import Reply
from nodes.shell.smtp.hooks import Hooks
from nodes.shell.smtp.inbound_connection import InboundConnection, ReceivingNode
from nodes.shell.smtp.mail_in_memory import ORGANISATION_BYTES, OUTSIDE_BYTES, MailInMemory
from nodes.shell.storage.bodies import Bodies


class InboundConnections:
    """The inbound connections of one node, by name; carries the core's answers to them.
    `database_id` of its queue database: what is said of it to servers of the organisation.
    """

    def __init__(
        self,
        node: ReceivingNode,
        config: NodeConfig,
        bodies: Bodies,
        tls: ssl.SSLContext | None,
        kind: type[InboundConnection] = InboundConnection,
    ) -> None:
        self.node = node
        self.config = config
        self.bodies = bodies
        self.database_id = ""
        self.from_outside = MailInMemory(OUTSIDE_BYTES)
        self.of_organisation = MailInMemory(ORGANISATION_BYTES)
        self._tls = tls
        self._hooks = Hooks()
        self._kind = kind
        self._open: dict[str, InboundConnection] = {}
        self._count = 0

    def connected(self) -> InboundConnection:
        """A protocol object for one new connection, as `asyncio` wants it."""
        self._count += 1
        date = datetime.fromtimestamp(self.node.now_ms() / 1000, UTC)
        ident = f"Microsoft ESMTP MAIL Service ready at {format_datetime(date)}"
        return self._kind(self, f"in-{self._count}", self._hooks, ident, self._tls)

    def begun(self, session: InboundConnection) -> None:
        self._open[session.name] = session

    def over(self, session: InboundConnection) -> None:
        """Notify the core, once."""
        if self._open.pop(session.name, None) is not None:
            self.node.give(ConnectionLost(session.name))

    def reply(self, name: str, reply: Reply) -> None:
        """Answer the command that waits; a client that is gone needs none."""
        if name in self._open:
            self._open[name].answer(reply)

    def failed(self, session: InboundConnection, error: Exception) -> None:
        """A mistake of ours in one session: it is noted, and the others go on."""
        self.node.session_failed(session.name, error)

    def close(self, name: str, reply: Reply | None) -> None:
        if name in self._open:
            self._open[name].close_with(reply)

    def close_all(self, reply: Reply) -> None:
        for session in list(self._open.values()):
            session.close_with(reply)

    def connections(self) -> Iterable[InboundConnection]:
        return self._open.values()

    @property
    def await_answers(self) -> bool:
        """Whether a client waits for the core."""
        return any(session.awaits_answer for session in self._open.values())
