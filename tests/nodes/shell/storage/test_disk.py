"""Commits are grouped and answered in order, bodies are let go when they are durable."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from nodes.core.interface.effects import (
    Commit,
    DeliverToMailboxes,
    ExpireSafetyNet,
    MeasureConverted,
    ReadSafetyNet,
)
from nodes.core.interface.inputs import (
    CommitFailed,
    Committed,
    ConvertedMeasured,
    ConvertedNotMeasured,
    Input,
    MailboxDeliveryFailed,
    MailboxesDelivered,
    SafetyNetExpired,
    SafetyNetRead,
)
from nodes.core.interface.queue_changes import DeleteMessage, FinishFork, InsertMessage
from nodes.core.model.message import Header, converted
from nodes.core.model.resubmit_request import Position, SafetyNetSource
from nodes.shell.chaos.breakpoints import InGroup, nowhere
from nodes.shell.storage.disk import Disk
from nodes.store.queue.changes import BodyGone
from nodes.store.queue.database import QueueDatabase
from tests.nodes.next_hops import DB1
from tests.nodes.shell.waiting import until_async
from tests.nodes.store.samples import NOW_MS, count, open_queue, primary_message

USER = "db1-user01@shadowlab.example"


class Heard:
    """What the disk answers, and what it calls a mistake."""

    def __init__(self) -> None:
        self.answers: list[Input] = []
        self.failures: list[BaseException] = []

    async def count(self, number: int) -> list[Input]:
        await until_async(lambda: len(self.answers) >= number or None, f"{number} answers")
        return self.answers


@asynccontextmanager
async def disk(folder: Path, in_group: InGroup = nowhere) -> AsyncIterator[tuple[Disk, Heard]]:
    heard = Heard()
    opened, told = open_queue(folder).database, (heard.answers.append, heard.failures.append)
    made = Disk(opened, folder, "par-mbx1", *told, in_group)
    yield made, heard
    await asyncio.to_thread(made.close)


def is_locked(path: Path) -> bool:
    """Somebody has begun to write, and not ended."""
    with closing(sqlite3.connect(path, timeout=0)) as beside:
        try:
            beside.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def insert(made: Disk, number: int) -> Commit:
    body = made.bodies.hold(b"body %d" % number)
    return Commit(number, (InsertMessage(primary_message(number), body),))


TEXT = b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nX = 1\r\n"


def test_a_content_is_measured_and_stored_as_it_is_converted(tmp_path: Path) -> None:
    """And let go, as any other body that is durable."""

    async def scenario() -> None:
        async with disk(tmp_path) as (made, heard):
            body, other = made.bodies.hold(TEXT), made.bodies.hold(b"no text")
            made.write(MeasureConverted(1, "UseQP", (body, other)))
            await heard.count(1)
            stored = (InsertMessage(primary_message(1), converted(body, "UseQP")),)
            made.write(Commit(2, stored))
            answers = await heard.count(2)
            kept = await made.read("db:1")
            assert answers == [ConvertedMeasured(1, (len(kept), None)), Committed(2)]
            assert kept.endswith(b"Encoding: quoted-printable\r\n\r\nX =3D 1\r\n")
            assert len(made.bodies) == 1

    asyncio.run(scenario())


def test_a_body_that_is_gone_cannot_be_measured(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with disk(tmp_path) as (made, heard):
            made.write(MeasureConverted(1, "UseQP", ("db:7",)))
            (answer,) = await heard.count(1)
            assert answer == ConvertedNotMeasured(1, "db:7 has left its database")
            assert heard.failures == []

    asyncio.run(scenario())


def delivery(database: str, body: str) -> DeliverToMailboxes:
    header = Header("<m@b>", NOW_MS, "")
    return DeliverToMailboxes(5, database, header, "a@b", (USER,), 6, body, NOW_MS, 1000)


def test_commits_that_wait_share_a_transaction_and_are_answered_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    commit = QueueDatabase.commit

    def counted(self: QueueDatabase, commits: list[Commit], *more: Any) -> object:
        groups.append(len(commits))
        return commit(self, commits, *more)

    monkeypatch.setattr(QueueDatabase, "commit", counted)

    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            for number in range(1, 6):
                made.write(insert(made, number))
            made.write(ExpireSafetyNet(NOW_MS))
            made.write(insert(made, 6))
            answers = await heard.count(7)
            assert answers == [
                *map(Committed, range(1, 6)),
                SafetyNetExpired((), None),
                Committed(6),
            ]
            assert groups == [1, 4, 1]

    asyncio.run(write())


def test_a_group_that_is_held_has_begun_and_nothing_of_it_is_there_until_it_is_let_go(
    tmp_path: Path,
) -> None:
    held: list[Callable[[], None]] = []

    def in_group(go_on: Callable[[], None]) -> Callable[[], None]:
        return lambda: held.append(go_on)

    async def write() -> None:
        async with disk(tmp_path, in_group) as (made, heard):
            for number in (1, 2, 3):
                made.write(insert(made, number))
            await until_async(lambda: held or None, "the group is held")
            assert (heard.answers, count(tmp_path, "messages")) == ([Committed(1)], 1)
            assert is_locked(tmp_path / "queue.db")
            held[0]()
            assert await heard.count(3) == [Committed(1), Committed(2), Committed(3)]
            assert count(tmp_path, "messages") == 3

    asyncio.run(write())


def test_a_commit_that_has_a_transaction_of_its_own_is_no_group(tmp_path: Path) -> None:
    asked: list[object] = []

    async def write() -> None:
        async with disk(tmp_path, asked.append) as (made, heard):
            for number in (1, 2):
                made.write(insert(made, number))
                await heard.count(number)
            assert asked == []

    asyncio.run(write())


def test_a_safety_net_is_read_after_the_commits_that_were_asked_for_before(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made.write(insert(made, 1))
            made.write(insert(made, 2))
            made.write(Commit(3, (FinishFork(1, DB1, "done", NOW_MS),)))
            start = Position(NOW_MS, -1, -1)
            made.write(ReadSafetyNet(4, SafetyNetSource.PRIMARY, start, NOW_MS + 1, 10))
            made.write(Commit(5, (FinishFork(2, DB1, "done", NOW_MS),)))
            read = (await heard.count(5))[3]
            assert isinstance(read, SafetyNetRead)
            assert [copy.position.internal_id for copy in read.copies] == [1]

    asyncio.run(write())


def test_a_body_leaves_memory_when_it_is_durable_and_is_read_from_disk_then(
    tmp_path: Path,
) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made.write(insert(made, 1))
            assert len(made.bodies) == 1
            await heard.count(1)
            assert len(made.bodies) == 0
            assert await made.read("db:1") == b"body 1"

    asyncio.run(write())


def test_a_commit_that_the_disk_refuses_keeps_its_body(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made._database._connection.execute("PRAGMA query_only = ON")
            made.write(insert(made, 1))
            (answer,) = await heard.count(1)
            assert isinstance(answer, CommitFailed)
            assert len(made.bodies) == 1

    asyncio.run(write())


def test_a_change_that_does_not_fit_is_a_mistake_of_ours(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made.write(Commit(1, (DeleteMessage(1),)))
            await until_async(lambda: heard.failures or None, "the failure")
            assert isinstance(heard.failures[0], AssertionError)
            assert heard.answers == []

    asyncio.run(write())


def test_a_safety_net_that_cannot_be_swept_now_is_swept_later(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made._database._connection.execute("PRAGMA query_only = ON")
            made.write(ExpireSafetyNet(NOW_MS))
            assert await heard.count(1) == [SafetyNetExpired((), NOW_MS + 60_000)]

    asyncio.run(write())


def test_mail_is_delivered_from_memory_and_from_the_queue_database(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made.write(insert(made, 1))
            await heard.count(1)
            made.deliver(delivery("DB1", "db:1"))
            made.deliver(delivery("DB2", made.bodies.hold(b"body")))
            answers = await heard.count(3)
            assert answers[1:] == [MailboxesDelivered(5, (USER,), ())] * 2
            assert not made.is_busy

    asyncio.run(write())


def test_a_mailbox_database_that_is_damaged_fails_the_delivery(tmp_path: Path) -> None:
    (tmp_path / "mailbox-DB1.db").write_bytes(b"x" * 8192)

    async def write() -> None:
        async with disk(tmp_path) as (made, heard):
            made.deliver(delivery("DB1", "made:text"))
            made.deliver(delivery("DB1", "db:99"))
            first, second = await heard.count(2)
            assert isinstance(first, MailboxDeliveryFailed)
            assert "not a database" in first.reason
            assert isinstance(second, MailboxDeliveryFailed)

    asyncio.run(write())


def test_a_body_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, _):
            with pytest.raises(BodyGone):
                await made.read("db:99")

    asyncio.run(write())


def test_closing_waits_for_what_is_being_written(tmp_path: Path) -> None:
    async def write() -> None:
        async with disk(tmp_path) as (made, _):
            made.write(insert(made, 1))

    asyncio.run(write())
    with sqlite3.connect(tmp_path / "queue.db") as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)
    connection.close()
