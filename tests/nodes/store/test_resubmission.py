"""Safety Nets give their copies back by delivery time, and resubmit requests survive with their
progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.core.interface.effects import ReadSafetyNet
from nodes.core.interface.inputs import SafetyNetNotRead, SafetyNetRead
from nodes.core.interface.queue_changes import (
    Change,
    FinishFork,
    InsertMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
    RerouteFork,
    SplitFork,
)
from nodes.core.interface.resubmit_changes import (
    AdvanceResubmitRequest,
    HeadTaken,
    InsertResubmitRequest,
    RemoveResubmitRequest,
    SetResubmitState,
)
from nodes.core.model.message import Fork
from nodes.core.model.next_hop import DeliveryType, NextHop
from nodes.core.model.resubmit_request import (
    KeptCopy,
    Position,
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.store.queue.changes import StateMismatch
from nodes.store.queue.database import QueueDatabase
from tests.nodes.next_hops import DB1, DB2, EXT1
from tests.nodes.store.samples import (
    NOW_MS,
    fetch,
    open_queue,
    primary_message,
    shadow_message,
)

PRIMARY, SHADOW = SafetyNetSource.PRIMARY, SafetyNetSource.SHADOW
EXPIRES_MS = NOW_MS + 120_000
DEMAND = ResubmitDemand("am:1", SHADOW, "DB1", NOW_MS, NOW_MS + 50, ("par-mbx1", "par-mbx2"))
REQUEST = ResubmitRequest(
    DEMAND,
    "par-mbx2",
    NOW_MS + 60,
    Position(NOW_MS, -1, -1),
    head_end_ms=NOW_MS + 10,
    untold=("lyo-mbx1", "lyo-mbx2"),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[QueueDatabase]:
    with open_queue(tmp_path).database as opened:
        yield opened


def apply(database: QueueDatabase, *changes: Change) -> None:
    database.apply(changes, fetch)


def finish(database: QueueDatabase, internal_id: int, hop: NextHop, done_ms: int) -> None:
    apply(database, FinishFork(internal_id, hop, "done", done_ms))


def read(
    database: QueueDatabase,
    source: SafetyNetSource,
    *,
    after: Position | None = None,
    end_ms: int = NOW_MS + 1000,
    most: int = 10,
) -> SafetyNetRead:
    after = after or Position(NOW_MS, -1, -1)
    answer = database.read_safety_net(ReadSafetyNet(5, source, after, end_ms, most))
    assert isinstance(answer, SafetyNetRead)
    return answer


def ids(answer: SafetyNetRead) -> list[int]:
    return [copy.position.internal_id for copy in answer.copies]


def delivered(database: QueueDatabase, internal_id: int, done_ms: int) -> None:
    apply(database, InsertMessage(primary_message(internal_id), "in:1"))
    finish(database, internal_id, DB1, done_ms)
    apply(database, MoveToPrimarySafetyNet(internal_id, done_ms, EXPIRES_MS))


def let_go(database: QueueDatabase, internal_id: int, delivered_ms: int) -> None:
    shadow = shadow_message(internal_id)
    apply(database, InsertShadow(shadow, "in:2", EXPIRES_MS))
    apply(database, MoveToShadowSafetyNet(shadow.key, delivered_ms, EXPIRES_MS))


@pytest.mark.parametrize(("source", "fill"), [(PRIMARY, delivered), (SHADOW, let_go)])
def test_the_start_of_an_interval_is_included_and_its_end_is_not(
    database: QueueDatabase,
    source: SafetyNetSource,
    fill: Callable[[QueueDatabase, int, int], None],
) -> None:
    for internal_id, at_ms in ((1, -1), (2, 0), (3, 49), (4, 50)):
        fill(database, internal_id, NOW_MS + at_ms)
    assert ids(read(database, source, end_ms=NOW_MS + 50)) == [2, 3]


@pytest.mark.parametrize(
    ("first_ms", "last_ms", "is_wanted"),
    [(0, 99, True), (0, 10, True), (49, 99, True), (50, 99, False), (-9, -1, False)],
)
def test_a_shadow_copy_is_wanted_where_any_of_its_forks_may_be_in_the_interval(
    database: QueueDatabase, first_ms: int, last_ms: int, is_wanted: bool
) -> None:
    shadow = shadow_message(1)
    times = (NOW_MS + last_ms, EXPIRES_MS, NOW_MS + first_ms)
    apply(database, InsertShadow(shadow, "in:2", EXPIRES_MS))
    apply(database, MoveToShadowSafetyNet(shadow.key, *times))
    assert ids(read(database, SHADOW, end_ms=NOW_MS + 50)) == [1] * is_wanted


@pytest.mark.parametrize(("source", "fill"), [(PRIMARY, delivered), (SHADOW, let_go)])
def test_pages_follow_each_other_without_gap_or_repetition_in_one_millisecond(
    database: QueueDatabase,
    source: SafetyNetSource,
    fill: Callable[[QueueDatabase, int, int], None],
) -> None:
    for internal_id in (5, 1, 4, 2, 3):
        fill(database, internal_id, NOW_MS + 7)
    first = read(database, source, most=2)
    second = read(database, source, after=first.copies[-1].position, most=2)
    third = read(database, source, after=second.copies[-1].position, most=2)
    assert [ids(page) for page in (first, second, third)] == [[1, 2], [3, 4], [5]]
    assert [page.more for page in (first, second, third)] == [True, True, False]


def test_a_fork_that_is_done_counts_while_another_fork_of_the_message_still_waits(
    database: QueueDatabase,
) -> None:
    message = primary_message(1, next_hops=(DB1, EXT1))
    apply(database, InsertMessage(message, "in:1"))
    finish(database, 1, DB1, NOW_MS + 5)
    (copy,) = read(database, PRIMARY).copies
    assert copy == KeptCopy(
        Position(NOW_MS + 5, 1, 0),
        message.network_message_id,
        message.header,
        message.envelope,
        message.size_bytes,
        message.forks[0].recipients,
        DB1,
        "",
        None,
    )


def test_a_fork_keeps_its_own_delivery_time_in_the_safety_net(database: QueueDatabase) -> None:
    message = primary_message(1, next_hops=(DB1, DB2))
    apply(database, InsertMessage(message, "in:1"))
    finish(database, 1, DB2, NOW_MS + 5)
    finish(database, 1, DB1, NOW_MS + 80)
    apply(database, MoveToPrimarySafetyNet(1, NOW_MS + 80, EXPIRES_MS))
    found = [(c.next_hop, c.position.delivered_ms) for c in read(database, PRIMARY).copies]
    assert found == [
        (DB2, NOW_MS + 5),
        (DB1, NOW_MS + 80),
    ]
    assert {c.expires_ms for c in read(database, PRIMARY).copies} == {EXPIRES_MS}


def test_who_was_served_before_others_of_the_fork_is_read_alone(database: QueueDatabase) -> None:
    message = primary_message(1)
    forks = (Fork(DB1, ("a@x", "b@x", "c@x")),)
    apply(database, InsertMessage(replace(message, forks=forks), "in:1"))
    apply(database, SplitFork(1, DB1, ("b@x",), "done", NOW_MS + 5))
    assert [c.recipients for c in read(database, PRIMARY).copies] == [("b@x",)]
    finish(database, 1, DB1, NOW_MS + 80)
    found = [(c.recipients, c.position.delivered_ms) for c in read(database, PRIMARY).copies]
    assert found == [(("b@x",), NOW_MS + 5), (("a@x", "c@x"), NOW_MS + 80)]


def test_what_was_redirected_is_read_by_where_it_went(database: QueueDatabase) -> None:
    """Another server answers for it (SN-12)."""
    message, hop = primary_message(1), NextHop(DeliveryType.REDIRECTED, "par-mbx2")
    forks = (Fork(DB1, ("a@x", "b@x")),)
    apply(database, InsertMessage(replace(message, forks=forks), "in:1"))
    apply(database, SplitFork(1, DB1, ("b@x",), "done", NOW_MS + 5, hop))
    apply(database, FinishFork(1, DB1, "done", NOW_MS + 9, hop))
    found = [(c.recipients, c.next_hop) for c in read(database, PRIMARY).copies]
    assert found == [(("b@x",), hop), (("a@x",), hop)]


def test_a_shadow_copy_has_its_original_envelope_and_its_primary_server(
    database: QueueDatabase,
) -> None:
    let_go(database, 1, NOW_MS + 5)
    (copy,) = read(database, SHADOW).copies
    assert copy.recipients == shadow_message(1).envelope.recipients
    assert (copy.next_hop, copy.primary) == (None, "par-mbx1")


def test_expired_forks_are_no_deliveries(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1), "in:1"))
    apply(database, FinishFork(1, DB1, "expired", NOW_MS + 5))
    assert ids(read(database, PRIMARY)) == []


def test_a_safety_net_that_cannot_be_read_says_why(database: QueueDatabase) -> None:
    database.connection.execute("DROP TABLE shadow_safety_net")
    asked = ReadSafetyNet(5, SHADOW, Position(NOW_MS, -1, -1), NOW_MS + 1, 10)
    answer = database.read_safety_net(asked)
    assert isinstance(answer, SafetyNetNotRead)
    assert "shadow_safety_net" in answer.reason


def test_a_request_is_there_after_a_restart_with_its_progress(tmp_path: Path) -> None:
    with open_queue(tmp_path).database as database:
        apply(database, InsertResubmitRequest(REQUEST))
        progress = Position(NOW_MS + 3, 8, 1)
        apply(database, AdvanceResubmitRequest("am:1", progress, 4), HeadTaken("am:1", "lyo-mbx1"))
        apply(database, SetResubmitState("am:1", ResubmitState.RUNNING, ResubmitState.DISABLED))
    opening = open_queue(tmp_path)
    with opening.database:
        (found,) = opening.opened.resubmit_requests
    assert found == replace(
        REQUEST,
        progress=progress,
        state=ResubmitState.DISABLED,
        resubmitted=4,
        untold=("lyo-mbx2",),
    )
    assert opening.opened.created_ms == NOW_MS


def test_a_removed_request_leaves_nothing(database: QueueDatabase) -> None:
    apply(database, InsertResubmitRequest(REQUEST))
    apply(database, RemoveResubmitRequest("am:1"))
    assert database.opened(created=False).resubmit_requests == ()
    apply(database, InsertResubmitRequest(replace(REQUEST, untold=())))
    (again,) = database.opened(created=False).resubmit_requests
    assert again.untold == ()


@pytest.mark.parametrize(
    "change",
    [
        AdvanceResubmitRequest("am:1", REQUEST.progress, 1),
        AdvanceResubmitRequest("am:2", Position(NOW_MS + 1, 1, 0), 1),
        SetResubmitState("am:1", ResubmitState.DISABLED, ResubmitState.RUNNING),
        HeadTaken("am:1", "par-mbx1"),
        RemoveResubmitRequest("am:2"),
        InsertResubmitRequest(REQUEST),
    ],
    ids=lambda change: type(change).__name__,
)
def test_a_change_that_does_not_fit_a_request_is_refused(
    database: QueueDatabase, change: Change
) -> None:
    apply(database, InsertResubmitRequest(REQUEST))
    with pytest.raises(StateMismatch):
        apply(database, change)


def test_messages_remember_the_request_that_made_them(database: QueueDatabase) -> None:
    message = replace(primary_message(1), resubmit_request="am:1")
    shadow = replace(shadow_message(2), resubmit_request="am:1")
    apply(database, InsertMessage(message, "in:1"), InsertShadow(shadow, "in:2", EXPIRES_MS))
    opened = database.opened(created=False)
    assert (opened.messages, opened.shadows) == ((message,), (shadow,))


def forks(database: QueueDatabase) -> list[tuple[str, str]]:
    query = "SELECT next_hop, recipients FROM forks ORDER BY position"
    return [(hop, text) for hop, text in database.connection.execute(query)]


A, B = "db1-user01@shadowlab.example", "db1-user02@shadowlab.example"


def test_recipients_wait_for_another_next_hop_in_a_fork_of_its_own(
    database: QueueDatabase,
) -> None:
    message = replace(primary_message(1), forks=(Fork(DB1, (A, B)),))
    apply(database, InsertMessage(message, "in:1"))
    apply(database, RerouteFork(1, DB1, (A,), DB2))
    assert forks(database) == [("database:DB1", f'["{B}"]'), ("database:DB2", f'["{A}"]')]
    finish(database, 1, DB2, NOW_MS + 5)
    assert read(database, PRIMARY).copies[0].next_hop == DB2


def test_or_join_the_one_that_waits_for_it(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1, next_hops=(DB1, DB2)), "in:1"))
    apply(database, RerouteFork(1, DB1, (A,), DB2))
    assert forks(database) == [("database:DB2", f'["{B}","{A}"]')]


def test_whoever_has_had_his_end_waits_for_nothing(database: QueueDatabase) -> None:
    apply(database, InsertMessage(primary_message(1), "in:1"))
    finish(database, 1, DB1, NOW_MS + 5)
    with pytest.raises(StateMismatch):
        apply(database, RerouteFork(1, DB1, (A,), DB2))
