"""A distribution group as Active Directory has it: an address, and the addresses of its members,
which may be groups themselves (TP-5); and the one server that expands it, where it has one (RT-3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from nodes.core.config.document import Json, text, text_if_any, texts
from nodes.core.config.error import refusal, suggestion

GROUPS = "DistributionGroups"


@dataclass(frozen=True, slots=True)
class DistributionGroup:
    """`address` is in lower case; `members` in the order of the directory."""

    address: str
    members: tuple[str, ...]


def group_of(entry: Json) -> DistributionGroup:
    """Of an entry of GROUPS. Raises ConfigurationError."""
    return DistributionGroup(text(entry, "Address").lower(), texts(entry, "Members"))


def expansion_servers(entries: Iterable[Json], servers: Collection[str]) -> dict[str, str]:
    """Of entries of GROUPS that name one, the address in lower case to the server; `servers` are
    the mailbox servers of the organisation. Raises ConfigurationError.
    """
    found: dict[str, str] = {}
    for entry in entries:
        server = text_if_any(entry, "ExpansionServer")
        if server is not None and server not in servers:
            hint = suggestion(server, set(servers))
            raise refusal("ExpansionServer", server, "is no mailbox server", hint)
        if server is not None:
            found[text(entry, "Address").lower()] = server
    return found
