"""What a queue database holds though nothing refers to it is listed, and nothing else is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nodes.core.interface.queue_changes import FinishFork, InsertMessage, InsertShadow
from nodes.store import dump
from nodes.store.leftovers import LEFTOVERS
from tests.nodes.next_hops import DB1, EXT1
from tests.nodes.store.samples import NOW_MS, fetch, open_queue, primary_message, shadow_message

KINDS = {name for name, _ in LEFTOVERS}
REQUEST = (
    "INSERT INTO resubmit_requests VALUES ('am:1', 'primary', 'DB1', 0, 1, '[]', 'am', {at}, 0, 0, "
    "0, '{state}', 0, NULL)"
)


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    with open_queue(tmp_path).database as database:
        both = primary_message(1, next_hops=(DB1, EXT1))
        database.apply((InsertMessage(both, "in:1"),), fetch)
        database.apply((FinishFork(1, DB1, "done", NOW_MS + 5),), fetch)
        database.apply((InsertShadow(shadow_message(3), "in:1", NOW_MS + 7),), fetch)
    return tmp_path / "queue.db"


def left(queue: Path, *statements: str) -> list[tuple[object, ...]]:
    """Kind, id, server and state of what is listed after these."""
    with closing(sqlite3.connect(queue)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    found = [row for row in dump.queue_rows(queue, NOW_MS) if row["queue"] in KINDS]
    columns = ("queue", "internal_id", "shadow_server", "state")
    return [tuple(row[name] for name in columns) for row in found]


def test_a_sound_database_has_none(queue: Path) -> None:
    assert left(queue) == []


def test_a_body_that_nobody_uses_or_counts_wrongly(queue: Path) -> None:
    unused = "INSERT INTO bodies (body_id, refs, content) VALUES (77, 1, x'00')"
    assert left(queue, unused) == [("left-body", 77, None, "kept for 1 messages, used by 0")]
    counted = "UPDATE bodies SET refs = 3 WHERE body_id <> 77"
    assert ("kept for 3 messages, used by 1",) in {row[3:] for row in left(queue, counted)}


def test_a_fork_of_a_message_that_is_gone(queue: Path) -> None:
    fork = "INSERT INTO forks VALUES (9, 0, 'database:DB1', '[]', 'queued', NULL)"
    assert left(queue, fork) == [("left-fork", 9, None, "queued, of a message that is gone")]


def test_a_request_that_runs_and_the_head_of_one_that_is_over(queue: Path) -> None:
    head = "INSERT INTO resubmit_heads VALUES ('am:1', 'lyo-mbx1')"
    running = ("running-request", None, None, "am:1 is running")
    assert left(queue, REQUEST.format(at=NOW_MS, state="running"), head) == [running]
    over = ("left-head", None, "lyo-mbx1", "asked for by am:1, which is over")
    assert left(queue, "UPDATE resubmit_requests SET state = 'completed'") == [over]
    assert left(queue, "DELETE FROM resubmit_requests") == [over]
