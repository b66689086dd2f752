"""Plain values as the core would make them, and a queue database to put them in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from nodes.core.model.message import (
    DiscardNotification,
    Envelope,
    Fork,
    Header,
    PrimaryMessage,
    ShadowKey,
    ShadowMessage,
)
from nodes.core.model.next_hop import NextHop
from nodes.store.queue.database import Opening, open_queue_database
from tests.nodes.next_hops import DB1

NOW_MS = 1_767_600_000_000  # 2026-01-05T08:00:00Z, the start of lab time
DATABASE_ID = "11111111-2222-4333-8444-555555555555"
PRIMARY = "par-mbx1"

BODIES = {"in:1": b"Subject: one\r\n\r\nfirst\r\n", "in:2": b"Subject: two\r\n\r\nsecond\r\n"}


def fetch(handle: str) -> bytes:
    """Bodies as the shell would hold them."""
    if handle.startswith("made:"):
        return handle.removeprefix("made:").encode()
    return BODIES.get(handle, handle.encode())


def header(number: int) -> Header:
    return Header(f"<m{number:06}@outside.example>", NOW_MS + number, f"message {number}")


def primary_message(
    internal_id: int,
    *,
    next_hops: tuple[NextHop, ...] = (DB1,),
    shadow_server: str | None = "lyo-mbx1",
    side_effect_of: int | None = None,
) -> PrimaryMessage:
    forks = tuple(
        Fork(hop, (f"db1-user{position:02}@shadowlab.example",))
        for position, hop in enumerate(next_hops, 1)
    )
    return PrimaryMessage(
        internal_id,
        f"net-{internal_id}",
        header(internal_id),
        Envelope("sender01@outside.example", tuple(r for fork in forks for r in fork.recipients)),
        1000 + internal_id,
        NOW_MS,
        shadow_server,
        forks,
        side_effect_of,
        shadow_database_id=f"{shadow_server}-db" if shadow_server else "",
    )


def shadow_message(
    internal_id: int, *, primary: str = PRIMARY, database_id: str = "db-a", primary_id: int = 0
) -> ShadowMessage:
    return ShadowMessage(
        ShadowKey(primary, database_id, primary_id or internal_id),
        internal_id,
        f"net-{internal_id}",
        header(internal_id),
        Envelope("", ("db1-user01@shadowlab.example", 'o"dd, one@partner.example')),
        2000 + internal_id,
        NOW_MS,
    )


def discard(sequence: int, server: str = "lyo-mbx1") -> DiscardNotification:
    return DiscardNotification(server, sequence, sequence, NOW_MS + sequence)


def open_queue(folder: Path, database_id: str = DATABASE_ID) -> Opening:
    return open_queue_database(folder / "queue.db", NOW_MS, lambda: database_id)


def count(folder: Path, table: str) -> int:
    """Rows of a table, read beside whoever has the database open."""
    with closing(sqlite3.connect(folder / "queue.db")) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
