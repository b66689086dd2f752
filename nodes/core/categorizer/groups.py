"""Distribution groups as this server knows them: those of its configuration, until it reads
Active Directory anew.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.config.groups import DistributionGroup
from nodes.core.interface.inputs import DirectoryRead


class DistributionGroups:
    """Looked up by address; implements `recipients.Directory`."""

    def __init__(self, config: NodeConfig) -> None:
        self._mailboxes = config.mailboxes
        self._members = _by_address(config.groups)

    def read(self, happened: DirectoryRead) -> None:
        """All groups as they are now; those that are not among them are gone."""
        if happened.groups is not None:
            self._members = _by_address(happened.groups)

    def members_of(self, address: str) -> tuple[str, ...] | None:
        return self._members.get(address.lower())

    def is_mailbox(self, address: str) -> bool:
        return address in self._mailboxes


def _by_address(groups: tuple[DistributionGroup, ...]) -> dict[str, tuple[str, ...]]:
    return {group.address: group.members for group in groups}
