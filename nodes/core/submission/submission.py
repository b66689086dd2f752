"""Mailbox Transport Submission: what clients put into the Outbox of a mailbox database goes to the
Transport service of the server that has the active copy (SR-8, SR-15).

An item is durable in the Outbox before its client has a 250, and leaves it only when Transport has
said 250, by the same rules as to any sender: made redundant first. What Transport refuses for now
stays, is logged SUBMITDEFER, and is tried again. A kill between Transport's 250 and the removal
submits it twice; duplicate detection hides the second copy (DD-1). The Outbox is part of its
database: whichever copy is active, its server goes on with what is in it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies, CopyMoved
from nodes.core.engine.tracking_rows import primary_row
from nodes.core.engine.work import Timer, Work
from nodes.core.interface.copy_changes import InsertOutboxItem, ReadOutbox, RemoveOutboxItem
from nodes.core.interface.effects import DropBody, LogTracking
from nodes.core.interface.inputs import CopyChanged, MessageOffered, OutboxRequested
from nodes.core.interface.replies import (
    R250_OUTBOX_NEXT,
    R432_NOT_ACTIVE_HERE,
    R451_NOT_COMMITTED,
    R503_BAD_SEQUENCE,
    R550_NOT_THE_SENDERS,
    Reply,
    r250_in_outbox,
)
from nodes.core.model.database_copy import ReplicationLog
from nodes.core.model.identity import Identity
from nodes.core.model.message import BodyHandle, PrimaryMessage, identified
from nodes.core.model.outbox import IntoOutbox, OutboxItem
from nodes.core.sessions.inbound import InboundSessions
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove

SUBMIT_AGAIN_MS = 60_000
"""After Transport has refused an item for now, or the disk has."""

Answered: TypeAlias = Callable[[Reply, PrimaryMessage], None]
HandOver: TypeAlias = Callable[[OutboxItem, BodyHandle, Answered], None]
"""To the Transport service here, which answers once."""
Logged: TypeAlias = Callable[[ReplicationLog], None]


@dataclass(eq=False, slots=True)
class Submitted:
    """An item that this server submits; `reading`: of the Outbox, since which it is known here;
    `again`: when it is tried next.
    """

    database: str
    item: OutboxItem
    reading: int
    is_acknowledged: bool = False
    again: Timer | None = None


class Submission:
    """The Outboxes of the mailbox databases that are active here."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: InboundSessions,
        identity: Identity,
        active_copies: ActiveCopies,
        logged: Logged,
        hand_over: HandOver,
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._identity = identity
        self._active_copies = active_copies
        self._logged = logged
        self._hand_over = hand_over
        self._items: dict[str, Submitted] = {}
        self._read: set[str] = set()
        self._readings: Counter[str] = Counter()
        self._most = config.server.max_concurrent_mailbox_submissions
        self._under_way = 0
        self._waiting: deque[Submitted] = deque()

    def opened(self) -> None:
        """After a start: what waits in databases that have no other copy."""
        for database in self._config.databases:
            self.look_into(database)

    def moved(self, event: CopyMoved) -> None:
        self.look_into(event.database)

    def look_into(self, database: str) -> None:
        """Go on with what the Outbox of an active copy holds. Of a copy that is active no more
        nothing is known here: it is read again.
        """
        if not self._active_copies.takes(database):
            self._read.discard(database)
        elif database not in self._read:
            self._read.add(database)
            self._readings[database] += 1
            self._work.change_copy(
                database,
                ReadOutbox(),
                lambda answer: self._found(database, answer),
                lambda reason: self._not_read(database),
            )

    def _not_read(self, database: str) -> None:
        self._read.discard(database)
        self._work.again(SUBMIT_AGAIN_MS, lambda: self.look_into(database))

    def _found(self, database: str, answer: CopyChanged) -> None:
        for item in answer.outbox:
            if item.item_id not in self._items:
                self._begin(Submitted(database, item, self._readings[database]))

    def requested(self, asked: OutboxRequested) -> None:
        session = self._sessions.named(asked.session)
        if session is None:
            return
        if not self._active_copies.takes(asked.database):
            session.reply(R432_NOT_ACTIVE_HERE)
        elif not session.may(InboundMove.REQUEST_OUTBOX):
            session.reply(R503_BAD_SEQUENCE)
        else:
            session.announced = IntoOutbox(asked.database)
            session.reply(R250_OUTBOX_NEXT)

    def take(self, session: InboundSession, target: IntoOutbox, offered: MessageOffered) -> None:
        """Durable in the Outbox, then acknowledged to the client."""
        database, sender = target.database, offered.envelope.sender.lower()
        if self._config.mailboxes.get(sender) != database:
            self._refuse(session, offered, R550_NOT_THE_SENDERS)
            return
        if not self._active_copies.takes(database):
            self._refuse(session, offered, R432_NOT_ACTIVE_HERE)
            return
        item = self._item(offered)

        def inserted(answer: CopyChanged) -> None:
            for log in answer.logs:
                self._logged(log)
            self._work.emit(DropBody(offered.body))
            submitted = Submitted(database, item, self._readings[database])
            logged = ", ".join(f"Log:{log.number}" for log in answer.logs)
            self._work.emit(_outbox_row("NOTIFYMAPI", submitted, logged))
            me, message_id = self._config.me.fqdn, item.header.message_id
            session.answer_message(r250_in_outbox(message_id, item.item_id, me))
            self._begin(submitted)

        def not_inserted(_reason: str) -> None:
            self._refuse(session, offered, R451_NOT_COMMITTED)

        change = InsertOutboxItem(item, offered.body, self._work.now_ms)
        self._work.change_copy(database, change, inserted, not_inserted)

    def _item(self, offered: MessageOffered) -> OutboxItem:
        item_id = self._identity.network_message_id(self._identity.next_internal_id())
        header = identified(offered.header, item_id, self._config.accepted_domain)
        return OutboxItem(item_id, header, offered.envelope, offered.size_bytes, offered.hops)

    def _refuse(self, session: InboundSession, offered: MessageOffered, reply: Reply) -> None:
        self._work.emit(DropBody(offered.body))
        session.answer_message(reply)

    def _begin(self, submitted: Submitted) -> None:
        self._items[submitted.item.item_id] = submitted
        self._submit(submitted)

    def _submit(self, submitted: Submitted) -> None:
        """MaxConcurrentMailboxSubmissions at a time; the others in their turn."""
        self._waiting.append(submitted)
        self._submit_waiting()

    def _submit_waiting(self) -> None:
        while self._waiting and self._under_way < self._most:
            submitted = self._waiting.popleft()
            if self._is_ours(submitted):
                self._hand_over_one(submitted)
            else:
                self._leave(submitted)

    def _hand_over_one(self, submitted: Submitted) -> None:
        self._under_way += 1

        def answered(reply: Reply, message: PrimaryMessage) -> None:
            self._under_way -= 1
            if reply.code == 250:
                self._acknowledged(submitted, reply, message)
            else:
                self._deferred(submitted, reply)
            self._submit_waiting()

        self._hand_over(submitted.item, submitted.item.body(submitted.database), answered)

    def _acknowledged(self, submitted: Submitted, reply: Reply, message: PrimaryMessage) -> None:
        """SUBMIT: Transport answers for it from now on."""
        context = f"{_place_of(submitted)}, {_text_of(reply)}"
        self._work.emit(primary_row("SUBMIT", "STOREDRIVER", message, source_context=context))
        submitted.is_acknowledged = True
        self._remove(submitted)

    def _deferred(self, submitted: Submitted, reply: Reply) -> None:
        """SR-15: it stays in the Outbox."""
        self._work.emit(_outbox_row("SUBMITDEFER", submitted, _text_of(reply)))
        self._try_again(submitted)

    def _try_again(self, submitted: Submitted) -> None:
        def again() -> None:
            is_here = self._active_copies.takes(submitted.database)
            if is_here and submitted.is_acknowledged:
                self._remove(submitted)
            elif self._is_ours(submitted):
                self._submit(submitted)
            else:
                self._leave(submitted)

        submitted.again = self._work.again(SUBMIT_AGAIN_MS, again)

    def _remove(self, submitted: Submitted) -> None:
        change = RemoveOutboxItem(submitted.item.item_id, self._work.now_ms)

        def removed(answer: CopyChanged) -> None:
            for log in answer.logs:
                self._logged(log)
            self._forget(submitted)

        self._work.change_copy(
            submitted.database, change, removed, lambda reason: self._try_again(submitted)
        )

    def _is_ours(self, submitted: Submitted) -> bool:
        """Whether its database has been active here since it was read."""
        database = submitted.database
        is_here = self._active_copies.takes(database)
        return is_here and submitted.reading == self._readings[database]

    def _leave(self, submitted: Submitted) -> None:
        """To whoever has the active copy now; that may be this server once more."""
        self._forget(submitted)
        self._read.discard(submitted.database)
        self.look_into(submitted.database)

    def _forget(self, submitted: Submitted) -> None:
        """Done; or another server's to submit, which may have done that before the copy here is
        active once more: what is still in the Outbox is read again.
        """
        del self._items[submitted.item.item_id]


def _place_of(submitted: Submitted) -> str:
    return f"MDB:{submitted.database}, Item:{submitted.item.item_id}"


def _text_of(reply: Reply) -> str:
    return " ".join((str(reply.code), *reply.lines))


def _outbox_row(event: str, submitted: Submitted, said: str) -> LogTracking:
    """About an item that no Transport service answers for: it has no ids of one. `said`: the log of
    the database that has it, or why it stays.
    """
    item, place = submitted.item, _place_of(submitted)
    return LogTracking(
        event,
        "STOREDRIVER",
        0,
        "",
        item.header,
        item.envelope,
        item.size_bytes,
        item.envelope.recipients,
        f"{place}, {said}" if said else place,
    )
