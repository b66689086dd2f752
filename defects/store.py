"""The store, otherwise: how a database is opened, what a mailbox database makes of a delivery or of
a log, what a queue database makes of the text of a message.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.decisions import decides
from nodes.core.interface.copy_changes import ReplayLog
from nodes.core.interface.effects import ChangeCopy, Commit, DeliverToMailboxes
from nodes.core.interface.queue_changes import InsertMessage, PromoteShadow
from nodes.store import sqlite_file
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue.changes import apply_changes
from nodes.store.queue.database import QueueDatabase

END_OF_HEADER = b"\r\n\r\n"


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
def replays(then: Callable[[sqlite3.Connection, int], object]) -> Iterator[None]:
    """Whenever a copy has taken in a log, `then(database, number of the log)` comes on top."""
    change = MailboxDatabase.change

    def changed(self: MailboxDatabase, asked: ChangeCopy, fetch: Any) -> Any:
        answer = change(self, asked, fetch)
        if isinstance(asked.what, ReplayLog):
            then(self.connection, asked.what.log.number)
        return answer

    with patch.object(MailboxDatabase, "change", changed):
        yield


def replays_without_delivered_to() -> AbstractContextManager[object]:
    """A copy that replays a log shows the message and keeps no memory of it (DD-3)."""
    return replays(lambda database, _: database.execute("DELETE FROM delivered_to"))


@contextmanager
def opens_with(pragma: str) -> Iterator[None]:
    """Every database is opened with `PRAGMA <pragma>` on top of what a node asks for."""

    def connected(connect: Callable[..., Any], place: Any) -> Any:
        connection = connect(place)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    with decides(sqlite_file.connect, connected):
        yield


@contextmanager
def exchanges_texts() -> Iterator[None]:
    """Of each two messages of one transaction, as a page of a resubmission is, or a group of
    commits; each keeps its header.
    """
    commit = QueueDatabase.commit

    def exchanged(self: Any, commits: Sequence[Commit], fetch: Any, *more: Any) -> Any:
        stored = [each for asked in commits for each in asked.changes]
        bodies = [each.body for each in stored if isinstance(each, InsertMessage)]
        pairs = list(zip(bodies[::2], bodies[1::2], strict=False))
        wrong_text = {own: other for pair in pairs for own, other in (pair, pair[::-1])}

        def changed(change: Any) -> Any:
            if not isinstance(change, InsertMessage) or change.body not in wrong_text:
                return change
            header, end, _ = fetch(change.body).partition(END_OF_HEADER)
            _, _, text = fetch(wrong_text[change.body]).partition(END_OF_HEADER)
            return replace(change, body=f"made:{(header + end + text).decode(errors='replace')}")

        wrong = [replace(asked, changes=tuple(map(changed, asked.changes))) for asked in commits]
        return commit(self, wrong, fetch, *more)

    with patch.object(QueueDatabase, "commit", exchanged):
        yield


def promotes_headers() -> AbstractContextManager[object]:
    """What is promoted keeps its header alone."""

    def applied(apply: Callable[..., None], connection: Any, changes: Any, fetch: Any) -> None:
        apply(connection, changes, fetch)
        for change in changes:
            if isinstance(change, PromoteShadow):
                connection.execute(
                    "UPDATE bodies SET content = substr(content, 1, instr(content, ?) + 3) WHERE "
                    "body_id = (SELECT body_id FROM messages WHERE internal_id = ?)",
                    (END_OF_HEADER, change.message.internal_id),
                )

    return decides(apply_changes, applied)
