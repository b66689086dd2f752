"""A copy of a mailbox database on a server that came anew is empty, and asks for everything (TP-8).

Which copy is active a server with a new queue database does not know. So it asks the servers of the
others in turn, until one that ships its logs has sent a seed; what comes, and when, is that one's
to see to. Nothing here decides whether a copy is of use.
"""

from __future__ import annotations

from nodes.core.config.config import NodeConfig
from nodes.core.copies.local_copy import CopyHere
from nodes.core.engine.work import Work
from nodes.core.interface.copy_commands import UpdateCopy
from nodes.core.model.database_copy import CopyState
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import CopyAnswer, Lease

ASK_AGAIN_MS = 10_000
SERVICE = "replication"


class Seeding:
    def __init__(self, config: NodeConfig, work: Work, sessions: Sessions) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._asking: set[str] = set()
        self._turns: dict[str, int] = {}

    def look(self, copy: CopyHere) -> None:
        """Ask the next server, unless one is being asked or none is to be."""
        if copy.state is not CopyState.SEEDING or copy.database in self._asking:
            return
        self._asking.add(copy.database)
        turn = self._turns[copy.database] = self._turns.get(copy.database, -1) + 1
        others = [
            each.server
            for each in self._config.copies[copy.database]
            if each.server != self._config.me.name
        ]
        self._ask(copy, others[turn % len(others)])

    def _ask(self, copy: CopyHere, server: str) -> None:
        def answered(lease: Lease, _answer: CopyAnswer) -> None:
            lease.release()
            self._again(copy)

        def ready(lease: Lease) -> None:
            command = UpdateCopy(copy.database)
            lease.manage(command, lambda answer: answered(lease, answer), failed)

        def failed(_reason: str) -> None:
            self._again(copy)

        self._sessions.request(server, SERVICE, ready, failed, SERVICE)

    def _again(self, copy: CopyHere) -> None:
        """A while later: a seed may be on its way."""

        def over() -> None:
            self._asking.discard(copy.database)
            self.look(copy)

        self._work.again(ASK_AGAIN_MS, over)
