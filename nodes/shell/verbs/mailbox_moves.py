"""The grammar by which a mailbox moves to another mailbox database, as by New-MoveRequest. All of
it is this project's own:

    XMOVE <address> <database>
        250 2.6.0 Mailbox is in the mailbox database
    XMAILBOX <database> <address>
        250 2.0.0 Mailbox may follow       then MAIL, RCPT, DATA; 250 2.6.0 Mailbox is in …

The first is an administrator's, to the server of the active copy that the mailbox leaves; the
second that server's, to the server of the other one. Who may use them is the core's to say.
"""

from __future__ import annotations

from nodes.core.interface.effects import ShipMailbox
from nodes.core.interface.inputs import MailboxAnnounced, MoveRequested
from nodes.shell.verbs.words import words_of

VERB = "XMOVE"


def format_request(address: str, database: str) -> tuple[str, ...]:
    """As words."""
    return (VERB, address, database)


def format_prologue(prologue: ShipMailbox) -> tuple[str, ...]:
    """The command that announces a mailbox, as words."""
    return ("XMAILBOX", prologue.database, prologue.address)


def parse_request(session: str, arguments: str) -> MoveRequested | None:
    """None for arguments that are not of the grammar, here and below."""
    words = words_of(arguments, 2)
    return MoveRequested(session, *words) if words else None


def parse_announcement(session: str, arguments: str) -> MailboxAnnounced | None:
    words = words_of(arguments, 2)
    return MailboxAnnounced(session, *words) if words else None
