"""Where recipients read their mail, as the plan has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spark_eval.histories.organisation.server import EXTERNAL
from spark_eval.read.plan import Topology


@dataclass(frozen=True, slots=True)
class Directory:
    """`mailboxes`: address to database, of those of public folders too; `outside`: domain to
    server.
    """

    mailboxes: Mapping[str, str]
    outside: Mapping[str, str]
    public_folders: frozenset[str] = frozenset()

    def place_of(self, recipient: str) -> str | None:
        """The mailbox database, or the server outside, where a recipient reads mail."""
        return self.mailboxes.get(recipient) or self.outside.get(recipient.rpartition("@")[2])

    def is_inside(self, recipient: str) -> bool:
        return recipient in self.mailboxes

    def file_of(self, recipient: str) -> str | None:
        """Which file says what a recipient sees; None of one who reads no mail here."""
        if (database := self.mailboxes.get(recipient)) is not None:
            return f"mailboxes/{database}.jsonl"
        server = self.outside.get(recipient.rpartition("@")[2])
        return None if server is None else f"external/{server}.jsonl"

    def outside_of(self, recipient: str) -> str | None:
        """The server outside where a recipient reads mail; None of anybody else."""
        return None if self.is_inside(recipient) else self.place_of(recipient)


def directory_of(topology: Topology) -> Directory:
    return Directory(
        mailboxes={
            each.address.lower(): each.database
            for each in topology.mailboxes or ()
            if each.address is not None and each.database is not None
        },
        outside={
            server.domain.lower(): server.name.lower()
            for server in topology.servers or ()
            if server.name is not None and server.role == EXTERNAL and server.domain
        },
        public_folders=frozenset(
            (each.address or "").lower() for each in topology.mailboxes or () if each.public_folder
        ),
    )
