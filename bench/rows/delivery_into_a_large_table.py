"""A delivery into a mailbox database whose DeliveredTo table has a million entries, beside one into
an empty one (DD-5): as a node delivers, each in a durable transaction of its own.

The two are delivered into by turns, so that both see the same machine.
"""

import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.result import Result, in_pairs
from nodes.core.interface.effects import DeliverToMailboxes
from nodes.core.model.message import Header
from nodes.store.mailbox.database import MailboxDatabase

ENTRIES, MAILBOXES, ROUNDS, DELIVERIES = 1_000_000, 50, 5, 200
NOW_MS, WINDOW_MS = 1_767_600_000_000, 7 * 86_400_000
CONTENT = b"Subject: bench\r\n\r\n" + b"x" * 4_000


def measure() -> Result:
    """Milliseconds a delivery; aim of the ratio: 2 at most."""
    with TemporaryDirectory() as folder:
        large, empty = (_made(Path(folder) / name) for name in ("large", "empty"))
        with closing(large), closing(empty):
            _fill(large)
            pairs = [(_delivered(large, each), _delivered(empty, each)) for each in range(ROUNDS)]
    against = f"an empty one, {DELIVERIES} deliveries a round; aim 2"
    return in_pairs("delivery_into_a_large_table", pairs, "ms", against)


def _made(folder: Path) -> MailboxDatabase:
    folder.mkdir()
    return MailboxDatabase.open(folder, "DB1", "bench")


def _fill(database: MailboxDatabase) -> None:
    """Ids in no order, as those of many senders are."""
    rows = (
        (number % MAILBOXES + 1, f"<{number * 7_919 % ENTRIES:08d}@x>", NOW_MS, NOW_MS - number)
        for number in range(ENTRIES)
    )
    with database.connection as db:
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO mailboxes (mailbox_id, address) VALUES (?, ?)",
            [(number + 1, _address(number)) for number in range(MAILBOXES)],
        )
        db.executemany("INSERT INTO delivered_to VALUES (?, ?, ?, ?)", rows)
    database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _address(number: int) -> str:
    return f"db1-user{number}@shadowlab.example"


def _delivered(database: MailboxDatabase, round_: int) -> float:
    began = time.perf_counter()
    for number in range(DELIVERIES):
        header = Header(f"<{round_}-{number * 7_919 % DELIVERIES}@y>", NOW_MS, "bench")
        recipients = (_address(number % MAILBOXES),)
        database.deliver(
            DeliverToMailboxes(
                number, "DB1", header, "a@outside.example", recipients, len(CONTENT), "in:1",
                NOW_MS, WINDOW_MS,
            ), CONTENT,
        )  # fmt: skip
    return (time.perf_counter() - began) * 1000 / DELIVERIES
