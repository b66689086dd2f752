"""Redirect-Message: an administrator has the delivery queues of this server drained to another one
(SR-1, SR-12, F§5.4).

The messages go there by ordinary SMTP, as from outside: the other server makes them redundant anew
before it takes them. Meanwhile this one refuses new mail. Shadow messages stay, and others are
taken; so is what another server brings into mailboxes here, since neither gets into a delivery
queue. When that is over (`redirecting`), this server takes mail again.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.delivery.delivery import Delivery
from nodes.core.delivery.redirecting import Redirected
from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import RedirectRequested
from nodes.core.interface.replies import (
    R250_REDIRECTING,
    R503_REDIRECTING_ALREADY,
    R550_NO_SUCH_SERVER,
)
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.sessions.inbound_session import InboundSession


class Redirection:
    def __init__(self, config: NodeConfig, work: Work, delivery: Delivery) -> None:
        self._config = config
        self._work = work
        self._delivery = delivery

    def requested(self, asked: RedirectRequested, session: InboundSession) -> None:
        """The answer comes before the messages go."""
        server = self._config.server_named(asked.server)
        if server is None or server.role != "mailbox" or server.name == self._config.me.name:
            session.reply(R550_NO_SUCH_SERVER)
        elif self._delivery.queues.redirecting.is_under_way:
            session.reply(R503_REDIRECTING_ALREADY)
        else:
            session.reply(R250_REDIRECTING)
            hop, left = NextHop(DeliveryType.REDIRECTED, server.name), self._delivery.in_queues()
            self._log("redirection-begun", hop, len(left))
            self._delivery.queues.redirecting.begin(hop, left, self._over)

    def _over(self, redirected: Redirected) -> None:
        event = "redirection-given-up" if redirected.left else "redirection-completed"
        self._log(event, redirected.hop, redirected.moved)

    def _log(self, event: str, hop: NextHop, messages: int) -> None:
        fields = (("server", hop.name), ("count", messages))
        self._work.emit(LogLifecycle(event, fields))
