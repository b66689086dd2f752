"""A logical corruption: mailboxes lose what they show, by a change as good as any other.

It is written as a log, so every copy that replays it has lost the same; a lagged copy, which keeps
it for a while, is what such a database is saved by (SN-20). What DeliveredTo has stays, so that no
second copy of that mail gets in.
"""

from __future__ import annotations

import sqlite3

KIND = "corruption"

EMPTY_MAILBOXES = "DELETE FROM copies"


def corrupt(db: sqlite3.Connection) -> None:
    """In the transaction that the caller has begun."""
    db.execute(EMPTY_MAILBOXES)
