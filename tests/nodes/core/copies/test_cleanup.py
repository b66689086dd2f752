"""The background clean-up of DeliveredTo (DD-5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from nodes.core.interface import effects as fx
from nodes.core.interface import inputs as on
from tests.nodes.core.copies.copies import world_of
from tests.nodes.core.world import HOUR, MINUTE, Host, World

EVENT = "delivered-to-cleaned-up"


@dataclass
class Disk:
    """What clean-ups are answered, one after the other."""

    world: World
    answers: list[on.DeliveredToCleanedUp]
    asked: list[tuple[int, str, fx.CleanUpDeliveredTo]] = field(default_factory=list)

    def __post_init__(self) -> None:
        carry_out = self.world._carry_out

        def listen(host: Host, effect: fx.Effect) -> None:
            if isinstance(effect, fx.CleanUpDeliveredTo):
                self.asked.append((self.world.now_ms, host.name, effect))
                if self.answers:
                    self.world.give(host, self.answers.pop(0))
                    return
            carry_out(host, effect)

        self.world._carry_out = listen  # type: ignore[method-assign]


def cleaned(world: World) -> list[tuple[str, dict[str, str | int]]]:
    return [(name, fields) for name, event, fields in world.lifecycle if event == EVENT]


def test_each_copy_is_cleaned_up_at_its_interval() -> None:
    database = {"Track Duplicates": "01:00:00", "Background Cleanup": "00:30:00"}
    world = World(Databases=[{"Name": "DB1", "Server": "par2", **database}])
    disk, began_ms = Disk(world, []), world.now_ms
    world.run(HOUR + MINUTE)
    assert [(at - began_ms, server) for at, server, _ in disk.asked] == [
        (HOUR // 2, "par2"),
        (HOUR, "par2"),
    ]
    assert disk.asked[0][2].before_ms == began_ms + HOUR // 2 - HOUR


def test_a_passive_copy_is_cleaned_up_by_its_own_server() -> None:
    world = world_of("par2", "lyo1")
    world.run(HOUR + MINUTE)
    names = [name for name, fields in cleaned(world) if fields["database"] == "DB1"]
    assert sorted(names) == ["lyo1", "par2"]


def test_what_is_too_much_for_a_transaction_goes_in_pages_and_is_said_once() -> None:
    database = {"Name": "DB1", "Server": "par2"}
    world = World(Databases=[database])
    page = on.DeliveredToCleanedUp("DB1", 10_000, 5, more=True)
    disk = Disk(world, [page, on.DeliveredToCleanedUp("DB1", 3, 2)])
    world.run(HOUR + MINUTE)
    assert len(disk.asked) == 2
    assert cleaned(world) == [("par2", {"database": "DB1", "removed": 10_003, "left": 2})]


def test_one_that_failed_is_said_and_comes_again_after_an_interval() -> None:
    world = World(Databases=[{"Name": "DB1", "Server": "par2"}])
    failed = on.DeliveredToCleanedUp("DB1", 0, 0, failure="disk full")
    disk = Disk(world, [failed])
    world.run(2 * HOUR + MINUTE)
    said = [(event, fields) for _, event, fields in world.lifecycle if "clean" in event]
    assert said[0] == ("cleanup-failed", {"database": "DB1", "reason": "disk full"})
    assert [event for event, _ in said[1:]] == [EVENT]
    assert len(disk.asked) == 2
