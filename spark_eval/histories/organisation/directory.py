"""Where recipients read their mail, as the plan has it, and as mailboxes moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_eval.histories.organisation.moves import Move
from spark_eval.histories.organisation.server import EXTERNAL
from spark_eval.read.plan import Topology
from spark_eval.read.rows import VisibleRow


@dataclass(frozen=True, slots=True)
class Directory:
    """`mailboxes`: address to database, of those of public folders too, as they are in the end;
    `outside`: domain to server; `moves` of mailboxes, by address.
    """

    mailboxes: Mapping[str, str]
    outside: Mapping[str, str]
    public_folders: frozenset[str] = frozenset()
    moves: Mapping[str, Move] = field(default_factory=dict)

    def places(self, recipient: str, start_ms: int, end_ms: int) -> tuple[str, ...]:
        """Where a recipient may have read mail at some moment of [start, end], the last one last;
        nothing of one who reads none here.
        """
        if (move := self.moves.get(recipient)) is not None:
            return move.places(start_ms, end_ms)
        place = self.place_of(recipient)
        return () if place is None else (place,)

    def took(self, seen: VisibleRow) -> str:
        """The database that took a copy in, which may have moved to another one since; or the
        server outside.
        """
        move = self.moves.get(seen.recipient)
        if move is None or seen.copied_ms is None or seen.copied_ms >= move.at_ms:
            return seen.place
        return move.before

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


def homes_of(topology: Topology) -> dict[str, str]:
    """Address to database, as mailboxes are at first."""
    return {
        each.address.lower(): each.database
        for each in topology.mailboxes or ()
        if each.address is not None and each.database is not None
    }


def directory_of(topology: Topology, moves: Mapping[str, Move]) -> Directory:
    last = {address: move.after for address, move in moves.items() if move.is_sure}
    return Directory(
        mailboxes=homes_of(topology) | last,
        outside={
            server.domain.lower(): server.name.lower()
            for server in topology.servers or ()
            if server.name is not None and server.role == EXTERNAL and server.domain
        },
        public_folders=frozenset(
            (each.address or "").lower() for each in topology.mailboxes or () if each.public_folder
        ),
        moves=moves,
    )
