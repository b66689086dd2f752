"""What Active Directory says, which is always there."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.groups import DistributionGroup


@dataclass(frozen=True, slots=True)
class DirectoryRead:
    """All distribution groups as they are now, since they are not those of the configuration any
    more. `at_start`: it is the first input of a life, and comes before the database.
    """

    groups: tuple[DistributionGroup, ...]
    at_start: bool
