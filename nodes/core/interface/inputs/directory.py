"""What Active Directory says, which is always there."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.groups import DistributionGroup
from nodes.core.config.mailboxes import Mailbox


@dataclass(frozen=True, slots=True)
class DirectoryRead:
    """All distribution groups as they are now, since they are not those of the configuration any
    more; None where they are. `at_start`: it is the first input of a life, and comes before the
    database. `databases`: the mailbox databases of which it knows that they were created once
    (`DatabaseCreated`); a copy here without a file is none of a new database, and to be seeded
    (TP-8). `mailboxes`: those that are not where the configuration has them, or are on their way.
    `inactive`: the servers whose component HubTransport is Inactive; `not_authenticating`: those
    whose Receive connector has no ExchangeServer in its AuthMechanism.
    """

    groups: tuple[DistributionGroup, ...] | None
    at_start: bool
    databases: tuple[str, ...] = ()
    mailboxes: tuple[Mailbox, ...] = ()
    inactive: tuple[str, ...] = ()
    not_authenticating: tuple[str, ...] = ()
