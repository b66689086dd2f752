"""Recipient resolution: the groups of an envelope give way to their members (TP-5, RT-6).

A group is expanded once a message, however often it comes, so that loops end. Whoever came before
is a duplicate: recipients of the envelope come first, then those of each group in the order in
which the groups were met. A group that another server expands stays a recipient (RT-3). Says
nothing of where anybody's mail goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class Directory(Protocol):
    """What recipient resolution looks up in Active Directory."""

    def members_of(self, address: str) -> tuple[str, ...] | None:
        """The members of a group that is to be expanded here, None of any other address."""

    def is_inside(self, address: str) -> bool:
        """Whether an address, in lower case, is that of a mailbox or group of the organisation."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A group that was expanded: its members, and which of them had come before."""

    group: str
    members: tuple[str, ...]
    duplicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """Who gets the message, each once, and the groups that led there."""

    recipients: tuple[str, ...]
    expansions: tuple[Expansion, ...]


def resolve(recipients: Iterable[str], directory: Directory) -> Resolved:
    """Of an envelope. An address of the organisation has its case taken off; whose case means what
    outside, only the server there knows (RFC 5321 section 2.4).
    """
    met = dict.fromkeys(_one_case(each, directory) for each in recipients)
    waiting, expansions = list(met), []
    for address in waiting:
        members = directory.members_of(address)
        if members is None:
            continue
        duplicates = []
        for member in (_one_case(each, directory) for each in members):
            if member in met:
                duplicates.append(member)
            else:
                met[member] = None
                waiting.append(member)
        expansions.append(Expansion(address, members, tuple(duplicates)))
    groups = {each.group for each in expansions}
    return Resolved(tuple(each for each in met if each not in groups), tuple(expansions))


def _one_case(address: str, directory: Directory) -> str:
    lowered = address.lower()
    return lowered if directory.is_inside(lowered) else address
