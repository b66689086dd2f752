"""Copies of a mailbox database are made equal by logs: each once, in order, whole (TP-4, DD-3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodes.core.interface.copy_changes import (
    CopyChange,
    CorruptMailboxes,
    DismountCopy,
    DropLogs,
    FollowCopy,
    ImportMailbox,
    MountCopy,
    OpenCopy,
    ReplayKeptLog,
    ReplayLog,
    SeedCopy,
)
from nodes.core.interface.effects import ChangeCopy, DeliverToMailboxes
from nodes.core.interface.inputs import (
    CopyChanged,
    CopyNotChanged,
    MailboxDeliveryFailed,
    MailboxesDelivered,
)
from nodes.core.model.database_copy import CopyStanding, CopyState, ReplicationLog
from nodes.core.model.message import Header
from nodes.store.dump import copy_rows_in, mailbox_rows_in
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.mailbox.log_content import LINE, from_content, to_content
from nodes.store.queue.changes import StateMismatch
from tests.nodes.store.samples import NOW_MS

_OF_THIS_COPY = ('INSERT INTO "meta"', 'INSERT INTO "logs"')
ONE, TWO = "db1-user01@shadowlab.example", "db1-user02@shadowlab.example"
WINDOW_MS = 3_600_000


NUMBERS = "SELECT number FROM logs ORDER BY number"


class Copy:
    """A copy, and what its server would say to it."""

    def __init__(self, database: MailboxDatabase) -> None:
        self.database = database
        self.logs: dict[int, ReplicationLog] = {}
        self.standing: CopyStanding

    def change(self, what: CopyChange, content: bytes = b"") -> CopyChanged | CopyNotChanged:
        answer = self.database.change(ChangeCopy(7, "DB1", what), lambda handle: content)
        if isinstance(answer, CopyChanged):
            self.standing = answer.standing
            self.logs |= {log.number: log for log in answer.logs}
        return answer

    def deliver(self, number: int, *recipients: str) -> MailboxesDelivered | MailboxDeliveryFailed:
        header = Header(f"<m{number}@outside.example>", NOW_MS, "subject")
        recipients = recipients or (ONE,)
        sender, at_ms = "a@outside.example", NOW_MS + number
        asked = DeliverToMailboxes(
            number, "DB1", header, sender, recipients, 4, "in:1", at_ms, WINDOW_MS
        )
        answer = self.database.deliver(asked, b"body %d" % number)
        if isinstance(answer, MailboxesDelivered) and answer.log is not None:
            self.logs[answer.log.number] = answer.log
        return answer

    def replay(
        self, number: int, source: Copy, epoch: int = 0, *, is_kept: bool = False
    ) -> CopyChanged | CopyNotChanged:
        content = source.database.read_log(number)
        assert content is not None
        return self.change(ReplayLog(epoch, source.logs[number], "in:1", is_kept), content)

    def shows(self) -> list[tuple[object, ...]]:
        rows = mailbox_rows_in(self.database.connection, NOW_MS)
        return [(row["mailbox"], row["message_id"], row["delivered_ms"]) for row in rows]

    def said(self) -> dict[str, object]:
        """What a record says of it."""
        (row,) = copy_rows_in(self.database.connection, NOW_MS)
        return row

    def everything(self) -> list[str]:
        """All rows but where the copy stands and which server it is on."""
        lines = self.database.connection.iterdump()
        return [line for line in lines if 'INTO "meta"' not in line and 'INTO "logs"' not in line]


@pytest.fixture
def active(tmp_path: Path) -> Iterator[Copy]:
    yield from opened(tmp_path / "active", CopyState.ACTIVE)


@pytest.fixture
def passive(tmp_path: Path) -> Iterator[Copy]:
    yield from opened(tmp_path / "passive", CopyState.PASSIVE)


def opened(folder: Path, state: CopyState) -> Iterator[Copy]:
    folder.mkdir()
    copy = Copy(MailboxDatabase.open(folder, "DB1", folder.name))
    copy.change(OpenCopy(state, NOW_MS))
    yield copy
    copy.database.close()


def test_a_database_without_other_copies_keeps_no_logs(tmp_path: Path) -> None:
    alone = Copy(MailboxDatabase.open(tmp_path, "DB1", "par-mbx1"))
    answer = alone.deliver(1)
    assert isinstance(answer, MailboxesDelivered)
    assert answer.log is None
    assert alone.database.read_log(1) is None
    alone.database.close()


def test_a_passive_copy_that_replayed_every_log_is_the_same(active: Copy, passive: Copy) -> None:
    active.deliver(1, ONE, TWO)
    active.deliver(2, TWO)
    for number in (1, 2):
        assert isinstance(passive.replay(number, active), CopyChanged)
    assert passive.shows() == active.shows()
    assert passive.everything() == active.everything()
    assert passive.said() == active.said() | {"state": "passive"}
    assert (active.said()["last_log"], active.said()["last_log_ms"]) == (2, 2)
    assert (passive.standing.last_log, passive.standing.last_log_ms) == (2, NOW_MS + 2)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM messages WHERE message_id LIKE '<m2@%'",
        "DELETE FROM copies WHERE message_row = 1 AND mailbox_id = 1",
        "UPDATE copies SET delivered_ms = delivered_ms + 1 WHERE message_row = 2",
        "UPDATE messages SET content = x'00' WHERE message_row = 1",
        "UPDATE messages SET submitted_ms = NULL WHERE message_row = 1",
        "UPDATE mailboxes SET address = 'b' || address WHERE mailbox_id = 2",
    ],
)
def test_what_a_copy_has_stored_is_another_digest_when_anything_of_it_is_another(
    active: Copy, change: str
) -> None:
    active.deliver(1, ONE, TWO)
    active.deliver(2, TWO)
    before = active.said()["content_sha256"]
    assert active.database.connection.execute(change).rowcount == 1
    assert active.said()["content_sha256"] != before


def test_the_digest_of_what_is_stored_does_not_hang_on_the_rows_that_it_is_kept_in(
    active: Copy, tmp_path: Path
) -> None:
    active.deliver(1, ONE, TWO)
    active.deliver(2, TWO)
    for other in opened(tmp_path / "other", CopyState.ACTIVE):
        other.deliver(2, TWO)
        other.deliver(1, TWO, ONE)
        assert other.said()["content_sha256"] == active.said()["content_sha256"]


def test_what_was_delivered_before_a_failover_is_a_duplicate_after_it_where_its_log_came_through(
    active: Copy, passive: Copy
) -> None:
    """DD-3: and what was lost is none."""
    active.deliver(1)
    active.deliver(2)
    passive.replay(1, active)
    passive.change(MountCopy(1, NOW_MS))
    again = [passive.deliver(number) for number in (1, 2)]
    assert [a.duplicates for a in again if isinstance(a, MailboxesDelivered)] == [(ONE,), ()]


def test_a_delivery_that_is_all_duplicates_makes_no_log(active: Copy) -> None:
    active.deliver(1)
    answer = active.deliver(1)
    assert isinstance(answer, MailboxesDelivered)
    assert answer.log is None


@pytest.mark.parametrize("number", [1, 3])
def test_a_log_again_or_out_of_order_is_a_mistake_of_ours_and_changes_nothing(
    active: Copy, passive: Copy, number: int
) -> None:
    for delivery in (1, 2, 3):
        active.deliver(delivery)
    passive.replay(1, active)
    with pytest.raises(StateMismatch):
        passive.replay(number, active)
    assert len(passive.shows()) == 1


def test_a_log_that_is_not_as_its_checksum_says_is_not_replayed(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1)
    content = active.database.read_log(1)
    assert content is not None
    for wrong in (content[:-1], content.replace(b"subject", b"Subject", 1)):
        answer = passive.change(ReplayLog(0, active.logs[1], "in:1"), wrong)
        assert isinstance(answer, CopyNotChanged)
        assert "checksum" in answer.reason
    assert passive.shows() == []
    assert isinstance(passive.replay(1, active), CopyChanged)


def test_a_delivery_and_its_log_are_durable_together_or_not_at_all(active: Copy) -> None:
    db = active.database.connection
    db.execute("CREATE TRIGGER full BEFORE INSERT ON logs BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(sqlite3.Error, match="full"):
        active.deliver(1)
    db.execute("DROP TRIGGER full")
    assert active.shows() == []
    answer = active.deliver(1)
    assert isinstance(answer, MailboxesDelivered)
    assert answer.log is not None
    assert answer.log.number == 1


def test_logs_that_every_copy_has_are_dropped_and_the_next_goes_on_counting(active: Copy) -> None:
    active.deliver(1)
    active.deliver(2)
    active.change(DropLogs(1))
    assert [active.database.read_log(n) is None for n in (1, 2)] == [True, False]
    active.change(DropLogs(2))
    active.deliver(3)
    assert active.logs[3].number == 3


def test_a_log_passes_through_smtp_as_it_is() -> None:
    record = {"kind": "delivery", "content": "x" * 5000, "subject": "\r\n.\u00e4 \u2028"}
    content = to_content(record)
    assert max(map(len, content.split(b"\r\n"))) <= LINE
    assert content.endswith(b"\r\n")
    assert content.isascii()
    assert from_content(content, "delivery") == record


def test_a_copy_that_is_not_active_takes_no_delivery(active: Copy, passive: Copy) -> None:
    assert isinstance(passive.deliver(1), MailboxDeliveryFailed)
    active.change(DismountCopy())
    assert isinstance(active.deliver(1), MailboxDeliveryFailed)
    assert active.shows() == passive.shows() == []


def test_a_mount_under_a_new_epoch_begins_with_a_log_and_remembers_what_was_there(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1)
    passive.replay(1, active)
    passive.change(MountCopy(2, NOW_MS + 9))
    standing = passive.standing
    assert (standing.state, standing.epoch, standing.last_log) == (CopyState.ACTIVE, 2, 2)
    assert standing.mounted_ms == NOW_MS + 9
    assert (standing.mounted_after_log, standing.mounted_after_ms) == (1, NOW_MS + 1)
    assert (passive.logs[2].epoch, passive.logs[2].previous_epoch) == (2, 0)
    assert [standing.epoch_of(number) for number in (0, 1, 2, 3)] == [0, 0, 2, 2]


def test_a_mount_under_the_same_epoch_again_changes_nothing(passive: Copy) -> None:
    passive.change(MountCopy(1, NOW_MS))
    before = passive.standing
    passive.change(MountCopy(1, NOW_MS + 5))
    assert passive.standing == before
    passive.change(DismountCopy())
    passive.change(MountCopy(1, NOW_MS + 7))
    assert passive.standing == before


def test_a_copy_that_followed_takes_the_logs_of_the_new_active_one(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1)
    passive.replay(1, active)
    active.change(FollowCopy(1))
    passive.change(MountCopy(1, NOW_MS))
    passive.deliver(2)
    for number in (2, 3):
        active.replay(number, passive, epoch=1)
    assert active.everything() == passive.everything()
    assert active.standing.branches == passive.standing.branches == ((1, 1),)
    assert active.standing.has(3, 1)
    assert not active.standing.has(2, 0)


def test_a_copy_that_went_another_way_is_seeded_anew(active: Copy, passive: Copy) -> None:
    active.deliver(1)
    passive.replay(1, active)
    active.deliver(2)
    passive.change(MountCopy(1, NOW_MS))
    passive.deliver(3, TWO)
    active.change(FollowCopy(1))
    active.change(SeedCopy(1, "in:1"), passive.database.seed())
    assert active.everything() == passive.everything()
    assert active.standing.last_log == passive.standing.last_log + 1 == 3
    passive.deliver(4)
    assert isinstance(active.replay(4, passive, epoch=1), CopyChanged)
    assert active.shows() == passive.shows()


def test_a_seed_that_is_cut_short_changes_nothing(active: Copy, passive: Copy) -> None:
    active.deliver(1)
    passive.replay(1, active)
    answer = passive.change(SeedCopy(0, "in:1"), active.database.seed()[:-40])
    assert isinstance(answer, CopyNotChanged)
    assert len(passive.shows()) == 1


def test_a_lagged_copy_keeps_what_it_received_and_replays_it_in_order(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1)
    active.deliver(2)
    for number in (1, 2):
        passive.replay(number, active, is_kept=True)
    assert passive.shows() == []
    assert (passive.standing.last_log, passive.standing.received) == (0, 2)
    assert [log.number for log in _opened_again(passive)] == [1, 2]
    passive.change(ReplayKeptLog(1))
    assert [message_id for _, message_id, _ in passive.shows()] == ["<m1@outside.example>"]
    passive.change(ReplayKeptLog(2))
    assert passive.shows() == active.shows()


def test_a_lagged_copy_that_is_mounted_drops_what_it_had_not_replayed(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1)
    passive.replay(1, active, is_kept=True)
    passive.change(MountCopy(1, NOW_MS))
    assert passive.shows() == []
    assert (passive.standing.last_log, passive.standing.received) == (1, 1)


@pytest.mark.parametrize(("before_ms", "had"), [(NOW_MS + 3, 2), (NOW_MS + 4, 3), (None, 0)])
def test_a_lagged_copy_that_is_mounted_as_of_a_moment_replays_what_was_made_before(
    active: Copy, passive: Copy, before_ms: int | None, had: int
) -> None:
    for number in (1, 2, 3):
        active.deliver(number)
        passive.replay(number, active, is_kept=True)
    passive.change(MountCopy(1, NOW_MS + 9, before_ms))
    assert passive.shows() == active.shows()[:had]
    assert (passive.standing.last_log, passive.standing.received) == (had + 1, had + 1)
    assert passive.standing.mounted_after_log == had
    assert [number for (number,) in passive.database.connection.execute(NUMBERS)] == [had + 1]


def test_a_corruption_empties_mailboxes_and_what_replays_it_alike(
    active: Copy, passive: Copy
) -> None:
    active.deliver(1, ONE)
    active.change(CorruptMailboxes(NOW_MS + 2))
    for number in (1, 2):
        passive.replay(number, active)
    assert active.shows() == passive.shows() == []
    assert active.everything() == passive.everything()
    turfed = active.deliver(1)
    assert isinstance(turfed, MailboxesDelivered)
    assert turfed.delivered == ()


def _opened_again(copy: Copy) -> tuple[ReplicationLog, ...]:
    answer = copy.change(OpenCopy(CopyState.ACTIVE, NOW_MS + 1))
    assert isinstance(answer, CopyChanged)
    assert answer.standing.state is CopyState.PASSIVE
    return answer.logs


def test_an_older_file_has_one_copy_until_it_is_opened_as_one_of_several(tmp_path: Path) -> None:
    alone = Copy(MailboxDatabase.open(tmp_path, "DB1", "par-mbx1"))
    alone.deliver(1)
    alone.change(OpenCopy(CopyState.ACTIVE, NOW_MS))
    assert (alone.standing.state, alone.standing.last_log) == (CopyState.ACTIVE, 0)
    assert alone.standing.created_ms == NOW_MS
    alone.database.close()


@pytest.fixture
def elsewhere() -> Iterator[MailboxDatabase]:
    """The database that a mailbox leaves, which has no other copy."""
    database = MailboxDatabase.in_memory("DB2", "par-mbx3")
    yield database
    database.close()


def test_a_mailbox_comes_with_what_it_shows_to_every_copy_and_without_what_is_remembered_of_it(
    active: Copy, passive: Copy, elsewhere: MailboxDatabase
) -> None:
    source = Copy(elsewhere)
    source.deliver(1, ONE, TWO)
    source.deliver(2, ONE)
    content = elsewhere.read(f"mailbox:DB2:{ONE}")
    assert content is not None
    active.change(ImportMailbox(ONE, "in:1", NOW_MS + 3), content)
    (number,) = active.logs
    passive.replay(number, active)
    mine = [(ONE, f"<m{n}@outside.example>", NOW_MS + n) for n in (1, 2)]
    for copy in (active, passive):
        rows = mailbox_rows_in(copy.database.connection, 0)
        seen = [(each["mailbox"], each["message_id"], each["delivered_ms"]) for each in rows]
        assert seen == mine
    again = active.deliver(2, ONE)
    assert isinstance(again, MailboxesDelivered)
    assert again.delivered == (ONE,)


def test_a_mailbox_that_comes_again_takes_the_place_of_what_it_showed(
    active: Copy, elsewhere: MailboxDatabase
) -> None:
    source = Copy(elsewhere)
    source.deliver(1, ONE)
    for _ in range(2):
        content = elsewhere.read(f"mailbox:DB2:{ONE}")
        assert content is not None
        active.change(ImportMailbox(ONE, "in:1", NOW_MS + 3), content)
    assert len(active.shows()) == 1


@pytest.mark.parametrize(("place", "seen"), [("DB1", 1), ("DB2", 0)])
def test_what_a_mailbox_left_behind_nobody_sees(place: str, seen: int, active: Copy) -> None:
    active.deliver(1, ONE)
    rows = mailbox_rows_in(active.database.connection, 0, {ONE: place})
    assert len(list(rows)) == seen
