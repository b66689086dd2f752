"""Distribution groups as this server knows them: those of its configuration, until it reads
Active Directory anew.

A group with an expansion server is expanded by that one alone (RT-3), and by whoever stands in for
it: who promotes a message of which it was the primary server, or resubmits one from a Shadow Safety
Net. So mail that has reached its expansion server once depends on that server no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.config.groups import DistributionGroup
from nodes.core.interface.inputs import DirectoryRead


class DistributionGroups:
    """Looked up by address in lower case."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._members = _by_address(config.groups)

    def read(self, happened: DirectoryRead) -> None:
        """All groups as they are now; those that are not among them are gone."""
        if happened.groups is not None:
            self._members = _by_address(happened.groups)

    def is_group(self, address: str) -> bool:
        return address.lower() in self._members

    def expanded_by(self, servers: Collection[str]) -> ExpandedHere:
        """As for whoever acts for these servers, by name."""
        return ExpandedHere(self._config, self._members, servers)


@dataclass(frozen=True, slots=True)
class ExpandedHere:
    """The groups that `servers` expand, by name; implements `recipients.Directory`."""

    config: NodeConfig
    members: Mapping[str, tuple[str, ...]]
    servers: Collection[str]

    def members_of(self, address: str) -> tuple[str, ...] | None:
        address = address.lower()
        server = self.config.expansion_servers.get(address)
        is_here = server is None or server in self.servers
        return self.members.get(address) if is_here else None

    def is_inside(self, address: str) -> bool:
        return address in self.config.mailboxes or address in self.members


def _by_address(groups: tuple[DistributionGroup, ...]) -> dict[str, tuple[str, ...]]:
    return {group.address: group.members for group in groups}
