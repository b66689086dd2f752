"""A mailbox moves to another mailbox database of its boundary, as by New-MoveRequest (SN-8, DD-3).

While Active Directory says that it is on its way nothing is delivered into it anywhere. The server
of the active copy that it leaves sends all that it shows to the server of the other one, and says
yes when every copy of that database has it: a failover loses nothing of it. Only then does Active
Directory name the other database. What DeliveredTo knows of it stays behind, and so does what it
showed, which nobody sees any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from nodes.core.categorizer.mailboxes import Mailboxes
from nodes.core.config.config import NodeConfig
from nodes.core.copies.active_copies import ActiveCopies
from nodes.core.copies.copies import DatabaseCopies
from nodes.core.engine.work import Because, Then, Work
from nodes.core.interface.copy_changes import AwaitDeliveries, ImportMailbox
from nodes.core.interface.effects import DropBody, LogLifecycle, ShipMailbox
from nodes.core.interface.inputs import (
    CopyChanged,
    MailboxAnnounced,
    MessageOffered,
    MoveRequested,
    TransmissionAnswered,
)
from nodes.core.interface.replies import (
    R250_MAILBOX_MOVED,
    R250_MAILBOX_NEXT,
    R432_NOT_ACTIVE_HERE,
    R451_MAILBOX_NOT_MOVED,
    R503_BAD_SEQUENCE,
    R503_NOT_MOVING,
    R550_NOT_ALLOWED,
    Reply,
)
from nodes.core.model.message import BodyHandle, Envelope
from nodes.core.model.next_hop import NextHop
from nodes.core.routing.boundary import is_inside
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove
from nodes.core.sessions.outbound import Sessions
from nodes.core.sessions.outbound_session import Lease

LOOK_AGAIN_MS = 1_000
COPIES_WAIT_MS = 60_000
"""So long the other copies of a database may take to have a mailbox that moved there."""
PURPOSE = "mailboxmove"

Ended: TypeAlias = Callable[[str], None]
"""With why it did not move; empty where it did."""


class MailboxMoves:
    """Mailboxes that leave databases here, and that come into them."""

    def __init__(
        self,
        config: NodeConfig,
        work: Work,
        sessions: Sessions,
        active_copies: ActiveCopies,
        copies: DatabaseCopies,
        mailboxes: Mailboxes,
    ) -> None:
        self._config = config
        self._work = work
        self._sessions = sessions
        self._active_copies = active_copies
        self._copies = copies
        self._mailboxes = mailboxes

    def requested(self, asked: MoveRequested, session: InboundSession) -> None:
        """By an administrator: answered when it is over."""
        address = asked.address.lower()
        refusal = self._refusal(address, asked.database, self._mailboxes.get(address, ""))
        if refusal is not None:
            session.reply(refusal)
            return
        database = self._mailboxes[address]

        def ended(reason: str) -> None:
            event = "mailbox-not-moved" if reason else "mailbox-moved"
            named = (("database", database), ("to", asked.database), ("mailbox", address))
            said = (("reason", reason),) if reason else ()
            self._work.emit(LogLifecycle(event, (*named, *said)))
            session.reply(R451_MAILBOX_NOT_MOVED if reason else R250_MAILBOX_MOVED)

        def is_whole(_answer: CopyChanged) -> None:
            if self._active_copies.takes(database):
                self._send(address, asked.database, f"mailbox:{database}:{address}", ended)
            else:
                ended(f"{database} is not active here any more")

        self._work.change_copy(database, AwaitDeliveries(), is_whole, ended)

    def _refusal(self, address: str, to: str, held_by: str) -> Reply | None:
        """`held_by`: the database whose active copy has to be here."""
        if self._mailboxes.moves_to(address) != to:
            return R503_NOT_MOVING
        return None if self._active_copies.takes(held_by) else R432_NOT_ACTIVE_HERE

    def _send(self, address: str, to: str, body: BodyHandle, ended: Ended) -> None:
        server = self._active_copies.peer_of(NextHop.into(to))
        if server == self._config.me.name:
            self._import(address, to, body, lambda: ended(""), ended)
            return

        def ready(lease: Lease) -> None:
            def answered(answer: TransmissionAnswered) -> None:
                lease.release()
                ended("" if answer.code == 250 else f"{server}: {answer.code} {answer.text}")

            prologue, envelope = ShipMailbox(to, address), Envelope("", (address,))
            lease.transmit(prologue, envelope, body, answered, ended)

        self._sessions.request(server, PURPOSE, ready, ended, opens=True)

    def announced(self, asked: MailboxAnnounced, session: InboundSession) -> None:
        refusal = self._refusal(asked.address.lower(), asked.database, asked.database)
        if not is_inside(self._config, session.peer):
            session.reply(R550_NOT_ALLOWED)
        elif refusal is not None:
            session.reply(refusal)
        elif not session.may(InboundMove.ANNOUNCE_LOG):
            session.reply(R503_BAD_SEQUENCE)
        else:
            session.announced = ShipMailbox(asked.database, asked.address.lower())
            session.reply(R250_MAILBOX_NEXT)

    def take(
        self, session: InboundSession, announced: ShipMailbox, offered: MessageOffered
    ) -> None:
        """What was announced has come; meanwhile the move may have been given up."""

        def over(reply: Reply) -> None:
            self._work.emit(DropBody(offered.body))
            session.answer_message(reply)

        address, database = announced.address, announced.database
        refusal = self._refusal(address, database, database)
        if refusal is not None:
            over(refusal)
            return
        self._import(
            address,
            database,
            offered.body,
            lambda: over(R250_MAILBOX_MOVED),
            lambda reason: over(R451_MAILBOX_NOT_MOVED),
        )

    def _import(
        self, address: str, database: str, body: BodyHandle, then: Then, failed: Because
    ) -> None:
        until_ms = self._work.now_ms + COPIES_WAIT_MS

        def imported(answer: CopyChanged) -> None:
            for log in answer.logs:
                self._copies.logged(log)
            number = max((log.number for log in answer.logs), default=0)
            self._when_all_have_it(database, number, until_ms, then, failed)

        change = ImportMailbox(address, body, self._work.now_ms)
        self._work.change_copy(database, change, imported, failed)

    def _when_all_have_it(
        self, database: str, number: int, until_ms: int, then: Then, failed: Because
    ) -> None:
        if self._copies.all_have(database, number):
            then()
        elif self._work.now_ms >= until_ms or not self._active_copies.takes(database):
            failed(f"not every copy of {database} has it")
        else:
            self._work.again(
                LOOK_AGAIN_MS,
                lambda: self._when_all_have_it(database, number, until_ms, then, failed),
            )
