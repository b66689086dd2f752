"""Where mail goes next, as a value: a delivery type and a name (F§5.3's NextHopSolutionKey).

Text is made of it at the borders alone: the tracking log and the queue database, `database:DB1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DeliveryType(Enum):
    """Its value is its word in text."""

    MAILBOX = "database"
    """SmtpDeliveryToMailbox: a mailbox database of this server's own boundary."""
    DAG = "dag"
    """SmtpRelayToDag: another boundary, a routable DAG."""
    MAILBOX_GROUP = "site"
    """SmtpRelayToMailboxDeliveryGroup: another boundary, the servers of a site that are in no
    DAG."""
    SITE = "hub"
    """SmtpRelayToRemoteActiveDirectorySite: a hub site, on the path to another next hop."""
    CONNECTOR_SOURCES = "connector"
    """SmtpRelayToConnectorSourceServers: the servers that a Send connector names."""
    SERVER_LIST = "servers"
    """SmtpRelayToServers: the expansion server of a distribution group, which expands it."""
    REDIRECTED = "redirect"
    """Redirect-Message: the server that an administrator named, whatever the message's own next hop
    (F§5.4)."""
    UNREACHABLE = "unreachable"
    """Unreachable: no way is open to a message of this kind, for the reason that it names."""
    EXTERNAL = "external"
    """A connector's target: a server that is not the organisation's."""


_RELAYS = (
    DeliveryType.DAG,
    DeliveryType.MAILBOX_GROUP,
    DeliveryType.SITE,
    DeliveryType.CONNECTOR_SOURCES,
    DeliveryType.SERVER_LIST,
)


@dataclass(frozen=True, slots=True)
class NextHop:
    """`name`: of the database, DAG, site, connector or server."""

    delivery_type: DeliveryType
    name: str

    def __str__(self) -> str:
        return f"{self.delivery_type.value}:{self.name}"

    @classmethod
    def of(cls, text: str) -> NextHop:
        """What `str` made. Raises ValueError for another word."""
        word, _, name = text.partition(":")
        return cls(DeliveryType(word), name)

    @classmethod
    def into(cls, database: str) -> NextHop:
        """Straight into a mailbox database."""
        return cls(DeliveryType.MAILBOX, database)

    @property
    def is_relay(self) -> bool:
        """Whether it leads to other servers of the organisation, which send the message on."""
        return self.delivery_type in _RELAYS

    @property
    def is_outside(self) -> bool:
        """Whether it leads out of the organisation."""
        return self.delivery_type is DeliveryType.EXTERNAL

    @property
    def is_redirected(self) -> bool:
        """Whether an administrator had it go there."""
        return self.delivery_type is DeliveryType.REDIRECTED

    @property
    def database(self) -> str | None:
        """The mailbox database that it leads into, if it does."""
        return self.name if self.delivery_type is DeliveryType.MAILBOX else None
