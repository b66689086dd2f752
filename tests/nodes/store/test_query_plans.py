"""Hot statements find their rows by an index, and none sorts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection

import pytest

from nodes.store import sqlite_file
from nodes.store.mailbox import database as mailbox_database
from nodes.store.mailbox import delivered as arrivals
from nodes.store.mailbox import mailbox_copy
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue import bodies, changes, forks, resubmit_requests, safety_net
from nodes.store.queue import database as queue_database
from tests.nodes.store.samples import open_queue

EXPIRY_TABLES = [table for table, _ in queue_database.EXPIRING]
FOUND_BY_INDEX = {
    "finish a fork": forks.FINISH_FORK,
    "count unfinished forks": forks.UNFINISHED_FORKS,
    "read a fork's recipients": forks.READ_RECIPIENTS,
    "leave a fork": forks.LEAVE_FORK,
    "delete forks": forks.DELETE_FORKS,
    "copy to primary safety net": changes.COPY_TO_PRIMARY_SAFETY_NET,
    "delete a message": changes.DELETE_MESSAGE,
    "set the shadow server": changes.SET_SHADOW_SERVER,
    "forget discards": changes.FORGET_DISCARDS,
    "drop old discards": changes.DROP_OLD_DISCARDS,
    "copy to shadow safety net": changes.COPY_TO_SHADOW_SAFETY_NET,
    "delete a shadow": changes.DELETE_SHADOW,
    "read the primary safety net": safety_net.READ_PRIMARY,
    "read the shadow safety net": safety_net.READ_SHADOW,
    "advance a resubmit request": resubmit_requests.ADVANCE,
    "take note of a head": resubmit_requests.DELETE_HEAD,
    "find a body": bodies.FIND_BODY,
    "read a body": bodies.READ_BODY,
    "share a body": bodies.SHARE_BODY,
    "release a body": bodies.RELEASE_LAST,
    **{f"find expired in {t}": queue_database.find_expired(t) for t in EXPIRY_TABLES},
    **{f"delete expired from {t}": queue_database.delete_expired(t) for t in EXPIRY_TABLES},
    **{f"earliest expiry of {t}": queue_database.earliest_expiry(t) for t in EXPIRY_TABLES},
}
READ_IN_ORDER = {
    "messages": queue_database.LOAD_MESSAGES,
    "forks": queue_database.LOAD_FORKS,
    "shadows": queue_database.LOAD_SHADOWS,
    "discards": queue_database.LOAD_DISCARDS,
    "discards asked": queue_database.LOAD_DISCARDS_ASKED,
    "contacts": queue_database.LOAD_CONTACTS,
    "resubmit requests": resubmit_requests.LOAD_REQUESTS,
    "heads": resubmit_requests.LOAD_HEADS,
    "active copies": queue_database.LOAD_ACTIVE_COPIES,
}
IN_A_MAILBOX = {
    "find a mailbox": arrivals.FIND_MAILBOX,
    "find in DeliveredTo": mailbox_database.FIND_DELIVERED,
    "read a log": mailbox_copy.READ_LOG,
    "take a log": mailbox_copy.TAKE_LOG,
}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Connection]:
    open_queue(tmp_path).database.close()
    connection = sqlite_file.connect(tmp_path / "queue.db")
    yield connection
    connection.close()


@pytest.fixture
def mailbox(tmp_path: Path) -> Iterator[Connection]:
    MailboxDatabase.open(tmp_path, "DB1", "par-mbx1").close()
    connection = sqlite_file.connect(mailbox_database.mailbox_file(tmp_path, "DB1"))
    yield connection
    connection.close()


def plan(connection: Connection, statement: str) -> list[str]:
    nothing = (None,) * (1 if "?1" in statement else statement.count("?"))
    steps = connection.execute(f"EXPLAIN QUERY PLAN {statement}", nothing).fetchall()
    return [str(step[3]) for step in steps]


def reads_a_table(step: str) -> bool:
    return step.startswith(("SCAN", "SEARCH"))


def uses_an_index(step: str) -> bool:
    return step.startswith("SEARCH") and ("INDEX" in step or "PRIMARY KEY" in step)


@pytest.mark.parametrize("statement", FOUND_BY_INDEX.values(), ids=FOUND_BY_INDEX.keys())
def test_a_row_is_found_by_an_index(statement: str, queue: Connection) -> None:
    reads = [step for step in plan(queue, statement) if reads_a_table(step)]
    assert reads
    assert [step for step in reads if not uses_an_index(step)] == []


@pytest.mark.parametrize(
    "statement",
    [*FOUND_BY_INDEX.values(), *READ_IN_ORDER.values()],
    ids=[*FOUND_BY_INDEX, *READ_IN_ORDER],
)
def test_nothing_is_sorted(statement: str, queue: Connection) -> None:
    assert [step for step in plan(queue, statement) if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize("statement", IN_A_MAILBOX.values(), ids=IN_A_MAILBOX.keys())
def test_a_delivery_looks_up_by_an_index(statement: str, mailbox: Connection) -> None:
    assert all(uses_an_index(step) for step in plan(mailbox, statement))
