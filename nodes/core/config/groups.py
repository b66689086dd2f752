"""A distribution group as Active Directory has it: an address, and the addresses of its members,
which may be groups themselves (TP-5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nodes.core.config.error import ConfigurationError


@dataclass(frozen=True, slots=True)
class DistributionGroup:
    """`address` is in lower case; `members` in the order of the directory."""

    address: str
    members: tuple[str, ...]


def read_groups(found: object) -> tuple[DistributionGroup, ...]:
    """The value of DistributionGroups; raises ConfigurationError."""
    if not isinstance(found, list):
        raise ConfigurationError("DistributionGroups: must be a list of objects", "")
    return tuple(map(_group, found))


def _group(entry: object) -> DistributionGroup:
    values = entry if isinstance(entry, Mapping) else {}
    address, members = values.get("Address"), values.get("Members")
    if not isinstance(address, str) or not address:
        raise ConfigurationError(
            f"DistributionGroups: Address: {address!r}: must be a text that is not empty", ""
        )
    if not isinstance(members, list) or not all(isinstance(each, str) for each in members):
        raise ConfigurationError(
            f"DistributionGroups: {address}: Members: must be a list of addresses", ""
        )
    return DistributionGroup(address.lower(), tuple(members))
