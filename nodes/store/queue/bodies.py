"""Message bodies of the queue database: stored once, shared by counting, gone with the last row
that names them.

A message that changes queue keeps its body where it is, so no move writes bytes again. Internal ids
are unique in a queue database, so `db:<internal id>` finds the body whatever queue the message is
in by then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

ADD_BODY = "INSERT INTO bodies (refs, content) VALUES (1, ?)"
SHARE_BODY = "UPDATE bodies SET refs = refs + 1 WHERE body_id = ?"
RELEASE_LAST = "DELETE FROM bodies WHERE body_id = ? AND refs = 1"
RELEASE_ONE = "UPDATE bodies SET refs = refs - 1 WHERE body_id = ? AND refs > 1"
MESSAGE_TABLES = ("messages", "shadows", "primary_safety_net", "shadow_safety_net")
FIND_BODY = " UNION ALL ".join(
    f"SELECT body_id FROM {table} WHERE internal_id = ?1" for table in MESSAGE_TABLES
)
READ_BODY = f"SELECT content FROM bodies WHERE body_id = ({FIND_BODY})"


def add_body(connection: sqlite3.Connection, content: bytes) -> int:
    """Store a body for one row; gives its id."""
    row = connection.execute(ADD_BODY, (content,)).lastrowid
    assert row is not None
    return row


def share_body(connection: sqlite3.Connection, internal_id: int) -> int:
    """One more row names the body of that message; gives its id."""
    found = connection.execute(FIND_BODY, (internal_id,)).fetchone()
    assert found is not None, f"db:{internal_id} names no body"
    connection.execute(SHARE_BODY, found)
    return int(found[0])


def release_bodies(connection: sqlite3.Connection, body_ids: Iterable[int]) -> None:
    """One row less names each body."""
    for body_id in body_ids:
        if connection.execute(RELEASE_LAST, (body_id,)).rowcount == 0:
            released = connection.execute(RELEASE_ONE, (body_id,)).rowcount
            assert released == 1, f"body {body_id} is not there"


def read_body(connection: sqlite3.Connection, internal_id: int) -> bytes | None:
    """The body of a message in any queue or Safety Net; None where there is no such message."""
    found = connection.execute(READ_BODY, (internal_id,)).fetchone()
    return None if found is None else bytes(found[0])
