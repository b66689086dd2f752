"""The categorizer: recipient resolution, then routing and bifurcation (RT-7).

It works once for each message that this server comes to answer for: one that it receives, one that
it promotes, one that it resubmits from a shadow copy, which keeps the envelope as first received
(SN-11). What it did is logged when that message is durable.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.categorizer.groups import DistributionGroups
from nodes.core.categorizer.recipients import Expansion, resolve
from nodes.core.config.config import NodeConfig
from nodes.core.engine.tracking_rows import duplicate_expand_row, expand_row
from nodes.core.engine.work import Work
from nodes.core.model.message import Fork, PrimaryMessage
from nodes.core.routing.categorizer import forks_of
from nodes.core.routing.routing import next_hop


@dataclass(frozen=True, slots=True)
class Categorised:
    """The forks of a message, and the groups that were expanded for them."""

    forks: tuple[Fork, ...]
    expansions: tuple[Expansion, ...]


class Categorizer:
    """Of one server, over the groups that it knows."""

    def __init__(self, config: NodeConfig, work: Work, groups: DistributionGroups) -> None:
        self._config, self._work, self._groups = config, work, groups

    def knows(self, address: str) -> bool:
        """Whether there is such a recipient: a group, or somebody whose mail has a next hop."""
        return self.is_group(address) or next_hop(self._config, address) is not None

    def is_group(self, address: str) -> bool:
        """Whether a group has that address now."""
        return self._groups.members_of(address) is not None

    def categorise(self, recipients: tuple[str, ...], size_bytes: int) -> Categorised:
        """Of the recipients of an envelope, for a message of that size."""
        resolved = resolve(recipients, self._groups)
        forks = forks_of(self._config, resolved.recipients, size_bytes)
        return Categorised(forks, resolved.expansions)

    def groups_of(self, recipients: tuple[str, ...]) -> dict[str, str]:
        """Of each member of a group of that envelope, the first group that led to him."""
        found: dict[str, str] = {}
        for expansion in resolve(recipients, self._groups).expansions:
            for member in expansion.members:
                if member not in expansion.duplicates:
                    found.setdefault(member, expansion.group)
        return found

    def log(self, message: PrimaryMessage, categorised: Categorised) -> None:
        """EXPAND of each group, and DUPLICATEEXPAND of whom it had that had come before (RT-6)."""
        for expansion in categorised.expansions:
            self._work.emit(expand_row(message, expansion.group, expansion.members))
            if expansion.duplicates:
                row = duplicate_expand_row(message, expansion.group, expansion.duplicates)
                self._work.emit(row)
