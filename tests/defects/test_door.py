"""A door drops, alters, makes up and holds back what goes through it; its node knows of nothing."""

from collections.abc import Iterable

from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogLifecycle
from nodes.core.interface.inputs import DatabaseOpened, DeadlineReached, Input
from nodes.core.node import Node
from tests.nodes.core.world import config

NOW_MS = 1_000_000
OPENED = DatabaseOpened("d1", True, 1, (), (), (), (), 0, None)


def events(effects: Iterable[Effect]) -> list[str]:
    return [each.event for each in effects if isinstance(each, LogLifecycle)]


class Deaf(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        return ()


class Mute(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return ()


class Twice(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return (effect, effect)


class Late(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        self.hold_back(effect, 500)
        return ()


class Inventive(Door):
    """Has the database opened, once, though only a deadline was reached."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.answer(OPENED)


def heard(door: type[Door], happened: Input = OPENED) -> list[str]:
    with behind(door):
        return events(Node(config("par1")).handle(happened, NOW_MS))


def test_an_open_door_changes_nothing() -> None:
    assert heard(Door) == events(Node(config("par1")).handle(OPENED, NOW_MS))
    assert heard(Door) == ["database-created"]


def test_what_is_dropped_on_the_way_in_never_happened() -> None:
    assert heard(Deaf) == []


def test_what_is_dropped_on_the_way_out_is_never_done() -> None:
    assert heard(Mute) == []


def test_what_is_doubled_is_done_twice() -> None:
    assert heard(Twice) == ["database-created"] * 2


def test_what_is_made_up_is_heard_too() -> None:
    assert heard(Inventive, DeadlineReached()) == ["database-created"]


def test_what_is_held_back_is_done_at_its_time() -> None:
    with behind(Late):
        node = Node(config("par1"))
        assert events(node.handle(OPENED, NOW_MS)) == []
        assert node.next_deadline_ms() == NOW_MS + 500
        assert events(node.handle(DeadlineReached(), NOW_MS + 499)) == []
        assert events(node.handle(DeadlineReached(), NOW_MS + 500)) == ["database-created"]
        assert node.next_deadline_ms() is None


def test_each_life_has_a_door_of_its_own() -> None:
    with behind(Late):
        first, second = Node(config("par1")), Node(config("par2"))
        first.handle(OPENED, NOW_MS)
        assert second.next_deadline_ms() is None
