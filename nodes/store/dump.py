"""What the databases of a node hold, as plain records: for the run folder, and for a person who
looks.

    python3 -m nodes.store.dump DATA_DIR [--only queue|mailboxes] [--origin 2026-01-05T08:00:00Z]

Meant for the files of a node that stands still, stopped or killed. They are never opened themselves
but copied first, with their -wal, so that looking changes nothing. Times (`…_ms`) count from the
start of lab time, but for `submitted_ms`, which is the message's own Date as Unix epoch
milliseconds, null where it cannot be read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TypeAlias

from nodes.core.model.database_copy import CopyState
from nodes.core.model.message import UNREADABLE_DATE_MS
from nodes.store import sqlite_file
from nodes.store.content_conversion import ENCODINGS, encoding_of
from nodes.store.dsn_fields import columns_of
from nodes.store.journal_fields import journal_of
from nodes.store.leftovers import LEFTOVERS
from nodes.store.mailbox.mailbox_copy import standing_of
from nodes.store.mailbox.stored_content import stored_content
from nodes.store.message_digest import columns_of_content
from nodes.store.queue.bodies import MESSAGE_TABLES
from nodes.store.queue.rows import addresses_of

Row: TypeAlias = dict[str, object]
Moved: TypeAlias = Mapping[str, str]
"""Address to database, of mailboxes that are not where they were at first."""

ORIGIN = "2026-01-05T08:00:00Z"

_QUEUE_KEYS = (
    "message_id",
    "network_message_id",
    "internal_id",
    "recipients",
    "primary",
    "primary_database_id",
    "shadow_server",
    "entered_ms",
    "delivered_ms",
    "expires_ms",
    "state",
)
_QUEUES = (
    (
        "delivery",
        "SELECT m.message_id, m.network_message_id, m.internal_id, f.recipients, NULL, NULL, "
        "m.shadow_server, m.received_ms, NULL, NULL, f.state "
        "FROM messages AS m CROSS JOIN forks AS f ON f.internal_id = m.internal_id "
        "WHERE f.state NOT IN ('done', 'expired') ORDER BY m.internal_id, f.position",
    ),
    (
        "shadow",
        "SELECT message_id, network_message_id, internal_id, recipients, primary_server, "
        "primary_database_id, NULL, received_ms, NULL, expires_ms, 'held' "
        "FROM shadows ORDER BY internal_id",
    ),
    (
        "primary-safety-net",
        "SELECT message_id, network_message_id, internal_id, recipients, NULL, NULL, "
        "shadow_server, received_ms, delivered_ms, expires_ms, 'kept' "
        "FROM primary_safety_net ORDER BY internal_id",
    ),
    (
        "shadow-safety-net",
        "SELECT message_id, network_message_id, internal_id, recipients, primary_server, "
        "primary_database_id, NULL, received_ms, delivered_ms, expires_ms, 'kept' "
        "FROM shadow_safety_net ORDER BY internal_id",
    ),
    (
        "discard",
        "SELECT coalesce(m.message_id, k.message_id), "
        "coalesce(m.network_message_id, k.network_message_id), d.internal_id, "
        "coalesce(m.recipients, k.recipients, '[]'), NULL, NULL, "
        "d.shadow_server, d.delivered_ms, d.delivered_ms, NULL, 'waiting' "
        "FROM discards AS d LEFT JOIN messages AS m ON m.internal_id = d.internal_id "
        "LEFT JOIN primary_safety_net AS k ON k.internal_id = d.internal_id "
        "ORDER BY d.shadow_server, d.sequence",
    ),
    *LEFTOVERS,
)
_WITH_BODIES = ("delivery", "shadow", "primary-safety-net", "shadow-safety-net")
_MENTIONING = " UNION ALL ".join(
    f"SELECT q.internal_id, b.content FROM {table} AS q JOIN bodies AS b USING (body_id) "
    "WHERE instr(b.content, ?1)"
    for table in MESSAGE_TABLES
)
_MAILBOX_KEYS = (
    "mailbox", "message_id", "sender", "submitted_ms", "delivered_ms", "size_bytes", "server",
)  # fmt: skip
_MAILBOXES = (
    "SELECT b.address, m.message_id, m.sender, "
    f"iif(m.submitted_ms > {UNREADABLE_DATE_MS}, m.submitted_ms, NULL), "
    "c.delivered_ms, m.size_bytes, meta.server, c.message_row "
    "FROM copies AS c JOIN mailboxes AS b USING (mailbox_id) "
    "JOIN messages AS m USING (message_row) CROSS JOIN meta ORDER BY c.message_row, b.address"
)
_CONTENT = "SELECT content FROM messages WHERE message_row = ?"


def queue_rows(path: Path, origin_ms: int) -> Iterator[Row]:
    """Records of `queues.jsonl`: a line per unfinished fork, shadow, kept copy, and discard
    notification; and per thing that nothing should have left there (`nodes.store.leftovers`).

    `path`: a queue database; none at all holds nothing. Raises sqlite3.Error where it cannot be
    read.
    """
    if not path.exists():
        return
    with _copied(path) as connection:
        yield from queue_rows_in(connection, origin_ms)


def queue_rows_in(connection: sqlite3.Connection, origin_ms: int) -> Iterator[Row]:
    """The same of a database that is open."""
    encodings = _encodings(connection)
    for queue, query in _QUEUES:
        for row in connection.execute(query):
            record = _queue_record(queue, row, origin_ms)
            if queue in _WITH_BODIES and record["internal_id"] in encodings:
                record["content_transfer_encoding"] = encodings[record["internal_id"]]
            yield record


def _encodings(connection: sqlite3.Connection) -> dict[object, str]:
    """Internal id to transfer encoding, of the messages whose content has one."""
    found = {}
    for each in ENCODINGS:
        for internal_id, content in connection.execute(_MENTIONING, (each,)):
            if encoding := encoding_of(content):
                found[internal_id] = encoding
    return found


def mailbox_rows(path: Path, origin_ms: int, moved: Moved = MappingProxyType({})) -> Iterator[Row]:
    """Records of `mailboxes/<database>.jsonl`: a line per visible copy, with the digest of what is
    stored. Of mailboxes that `moved` the database has what they left behind, or what never became
    theirs, which nobody sees, unless it is the one that they are in. Raises sqlite3.Error.
    """
    with _copied(path) as connection:
        yield from mailbox_rows_in(connection, origin_ms, moved)


def mailbox_rows_in(
    connection: sqlite3.Connection, origin_ms: int, moved: Moved = MappingProxyType({})
) -> Iterator[Row]:
    """The same of a database that is open."""
    database = standing_of(connection).database
    # copies of one message follow one another; its content is read once, and by itself, since
    # what is sorted is kept until all is
    for message_row, copies in groupby(connection.execute(_MAILBOXES), key=itemgetter(-1)):
        (content,) = connection.execute(_CONTENT, (message_row,)).fetchone()
        said: Row = {**columns_of_content(content), **columns_of(content)}
        said["journal"] = journal_of(content)
        for *row, _ in copies:
            record: Row = dict(zip(_MAILBOX_KEYS, row, strict=True))
            record["delivered_ms"] = _since(record["delivered_ms"], origin_ms)
            if moved.get(str(record["mailbox"]), database) == database:
                yield record | said


def copy_rows(paths: Iterable[Path], origin_ms: int) -> Iterator[Row]:
    """Records of `copies.jsonl`: a line per copy of a mailbox database that has several. `paths`
    are mailbox databases. Raises sqlite3.Error.
    """
    for path in paths:
        with _copied(path) as connection:
            yield from copy_rows_in(connection, origin_ms)


def copy_rows_in(connection: sqlite3.Connection, origin_ms: int) -> Iterator[Row]:
    """The same of one that is open; nothing, where the database has no other copy."""
    standing = standing_of(connection)
    if standing.state is CopyState.SINGLE:
        return
    content = stored_content(connection)
    yield {
        "database": standing.database,
        "state": standing.state.value,
        "epoch": standing.epoch,
        "last_log": standing.last_log,
        "last_log_epoch": standing.last_log_epoch,
        "last_log_ms": _since(standing.last_log_ms, origin_ms) if standing.last_log else None,
        "received": standing.received,
        "messages": content.messages,
        "content_sha256": content.sha256,
    }


@dataclass(frozen=True, slots=True)
class MailboxFile:
    """One copy of a mailbox database: the server that has it, and how it stands there."""

    server: str
    state: CopyState
    epoch: int


def standing(path: Path) -> MailboxFile:
    """Of a mailbox database in a file. Raises sqlite3.Error."""
    with _copied(path) as connection:
        return standing_in(connection)


def standing_in(connection: sqlite3.Connection) -> MailboxFile:
    """The same of one that is open."""
    server, state, epoch = connection.execute("SELECT server, state, epoch FROM meta").fetchone()
    return MailboxFile(str(server), CopyState(state), int(epoch))


def shown_to_users(copies: Iterable[MailboxFile]) -> str | None:
    """The server whose copy of one database recipients see: of those that are not passive or empty
    the one under the latest epoch, since one that is cut off may not know that it is over. None
    without.
    """
    unseen = (CopyState.PASSIVE, CopyState.SEEDING)
    found = [(copy.epoch, copy.server) for copy in copies if copy.state not in unseen]
    return max(found)[1] if found else None


def mailbox_files(folder: Path) -> dict[str, Path]:
    """The mailbox databases in a node's data folder, by name, in order."""
    found = sorted(folder.glob("mailbox-*.db"))
    return {path.stem.removeprefix("mailbox-"): path for path in found}


def _queue_record(queue: str, row: tuple[object, ...], origin_ms: int) -> Row:
    record: Row = {"queue": queue, **dict(zip(_QUEUE_KEYS, row, strict=True))}
    record["recipients"] = list(addresses_of(str(record["recipients"])))
    for key in ("entered_ms", "delivered_ms", "expires_ms"):
        record[key] = _since(record[key], origin_ms)
    return record


def _since(epoch_ms: object, origin_ms: int) -> int | None:
    return epoch_ms - origin_ms if isinstance(epoch_ms, int) else None


@contextmanager
def _copied(path: Path) -> Iterator[sqlite3.Connection]:
    with TemporaryDirectory(prefix="shadowlab-dump-") as folder:
        copy = Path(folder) / path.name
        wal = sqlite_file.companions(path)[0]
        for original in (wal, path):
            if original.exists():
                shutil.copyfile(original, copy.with_name(original.name))
        connection = sqlite_file.connect(copy)
        try:
            yield connection
        finally:
            connection.close()


def main(arguments: list[str] | None = None) -> int:
    """Print the records, a JSON object a line; exit code 1 where a file cannot be read."""
    parser = argparse.ArgumentParser(
        prog="nodes.store.dump", description="what a node's databases hold"
    )
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--only", choices=("queue", "mailboxes"))
    parser.add_argument("--origin", default=ORIGIN, help="start of lab time, ISO 8601")
    given = parser.parse_args(arguments)
    origin_ms = round(datetime.fromisoformat(given.origin).timestamp() * 1000)
    try:
        for record in _records(given.data_dir, given.only, origin_ms):
            print(json.dumps(record))
    except sqlite3.Error as error:
        print(f"{given.data_dir}: {error}", file=sys.stderr)
        return 1
    return 0


def _records(folder: Path, only: str | None, origin_ms: int) -> Iterator[Row]:
    if only != "mailboxes":
        yield from queue_rows(folder / "queue.db", origin_ms)
    if only != "queue":
        for path in mailbox_files(folder).values():
            yield from mailbox_rows(path, origin_ms)


if __name__ == "__main__":
    sys.exit(main())
