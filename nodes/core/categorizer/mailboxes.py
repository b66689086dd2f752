"""In which mailbox database each mailbox is, as this server knows it: where its configuration has
it, until it reads in Active Directory that it has moved (SN-8).

It is the mapping that the configuration of a running node has, so that routing, Safety Net and
whoever delivers go by one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nodes.core.config.mailboxes import Mailbox
from nodes.core.interface.inputs import DirectoryRead


class Mailboxes(Mapping[str, str]):
    """Address in lower case to database; `first`: as the configuration has them."""

    def __init__(self, first: Mapping[str, str]) -> None:
        self._first = first
        self._changed: dict[str, Mailbox] = {}

    def read(self, happened: DirectoryRead) -> None:
        """All that are elsewhere than at first, or on their way."""
        self._changed = {each.address: each for each in happened.mailboxes}

    def moves_to(self, address: str) -> str | None:
        """The database that a mailbox is on its way to, if it is."""
        changed = self._changed.get(address)
        return None if changed is None else changed.moves_to

    def takes(self, address: str, database: str) -> bool:
        """Whether a delivery into that database reaches the mailbox now."""
        return self.get(address) == database and self.moves_to(address) is None

    def __getitem__(self, address: str) -> str:
        changed = self._changed.get(address)
        return self._first[address] if changed is None else changed.database

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)
