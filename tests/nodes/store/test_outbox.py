"""Items of an Outbox: in the active copy, by its logs in the others, and removed in each."""

from __future__ import annotations

from nodes.core.interface.copy_changes import (
    CopyChange,
    FollowCopy,
    InsertOutboxItem,
    MountCopy,
    OpenCopy,
    ReadOutbox,
    RemoveOutboxItem,
    ReplayLog,
    SeedCopy,
)
from nodes.core.interface.effects import ChangeCopy
from nodes.core.interface.inputs import CopyChanged, CopyNotChanged
from nodes.core.model.database_copy import CopyState
from nodes.core.model.message import Envelope, Header
from nodes.core.model.outbox import OutboxItem
from nodes.store.mailbox.database import MailboxDatabase

ITEM = OutboxItem("i-1", Header("<m@x>", 5, "hi"), Envelope("a@x", ("b@x", "c@x")), 4, 2)
BODY = b"\xffbody"


def change(database: MailboxDatabase, what: CopyChange, body: bytes = BODY) -> CopyChanged:
    answer = database.change(ChangeCopy(1, "DB1", what), lambda handle: body)
    assert isinstance(answer, CopyChanged), answer
    return answer


def refused(database: MailboxDatabase, what: CopyChange) -> str:
    answer = database.change(ChangeCopy(1, "DB1", what), lambda handle: BODY)
    assert isinstance(answer, CopyNotChanged), answer
    return answer.reason


def outbox(database: MailboxDatabase) -> tuple[OutboxItem, ...]:
    return change(database, ReadOutbox()).outbox


def copies() -> tuple[MailboxDatabase, MailboxDatabase]:
    active, passive = (MailboxDatabase.in_memory("DB1", name) for name in ("par", "lyo"))
    change(active, OpenCopy(CopyState.ACTIVE, 1))
    change(passive, OpenCopy(CopyState.PASSIVE, 1))
    return active, passive


def ship(made: CopyChanged, active: MailboxDatabase, passive: MailboxDatabase) -> None:
    [log] = made.logs
    change(passive, ReplayLog(0, log, "in:1"), active.read_log(log.number) or b"")


def test_an_item_is_there_until_it_is_removed() -> None:
    database = MailboxDatabase.in_memory("DB1", "par")
    assert change(database, InsertOutboxItem(ITEM, "in:1", 7)).logs == ()
    assert outbox(database) == (ITEM,)
    assert database.read(ITEM.body("DB1")) == BODY
    change(database, RemoveOutboxItem("i-1", 8))
    assert outbox(database) == ()
    assert database.read(ITEM.body("DB1")) is None
    assert change(database, RemoveOutboxItem("i-1", 9)).logs == ()


def test_a_copy_that_is_mounted_next_has_what_was_shipped() -> None:
    active, passive = copies()
    ship(change(active, InsertOutboxItem(ITEM, "in:1", 7)), active, passive)
    change(passive, MountCopy(1, 8))
    assert outbox(passive) == (ITEM,)
    assert passive.read(ITEM.body("DB1")) == BODY


def test_what_was_submitted_is_in_no_copy() -> None:
    active, passive = copies()
    ship(change(active, InsertOutboxItem(ITEM, "in:1", 7)), active, passive)
    ship(change(active, RemoveOutboxItem("i-1", 8)), active, passive)
    change(passive, MountCopy(1, 9))
    assert outbox(passive) == ()


def test_a_seed_has_the_outbox() -> None:
    active, passive = copies()
    change(active, InsertOutboxItem(ITEM, "in:1", 7))
    change(passive, SeedCopy(0, "in:1"), active.seed())
    change(passive, MountCopy(1, 9))
    assert outbox(passive) == (ITEM,)
    assert passive.read(ITEM.body("DB1")) == BODY


def test_a_copy_that_is_not_active_takes_nothing_and_gives_nothing_up() -> None:
    active, _ = copies()
    change(active, InsertOutboxItem(ITEM, "in:1", 7))
    change(active, FollowCopy(1))
    for what in (InsertOutboxItem(ITEM, "in:1", 8), RemoveOutboxItem("i-1", 8), ReadOutbox()):
        assert refused(active, what) == "the copy here is passive"
    assert active.read(ITEM.body("DB1")) == BODY
