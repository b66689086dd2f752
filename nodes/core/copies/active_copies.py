"""Which copy of each mailbox database is active, as this server knows it (TP-4).

The configuration says it at first (epoch 0); from then on Active Manager does, each time under a
higher epoch. What is learned counts from the input that brought it, durable or not yet: an
acknowledgement that comes later from the copy before is worth nothing. So everything that this
server brought to that copy was acknowledged before `learnt_ms`, which is what Active Manager asks
Safety Net for (SN-4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nodes.core.config.config import NodeConfig
from nodes.core.copies.local_copy import CopyHere
from nodes.core.engine.work import Then, Work
from nodes.core.interface.effects import LogLifecycle
from nodes.core.interface.inputs import ActiveCopyNamed
from nodes.core.interface.queue_changes import SetActiveCopy
from nodes.core.interface.replies import (
    R451_COPY_NOT_STORED,
    R550_NO_SUCH_DATABASE,
    R554_LATER_COPY_KNOWN,
    ActiveCopyReply,
)
from nodes.core.model.message import ActiveCopy, Fork
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.delivery_groups import servers_in_turn
from nodes.core.sessions.inbound_session import InboundSession


@dataclass(frozen=True, slots=True)
class CopyMoved:
    """Another copy counts now, or this server's own takes mail."""

    database: str


class ActiveCopies:
    """`here`: this server's own copies of databases that have others."""

    def __init__(self, config: NodeConfig, work: Work, here: Mapping[str, CopyHere]) -> None:
        self._config = config
        self._work = work
        self._here = here
        self._copies = {
            name: ActiveCopy(name, server, 0, 0) for name, server in config.databases.items()
        }
        self._arriving: set[str] = set()

    def opened(self, copies: tuple[ActiveCopy, ...]) -> None:
        self._copies.update({copy.database: copy for copy in copies})

    def is_here(self, database: str) -> bool:
        copy = self._copies.get(database)
        return copy is not None and copy.server == self._config.me.name

    def takes(self, database: str) -> bool:
        """Whether deliveries into it are taken here now."""
        copy = self._here.get(database)
        return self.is_here(database) and (copy is None or copy.is_mounted)

    def copy_of(self, database: str) -> ActiveCopy:
        return self._copies[database]

    def peer_of(self, hop: NextHop) -> str:
        """Name of the server that a next hop is reached at; it is no relay's."""
        database = hop.database
        return hop.name if database is None else self._copies[database].server

    def targets_of(self, fork: Fork) -> tuple[str, ...]:
        """Names of the servers to try for a fork, in turn: of a relay those of the delivery group
        and what stands in for them, that of the first recipient's active copy first.
        """
        if not fork.next_hop.is_relay:
            return (self.peer_of(fork.next_hop),)
        database = self._config.mailboxes.get(fork.recipients[0], "")
        first = self._copies[database].server if database in self._copies else None
        return servers_in_turn(self._config, fork.next_hop, first)

    def epoch_of(self, hop: NextHop) -> int:
        """0 for hops that never move."""
        database = hop.database
        return 0 if database is None else self._copies[database].epoch

    def named(self, happened: ActiveCopyNamed, session: InboundSession | None) -> None:
        """`session`: None where nobody may be answered."""
        if session is None:
            return
        known = self._copies.get(happened.database)
        if known is None:
            session.reply(R550_NO_SUCH_DATABASE)
        elif happened.database in self._arriving:
            session.reply(R451_COPY_NOT_STORED)
        elif (happened.epoch, happened.server) == (known.epoch, known.server):
            session.reply(ActiveCopyReply(known.learnt_ms))
        elif happened.epoch <= known.epoch or not self._is_member(happened.server):
            session.reply(R554_LATER_COPY_KNOWN)
        else:
            copy = self._learnt(happened.database, happened.server, happened.epoch)
            self._learn(
                copy,
                known,
                lambda: session.reply(ActiveCopyReply(copy.learnt_ms)),
                lambda: session.reply(R451_COPY_NOT_STORED),
            )

    def shipped_by(self, server: str, database: str, epoch: int) -> None:
        """A log of its was replayed here: whoever ships under a later epoch is active. That spares
        the server of the copy before to wait until Active Manager reaches it.
        """
        known = self._copies[database]
        if database not in self._arriving and epoch > known.epoch and self._is_member(server):
            copy = self._learnt(database, server, epoch)
            self._learn(copy, known, lambda: None, lambda: None)

    def mounted_here(self, database: str, epoch: int, answer: Callable[[bool], None]) -> None:
        """This server's own copy is mounted under this epoch; answered when that is durable here
        too.
        """
        known, me = self._copies[database], self._config.me.name
        if database in self._arriving or epoch < known.epoch:
            answer(False)
        elif (epoch, me) == (known.epoch, known.server):
            answer(True)
            self._work.report(CopyMoved(database))
        else:
            copy = self._learnt(database, me, epoch)
            self._learn(copy, known, lambda: answer(True), lambda: answer(False))

    def _is_member(self, name: str) -> bool:
        server = self._config.server_named(name)
        return server is not None and server.role == "mailbox"

    def _learnt(self, database: str, server: str, epoch: int) -> ActiveCopy:
        """What was acknowledged in this millisecond already is before `learnt_ms`."""
        return ActiveCopy(database, server, epoch, self._work.now_ms + 1)

    def _learn(self, copy: ActiveCopy, known: ActiveCopy, then: Then, failed: Then) -> None:
        self._copies[copy.database] = copy
        self._arriving.add(copy.database)
        here = self._here.get(copy.database)
        if here is not None and copy.server != self._config.me.name:
            here.superseded(copy.epoch)

        def committed() -> None:
            self._arriving.discard(copy.database)
            self._work.emit(LogLifecycle("active-copy", _fields(copy)))
            then()
            self._work.report(CopyMoved(copy.database))

        def not_committed(_reason: str) -> None:
            self._arriving.discard(copy.database)
            self._copies[copy.database] = known
            failed()
            self._work.report(CopyMoved(copy.database))

        self._work.commit((SetActiveCopy(copy),), committed, not_committed)


def _fields(copy: ActiveCopy) -> tuple[tuple[str, str | int], ...]:
    return (("database", copy.database), ("server", copy.server), ("epoch", copy.epoch))
