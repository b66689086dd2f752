"""The queue database keeps what it is told, all or nothing, and refuses what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import CommitFailed, Committed, ExpiredCopy
from nodes.core.interface.queue_changes import (
    Change,
    DeleteMessage,
    DropOldDiscards,
    FinishFork,
    ForgetDiscards,
    InsertDiscard,
    InsertMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
    NoteDiscardsAsked,
    PromoteShadow,
    SetActiveCopy,
    SetContact,
    SetShadowServer,
    SplitFork,
)
from nodes.core.model.message import ActiveCopy, Contact
from nodes.store.queue.changes import StateMismatch
from nodes.store.queue.database import QueueDatabase
from tests.nodes.next_hops import DB1, DB2, EXT1
from tests.nodes.store.samples import (
    BODIES,
    DATABASE_ID,
    NOW_MS,
    count,
    discard,
    fetch,
    open_queue,
    primary_message,
    shadow_message,
)

DELIVERED_MS, EXPIRES_MS = NOW_MS + 60_000, NOW_MS + 120_000
USER = "db1-user01@shadowlab.example"
DONE = FinishFork(1, DB1, "done", DELIVERED_MS)
TO_SAFETY_NET = MoveToPrimarySafetyNet(1, DELIVERED_MS, EXPIRES_MS)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[QueueDatabase]:
    with open_queue(tmp_path).database as opened:
        yield opened


def apply(database: QueueDatabase, *changes: Change) -> None:
    database.apply(changes, fetch)


def test_a_new_database_has_the_id_it_was_given_and_is_empty(tmp_path: Path) -> None:
    opening = open_queue(tmp_path)
    with opening.database:
        opened = opening.opened
    assert (opened.database_id, opened.created, opening.set_aside) == (DATABASE_ID, True, None)
    assert opened.messages + opened.shadows + opened.discards + opened.contacts == ()
    assert opened.next_safety_net_expiry_ms is None


def test_a_database_opened_again_gives_back_what_was_put_in(tmp_path: Path) -> None:
    message = primary_message(
        1,
        next_hops=(
            DB2,
            EXT1,
            DB1,
        ),
    )
    promoted = replace(primary_message(3, shadow_server=None), promoted=True)
    shadow = shadow_message(2)
    contact = Contact("par-mbx1", "db-a", NOW_MS, 7, 12)
    with open_queue(tmp_path).database as database:
        apply(database, InsertMessage(message, "in:1"), InsertShadow(shadow, "in:2", EXPIRES_MS))
        apply(database, InsertMessage(promoted, "in:3"))
        apply(database, InsertDiscard(discard(9)), SetContact(contact))
    opening = open_queue(tmp_path, "another id")
    with opening.database:
        opened = opening.opened
    assert (opened.database_id, opened.created) == (DATABASE_ID, False)
    assert opened.messages == (message, promoted)
    assert opened.shadows == (shadow,)
    assert opened.discards == (discard(9),)
    assert opened.contacts == (contact,)
    assert opened.last_discard_sequence == 9
    assert opened.next_safety_net_expiry_ms == EXPIRES_MS


def test_the_active_copy_is_the_one_of_the_latest_epoch(tmp_path: Path) -> None:
    copies = [ActiveCopy("DB1", server, epoch, NOW_MS) for epoch, server in ((1, "a"), (2, "b"))]
    with open_queue(tmp_path).database as database:
        for copy in copies:
            apply(database, SetActiveCopy(copy))
        for copy in copies:
            with pytest.raises(StateMismatch):
                apply(database, SetActiveCopy(copy))
    opening = open_queue(tmp_path)
    with opening.database:
        assert opening.opened.active_copies == (copies[1],)


def test_every_start_is_counted(tmp_path: Path) -> None:
    counted = []
    for _ in range(3):
        opening = open_queue(tmp_path)
        opening.database.close()
        counted.append(opening.opened.starts)
    assert counted == [1, 2, 3]


def test_a_sequence_once_used_is_remembered_after_its_notification_has_gone(tmp_path: Path) -> None:
    with open_queue(tmp_path).database as database:
        apply(database, InsertMessage(primary_message(41), "in:1"), InsertDiscard(discard(5)))
        apply(
            database,
            FinishFork(41, DB1, "expired", NOW_MS),
            DeleteMessage(41),
        )
        apply(database, ForgetDiscards("lyo-mbx1", 5))
    opening = open_queue(tmp_path)
    with opening.database:
        assert opening.opened.messages == ()
        assert opening.opened.last_discard_sequence == 5


def test_a_finished_fork_keeps_its_time_and_the_other_stays_queued(
    tmp_path: Path, database: QueueDatabase
) -> None:
    message = primary_message(1, next_hops=(DB1, EXT1))
    apply(database, InsertMessage(message, "in:1"))
    apply(database, DONE)
    (loaded,) = database.opened(created=False).messages
    assert [(f.state.value, f.done_ms) for f in loaded.forks] == [
        ("done", DELIVERED_MS),
        ("queued", None),
    ]


def test_a_body_follows_its_message_from_queue_to_safety_net(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1), "in:1"))
    apply(database, DONE, TO_SAFETY_NET)
    assert database.read_body(1) == BODIES["in:1"]
    assert database.opened(created=False).messages == ()


def test_a_promoted_shadow_message_takes_its_body_along(database: QueueDatabase) -> None:
    shadow, message = shadow_message(1), primary_message(2, shadow_server=None)
    apply(database, InsertShadow(shadow, "in:2", EXPIRES_MS))
    apply(database, PromoteShadow(shadow.key, message))
    opened = database.opened(created=False)
    assert (opened.messages, opened.shadows) == ((message,), ())
    assert database.read_body(2) == BODIES["in:2"]
    assert database.read_body(1) is None


def test_a_promoted_shadow_message_may_have_another_body_from_then_on(
    tmp_path: Path, database: QueueDatabase
) -> None:
    shadow, message = shadow_message(1), primary_message(2, shadow_server=None)
    apply(database, InsertShadow(shadow, "in:2", EXPIRES_MS))
    apply(database, PromoteShadow(shadow.key, message, "in:1"))
    assert database.opened(created=False).messages == (message,)
    assert database.read_body(2) == BODIES["in:1"]
    assert count(tmp_path, "bodies") == 1


def test_a_shared_body_stays_until_its_last_message_has_gone(
    tmp_path: Path, database: QueueDatabase
) -> None:
    apply(database, InsertMessage(primary_message(1), "in:1"))
    apply(database, InsertMessage(primary_message(2, side_effect_of=1), "db:1"))
    apply(database, FinishFork(1, DB1, "expired", NOW_MS), DeleteMessage(1))
    assert database.read_body(2) == BODIES["in:1"]
    apply(database, FinishFork(2, DB1, "expired", NOW_MS), DeleteMessage(2))
    assert count(tmp_path, "bodies") == 0


def test_a_body_that_the_core_made_is_stored_as_its_text(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1), "made:Subject: é\r\n\r\nundeliverable"))
    assert database.read_body(1) == "Subject: é\r\n\r\nundeliverable".encode()


def test_a_discard_notification_moves_the_shadow_to_the_shadow_safety_net(
    tmp_path: Path, database: QueueDatabase
) -> None:
    shadow = shadow_message(1)
    apply(database, InsertShadow(shadow, "in:1", EXPIRES_MS))
    apply(database, MoveToShadowSafetyNet(shadow.key, DELIVERED_MS, EXPIRES_MS + 1))
    opened = database.opened(created=False)
    assert opened.shadows == ()
    assert opened.next_safety_net_expiry_ms == EXPIRES_MS + 1
    assert count(tmp_path, "shadow_safety_net") == 1


def test_only_confirmed_discards_of_that_shadow_server_are_forgotten(
    database: QueueDatabase,
) -> None:
    waiting = [discard(1), discard(2), discard(3), discard(4, "lyo-mbx2")]
    apply(database, *map(InsertDiscard, waiting))
    apply(database, ForgetDiscards("lyo-mbx1", 2))
    assert database.opened(created=False).discards == (discard(3), discard(4, "lyo-mbx2"))


def test_discards_nobody_asked_for_are_dropped_by_age(database: QueueDatabase) -> None:
    waiting = [discard(1), discard(2), discard(3), discard(1, "lyo-mbx2")]
    apply(database, *map(InsertDiscard, waiting))
    apply(database, DropOldDiscards("lyo-mbx1", NOW_MS + 3))
    left = (discard(3), discard(1, "lyo-mbx2"))
    assert database.opened(created=False).discards == left


def test_when_each_shadow_server_last_asked_is_kept(database: QueueDatabase) -> None:
    apply(database, NoteDiscardsAsked("lyo-mbx1", 3), NoteDiscardsAsked("lyo-mbx2", 1))
    apply(database, NoteDiscardsAsked("lyo-mbx1", 7))
    assert database.opened(created=False).discards_asked == (("lyo-mbx1", 7), ("lyo-mbx2", 1))


def test_a_shadow_server_is_named_once_only(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1, shadow_server=None), "in:1"))
    apply(database, SetShadowServer(1, "lyo-mbx1", "db-a"))
    (message,) = database.opened(created=False).messages
    assert (message.shadow_server, message.shadow_database_id) == ("lyo-mbx1", "db-a")
    with pytest.raises(StateMismatch):
        apply(database, SetShadowServer(1, "lyo-mbx2", "db-b"))


def test_a_contact_replaces_the_one_before(database: QueueDatabase) -> None:
    first, second = Contact("par-mbx1", "db-a", NOW_MS, 1), Contact("par-mbx1", "db-b", NOW_MS, 0)
    apply(database, SetContact(first))
    apply(database, SetContact(second))
    assert database.opened(created=False).contacts == (second,)


MISFITS: dict[str, Change] = {
    "finishing a fork twice": DONE,
    "finishing a fork there is not": FinishFork(2, EXT1, "done", NOW_MS),
    "splitting off a fork's last recipient": SplitFork(2, DB1, (USER,), "done", NOW_MS),
    "splitting off a stranger": SplitFork(2, DB1, ("b@x",), "done", NOW_MS),
    "splitting a fork that is done": SplitFork(1, DB1, (USER,), "done", NOW_MS),
    "moving a message with an unfinished fork": MoveToPrimarySafetyNet(2, NOW_MS, NOW_MS),
    "moving a message there is not": MoveToPrimarySafetyNet(99, NOW_MS, NOW_MS),
    "deleting a message with an unfinished fork": DeleteMessage(2),
    "deleting a message there is not": DeleteMessage(99),
    "an internal id used twice": InsertMessage(primary_message(2), "in:1"),
    "a discard sequence used twice": InsertDiscard(discard(1)),
    "letting go of a shadow there is not": MoveToShadowSafetyNet(shadow_message(99).key, 0, 0),
    "promoting a shadow there is not": PromoteShadow(shadow_message(99).key, primary_message(98)),
    "the same shadow twice": InsertShadow(shadow_message(97, primary_id=3), "in:1", 0),
    "a body there is not": InsertMessage(primary_message(96), "db:95"),
}


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS.keys())
def test_a_change_that_does_not_fit_is_our_mistake_and_undoes_its_whole_transaction(
    misfit: Change, database: QueueDatabase
) -> None:
    apply(database, InsertMessage(primary_message(1), "in:1"), DONE)
    apply(database, InsertMessage(primary_message(2), "in:1"), InsertDiscard(discard(1)))
    apply(database, InsertShadow(shadow_message(3), "in:2", EXPIRES_MS))
    before = database.opened(created=False)
    with pytest.raises(AssertionError):
        apply(database, InsertMessage(primary_message(50), "in:1"), misfit)
    assert database.opened(created=False) == before


def test_a_group_of_commits_is_answered_in_order(database: QueueDatabase) -> None:
    commits = [Commit(n, (InsertMessage(primary_message(n), "in:1"),)) for n in (3, 1, 2)]
    assert database.commit(commits, fetch) == (Committed(3), Committed(1), Committed(2))


@pytest.mark.parametrize(("group", "times"), [((1,), 0), ((1, 2, 3), 1)])
def test_halfway_is_behind_the_first_of_several_commits(
    group: tuple[int, ...], times: int, database: QueueDatabase
) -> None:
    found: list[list[int]] = []
    commits = [Commit(n, (InsertMessage(primary_message(n), "in:1"),)) for n in group]

    def halfway() -> None:
        found.append([each.internal_id for each in database.opened(created=False).messages])

    database.commit(commits, fetch, halfway)
    assert found == [[1]] * times


def test_a_commit_the_disk_refuses_fails_alone_and_whole(database: QueueDatabase) -> None:
    database._connection.execute("PRAGMA max_page_count = 60")
    big = {"in:big": b"x" * 1_000_000}
    commits = [
        Commit(1, (InsertMessage(primary_message(1), "in:1"),)),
        Commit(
            2,
            (
                InsertMessage(primary_message(2), "in:1"),
                InsertMessage(primary_message(3), "in:big"),
            ),
        ),
        Commit(4, (InsertMessage(primary_message(4), "in:1"),)),
    ]
    first, second, third = database.commit(commits, lambda h: big.get(h) or fetch(h))
    assert (first, third) == (Committed(1), Committed(4))
    assert isinstance(second, CommitFailed)
    assert second.commit == 2
    assert "full" in second.reason
    assert [m.internal_id for m in database.opened(created=False).messages] == [1, 4]


def test_copies_leave_when_their_time_has_come_and_no_sooner(
    tmp_path: Path, database: QueueDatabase
) -> None:
    shadow, held = shadow_message(2), shadow_message(3)
    apply(database, InsertMessage(primary_message(1), "in:1"), DONE, TO_SAFETY_NET)
    apply(database, InsertShadow(shadow, "in:2", EXPIRES_MS))
    apply(database, MoveToShadowSafetyNet(shadow.key, DELIVERED_MS, EXPIRES_MS + 10))
    apply(database, InsertShadow(held, "in:2", EXPIRES_MS + 20))
    assert database.expire_safety_net(EXPIRES_MS - 1).removed == ()
    first = database.expire_safety_net(EXPIRES_MS)
    assert first.removed == (
        ExpiredCopy("primary-safety-net", 1, "<m000001@outside.example>", "net-1"),
    )
    assert first.next_expiry_ms == EXPIRES_MS + 10
    rest = database.expire_safety_net(EXPIRES_MS + 20)
    assert [copy.which for copy in rest.removed] == ["shadow-safety-net", "shadow"]
    assert rest.next_expiry_ms is None
    assert [count(tmp_path, table) for table in ("bodies", "forks")] == [0, 0]
