"""The state of the component HubTransport of this server, as Set-ServerComponentState has it:
Active, or Inactive, and then the server takes no mail into a queue (F§2.3, TL-5).

It stands in Active Directory, so it lasts until somebody changes it, over each restart and over the
loss of the queue database. An Inactive server refuses shadow messages and mail, from clients, from
servers and from its own Submission service, at the first command of a transaction; a transaction
that has begun goes on to its end. Whatever is in its queues it delivers, it asks and answers
questions about shadow messages, and what another server brings into mailboxes here it takes: that
is the Mailbox Transport service, a component of its own.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.engine.work import Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import DirectoryRead

HUB_TRANSPORT, ACTIVE, INACTIVE = "HubTransport", "active", "inactive"


class ComponentState:
    """Of this server; Active until Active Directory says otherwise."""

    def __init__(self, config: NodeConfig, work: Work) -> None:
        self._name = config.me.name
        self._work = work
        self.is_inactive = False

    @property
    def refuses_shadows(self) -> bool:
        return self.is_inactive

    @property
    def refuses_mail(self) -> bool:
        return self.is_inactive

    def read(self, happened: DirectoryRead) -> None:
        was, self.is_inactive = self.is_inactive, self._name in happened.inactive
        if was is not self.is_inactive:
            before, after = (ACTIVE, INACTIVE) if self.is_inactive else (INACTIVE, ACTIVE)
            fields = (("resource", HUB_TRANSPORT), ("from", before), ("to", after))
            self._work.emit(LogLifecycle("component-state", fields))
