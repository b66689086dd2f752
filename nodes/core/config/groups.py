"""A distribution group as Active Directory has it: an address, and the addresses of its members,
which may be groups themselves (TP-5).
"""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.config.document import Json, text, texts

GROUPS = "DistributionGroups"


@dataclass(frozen=True, slots=True)
class DistributionGroup:
    """`address` is in lower case; `members` in the order of the directory."""

    address: str
    members: tuple[str, ...]


def group_of(entry: Json) -> DistributionGroup:
    """Of an entry of GROUPS. Raises ConfigurationError."""
    return DistributionGroup(text(entry, "Address").lower(), texts(entry, "Members"))
