"""Active Manager finds after a kill what it had written down, nothing half done (TP-6, SN-7)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.core.interface.effects import Commit
from nodes.core.interface.inputs import CommitFailed, Committed
from nodes.core.interface.manager_changes import (
    InsertAsking,
    InsertFailover,
    ManagerChange,
    SetAsking,
    SetFailover,
    SetManagedDatabase,
    SetTelling,
)
from nodes.core.model.failover import (
    Asking,
    AskingState,
    Failover,
    FailoverKind,
    FailoverState,
    ManagedDatabase,
    Telling,
)
from nodes.core.model.failover_states import TRANSITIONS, FailoverMove, after
from nodes.core.model.resubmit_request import SafetyNetSource
from nodes.store.manager_database import ManagerDatabase, open_manager_database
from nodes.store.queue.changes import StateMismatch
from tests.nodes.store.samples import NOW_MS

FAILOVER = Failover(
    "DB1", 1, FailoverKind.SWITCHOVER, "asked", "a", "b", FailoverState.DECIDED, NOW_MS
)
MOUNTED = replace(
    FAILOVER, state=FailoverState.MOUNTED, dismounted_log=7, mounted_ms=NOW_MS + 1, start_ms=NOW_MS
)
ASKING = Asking(
    "DB1:1", "a", "DB1", 1, SafetyNetSource.SHADOW, "p", NOW_MS, None, NOW_MS, broadcast_ms=NOW_MS
)
TELLING = Telling("DB1", "a", 1, "b")


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ManagerDatabase]:
    opening = open_manager_database(tmp_path / "manager.db", NOW_MS, lambda: "am-id")
    assert opening.opened.created
    yield opening.database
    opening.database.close()


def commit(manager: ManagerDatabase, *changes: ManagerChange) -> Committed | CommitFailed:
    return manager.commit((Commit(1, changes),))[0]


def test_everything_that_was_committed_is_there_after_a_start(
    tmp_path: Path, manager: ManagerDatabase
) -> None:
    managed = ManagedDatabase("DB1", "b", 1, NOW_MS)
    commit(manager, InsertFailover(FAILOVER))
    commit(
        manager,
        SetFailover(MOUNTED, FailoverState.DECIDED),
        SetManagedDatabase(managed),
        SetTelling(TELLING),
        InsertAsking(ASKING),
    )
    manager.close()
    opening = open_manager_database(tmp_path / "manager.db", NOW_MS, lambda: "another")
    opened = opening.opened
    assert (opened.database_id, opened.created, opened.starts) == ("am-id", False, 2)
    assert (opened.databases, opened.failovers) == ((managed,), (MOUNTED,))
    assert (opened.tellings, opened.askings) == ((TELLING,), (ASKING,))
    opening.database.close()


def test_an_asking_that_is_closed_is_not_taken_up_again(manager: ManagerDatabase) -> None:
    commit(manager, InsertAsking(ASKING))
    commit(manager, SetAsking(replace(ASKING, end_ms=NOW_MS + 5, resubmitted=3)))
    assert manager.start(False).askings[0].resubmitted == 3
    closed = replace(ASKING, state=AskingState.COMPLETED)
    commit(manager, SetAsking(closed))
    assert manager.start(False).askings == ()
    with pytest.raises(StateMismatch):
        commit(manager, SetAsking(closed))


@pytest.mark.parametrize(
    "change",
    [
        InsertFailover(FAILOVER),
        SetFailover(MOUNTED, FailoverState.MOUNTED),
        SetManagedDatabase(ManagedDatabase("DB1", "a", 0, 0)),
        SetTelling(replace(TELLING, epoch=0)),
        InsertAsking(ASKING),
    ],
)
def test_a_change_that_expects_another_state_changes_nothing(
    manager: ManagerDatabase, change: ManagerChange
) -> None:
    managed = SetManagedDatabase(ManagedDatabase("DB1", "b", 1, NOW_MS))
    commit(manager, InsertFailover(FAILOVER), managed, SetTelling(TELLING), InsertAsking(ASKING))
    before = manager.start(False)
    with pytest.raises(StateMismatch):
        commit(manager, SetManagedDatabase(ManagedDatabase("DB2", "b", 1, NOW_MS)), change)
    assert manager.start(False) == replace(before, starts=before.starts + 1)


def test_what_the_disk_refuses_is_an_answer(manager: ManagerDatabase) -> None:
    manager.connection.execute(
        "CREATE TRIGGER full BEFORE INSERT ON tellings BEGIN SELECT RAISE(FAIL, 'full'); END"
    )
    with pytest.raises((StateMismatch, sqlite3.Error)):
        commit(manager, InsertFailover(FAILOVER), SetTelling(TELLING))
    assert manager.start(False).failovers == ()


def test_a_damaged_file_is_set_aside_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "manager.db"
    path.write_bytes(b"no database at all" * 500)
    opening = open_manager_database(path, NOW_MS, lambda: "new-id")
    assert opening.set_aside is not None
    assert Path(opening.set_aside.renamed_to).exists()
    assert (opening.opened.database_id, opening.opened.created) == ("new-id", True)
    opening.database.close()


@pytest.mark.parametrize("state", FailoverState)
@pytest.mark.parametrize("move", FailoverMove)
def test_a_failover_moves_as_its_table_says_or_not_at_all(
    state: FailoverState, move: FailoverMove
) -> None:
    if (state, move) in TRANSITIONS:
        assert after(state, move) is TRANSITIONS[(state, move)]
    else:
        with pytest.raises(AssertionError):
            after(state, move)
