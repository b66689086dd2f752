"""The store, otherwise: how a database is opened, what a mailbox database makes of a delivery or of
a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from defects.decisions import decides
from nodes.core.interface.copy_changes import ReplayLog
from nodes.core.interface.effects import ChangeCopy, DeliverToMailboxes
from nodes.store import sqlite_file
from nodes.store.mailbox.database import MailboxDatabase


@contextmanager
def stores(content: Callable[[bytes], bytes]) -> Iterator[None]:
    """Mailboxes get `content(what was sent)`."""
    deliver = MailboxDatabase.deliver

    def delivered(self: MailboxDatabase, asked: DeliverToMailboxes, sent: bytes) -> Any:
        return deliver(self, asked, content(sent))

    with patch.object(MailboxDatabase, "deliver", delivered):
        yield


def keeps_bodies() -> AbstractContextManager[object]:
    """What nobody refers to any more stays when Safety Nets let go."""
    return patch("nodes.store.queue.database.release_bodies", lambda connection, body_ids: None)


@contextmanager
def replays_without_delivered_to() -> Iterator[None]:
    """A copy that replays a log shows the message and keeps no memory of it (DD-3)."""
    change = MailboxDatabase.change

    def changed(self: MailboxDatabase, asked: ChangeCopy, fetch: Any) -> Any:
        answer = change(self, asked, fetch)
        if isinstance(asked.what, ReplayLog):
            self.connection.execute("DELETE FROM delivered_to")
        return answer

    with patch.object(MailboxDatabase, "change", changed):
        yield


@contextmanager
def opens_with(pragma: str) -> Iterator[None]:
    """Every database is opened with `PRAGMA <pragma>` on top of what a node asks for."""

    def connected(connect: Callable[..., Any], place: Any) -> Any:
        connection = connect(place)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    with decides(sqlite_file.connect, connected):
        yield
