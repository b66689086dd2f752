"""What a node waits for is said in sentences: answers, times, and who goes on then."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.core.engine.waiting import Waiting, then_of
from nodes.core.engine.work import Work
from nodes.core.interface.queue_changes import DeleteMessage

NOON_MS = 1_767_614_400_000


@dataclass(frozen=True, slots=True)
class Bell(Waiting):
    rung: list[str]
    limit: bool = False

    def __call__(self) -> None:
        self.rung.append("time")

    def written(self) -> None:
        self.rung.append("written")

    def refused(self, reason: str) -> None:
        self.rung.append(reason)

    def __str__(self) -> str:
        return "rings"

    @property
    def until_ms(self) -> int | None:
        return NOON_MS + 1 if self.limit else None

    @property
    def is_limit(self) -> bool:
        return self.limit


def work() -> Work:
    return Work(lambda event: None, NOON_MS)


def test_a_time_is_said_with_what_is_done_then() -> None:
    node = work()
    node.at(NOON_MS + 15_000, Bell([]))
    assert [*map(str, node.waits())] == ["waits until 2026-01-05T12:00:15.000Z, then rings"]


def test_a_transaction_is_said_until_it_is_answered() -> None:
    node, rung = work(), list[str]()
    bell = Bell(rung)
    node.commit((DeleteMessage(7), DeleteMessage(8)), bell.written, bell.refused)
    said = "the disk to write 2 DeleteMessage, asked at 2026-01-05T12:00:00.000Z"
    assert [*map(str, node.waits())] == [f"waits for {said}, then rings"]
    node.committed(1)
    assert rung == ["written"]
    assert not [*node.waits()]


def test_what_only_limits_another_wait_is_no_wait_of_its_own_and_ends_that() -> None:
    node, bell = work(), Bell([], limit=True)
    node.at(NOON_MS + 1, bell)
    node.commit((DeleteMessage(7),), bell.written, bell.refused)
    (wait,) = node.waits()
    assert (wait.asked_ms, wait.until_ms) == (NOON_MS, NOON_MS + 1)
    assert str(wait).endswith(", until 2026-01-05T12:00:00.001Z, then rings")


def test_what_is_cancelled_is_waited_for_no_more() -> None:
    node = work()
    node.at(NOON_MS + 1, Bell([])).cancel()
    assert not [*node.waits()]


def test_times_come_in_their_order() -> None:
    node = work()
    for after_ms in (3, 1, 2):
        node.at(NOON_MS + after_ms, Bell([]))
    assert [wait.until_ms for wait in node.waits()] == [NOON_MS + 1, NOON_MS + 2, NOON_MS + 3]


def test_of_a_plain_function_its_place_in_the_code_is_said() -> None:
    node = work()
    assert then_of(node.run_due) == "goes on in Work.run_due"
    assert then_of(lambda: None).startswith("goes on in test_of_a_plain_function")
