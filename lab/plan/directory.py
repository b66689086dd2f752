"""What Active Directory has at a moment of a run that is not as the plan's topology has it, or may
not be: distribution groups, and mailboxes that have moved, or are on their way.
"""

from dataclasses import dataclass

from lab.plan.topology import Group


@dataclass(frozen=True, slots=True)
class MovedMailbox:
    """Its address and the database that it is in; `moves_to`, while it is on its way there."""

    address: str
    database: str
    moves_to: str | None = None


@dataclass(frozen=True, slots=True)
class Directory:
    """All groups; of mailboxes those that are elsewhere than at first, or on their way;
    `inactive`, `not_authenticating`: servers by name.
    """

    groups: tuple[Group, ...]
    mailboxes: tuple[MovedMailbox, ...] = ()
    inactive: tuple[str, ...] = ()
    not_authenticating: tuple[str, ...] = ()
