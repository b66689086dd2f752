"""The grammar of XOUTBOX, by which a client puts what it submits into the Outbox of the mailbox
database that has its sender's mailbox. In Exchange it does so by MAPI, so all of it is this
project's own:

    XOUTBOX <database>
        250 2.0.0 Outbox item may follow       then MAIL, RCPT, DATA; 250 2.6.0 … Queued in Outbox

A client shows no certificate. Whose mailbox it is, the core asks of MAIL.
"""

from __future__ import annotations

from nodes.core.interface.inputs import OutboxRequested
from nodes.core.model.outbox import IntoOutbox
from nodes.shell.verbs.words import words_of

VERB = "XOUTBOX"


def format_prologue(prologue: IntoOutbox) -> tuple[str, ...]:
    """As words."""
    return (VERB, prologue.database)


def parse_request(session: str, arguments: str) -> OutboxRequested | None:
    """None for arguments that are not of the grammar."""
    words = words_of(arguments, 1)
    return OutboxRequested(session, *words) if words else None
