"""Back pressure: what a server short of disk or queues refuses, and when it recovers (TL-8)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.back_pressure import Level, level_after
from nodes.core.config.config import Thresholds
from nodes.core.interface import inputs as on
from nodes.core.model.resubmit_request import ResubmitDemand, SafetyNetSource
from tests.nodes.core.world import MINUTE, SECOND, START_MS, USER1, USER2, World

DISK = Thresholds(96, 99, 97, 94)
NORMAL, MEDIUM, HIGH = Level.NORMAL, Level.MEDIUM, Level.HIGH
VOLUME_BYTES = 100 * 1024 * 1024
REFUSED = (452, ("4.3.1 Insufficient system resources",))


@pytest.mark.parametrize(
    ("level", "figure", "after"),
    [
        (NORMAL, 95, NORMAL),
        (NORMAL, 96, MEDIUM),
        (NORMAL, 98, MEDIUM),
        (NORMAL, 99, HIGH),
        (MEDIUM, 95, MEDIUM),
        (MEDIUM, 94, NORMAL),
        (MEDIUM, 98, MEDIUM),
        (MEDIUM, 99, HIGH),
        (HIGH, 98, HIGH),
        (HIGH, 97, MEDIUM),
        (HIGH, 95, MEDIUM),
        (HIGH, 94, NORMAL),
    ],
)
def test_each_way_between_levels_has_a_threshold_of_its_own(
    level: Level, figure: int, after: Level
) -> None:
    assert level_after(level, figure, DISK) is after


def world(**service: Any) -> World:
    return World(TransportService={"QueueDatabaseVolumeSize": "100MB", **service})


def use(world: World, server: str, percent: int) -> None:
    host = world.hosts[server]
    host.used_bytes = VOLUME_BYTES * percent // 100
    world.say(server, on.DiskMeasured(host.used_bytes))


def levels(world: World, server: str) -> list[tuple[str, str, int]]:
    said = [f for name, event, f in world.lifecycle if (name, event) == (server, "back-pressure")]
    return [(f["from"], f["to"], f["figure"]) for f in said]


def last(replies: list[Any]) -> tuple[int, tuple[str, ...]]:
    return replies[-1].code, replies[-1].lines


def offer_of_a_server(world: World, server: str, peer: str) -> Any:
    return last(world.offer(server, world.connect(server, peer), USER1))


def test_at_the_medium_level_mail_from_outside_is_refused_and_that_of_servers_taken() -> None:
    own = world()
    use(own, "par1", 97)
    assert last(own.send("par1", USER1)) == REFUSED
    assert offer_of_a_server(own, "par1", "lyo2")[0] == 250


def test_at_the_high_level_mail_of_servers_is_refused_too() -> None:
    own = world()
    use(own, "par1", 99)
    assert last(own.send("par1", USER1)) == REFUSED
    assert offer_of_a_server(own, "par1", "lyo2") == REFUSED


@pytest.mark.parametrize("percent", [97, 99])
def test_what_goes_into_a_mailbox_here_is_taken_at_every_level(percent: int) -> None:
    own = world()
    use(own, "par2", percent)
    own.send("par1", USER1)
    own.run(MINUTE)
    assert len(own.mailboxes[USER1]) == 1


def test_a_shadow_message_is_refused_and_another_server_holds_it() -> None:
    own = world()
    use(own, "lyo1", 97)
    for _ in range(6):
        own.send("par1", USER1)
    holders = {row.custom["ShadowServer"] for row in own.of("HAREDIRECT", "par1")}
    assert holders == {"lyo2"}
    assert not own.of("HARECEIVE", "lyo1")
    assert any(row.custom["Attempts"] == "2" for row in own.of("HAREDIRECT", "par1"))


def test_a_shadow_message_is_refused_that_was_announced_before() -> None:
    own = world()
    session = own.connect("lyo1", "par1")
    own.say("lyo1", on.ShadowRequested(session, "par1", "par1-a", 7, "n", None))
    assert own.hosts["lyo1"].replies[session][-1].code == 250
    use(own, "lyo1", 97)
    assert last(own.offer("lyo1", session, USER1)) == REFUSED
    assert not own.of("HARECEIVE", "lyo1")


def test_it_recovers_by_itself_when_what_it_writes_next_shows_that_there_is_room() -> None:
    own = world()
    use(own, "par1", 97)
    own.hosts["par1"].used_bytes = VOLUME_BYTES // 2
    assert offer_of_a_server(own, "par1", "lyo2")[0] == 250  # a commit
    own.run(2 * SECOND)
    assert last(own.send("par1", USER1))[0] == 250
    assert levels(own, "par1") == [("normal", "medium", 97), ("medium", "normal", 50)]


def test_it_recovers_though_nothing_is_written_when_there_is_room() -> None:
    """What expires, or what others let go of, makes room too."""
    own = world()
    use(own, "par1", 97)
    own.run(10 * SECOND)
    own.hosts["par1"].used_bytes = VOLUME_BYTES // 2
    own.run(2 * SECOND)
    assert levels(own, "par1") == [("normal", "medium", 97), ("medium", "normal", 50)]


def test_the_disk_is_looked_at_once_an_interval_and_only_after_something_was_written() -> None:
    own = world(ResourceMonitoringInterval="00:00:30")
    own.hosts["par1"].used_bytes = VOLUME_BYTES
    for _ in range(5):
        own.send("par1", USER1)
    own.run(29 * SECOND)
    assert not levels(own, "par1")
    own.run(2 * SECOND)
    assert levels(own, "par1") == [("normal", "high", 100)]


def test_a_server_that_starts_looks_at_its_disk() -> None:
    own = world()
    own.hosts["par1"].used_bytes = VOLUME_BYTES
    own.kill("par1")
    own.start("par1")
    assert levels(own, "par1") == [("normal", "high", 100)]


def test_a_volume_of_no_size_is_not_watched() -> None:
    own = World()
    own.say("par1", on.DiskMeasured(VOLUME_BYTES * 1000))
    own.run(MINUTE)
    assert last(own.send("par1", USER1))[0] == 250
    assert not levels(own, "par1")


def test_a_long_queue_is_back_pressure_until_far_less_is_left() -> None:
    own = World(
        TransportService={
            "SubmissionQueueLowToMedium": 5,
            "SubmissionQueueMediumToHigh": 9,
            "SubmissionQueueHighToMedium": 6,
            "SubmissionQueueMediumToLow": 2,
        }
    )
    own.cut[("par1", "lyo2")] = "refuse"
    replies = [last(own.send("par1", USER2))[0] for _ in range(7)]
    assert replies == [250] * 5 + [452] * 2
    own.heal()
    own.run(5 * MINUTE)
    assert levels(own, "par1") == [("normal", "medium", 5), ("medium", "normal", 2)]
    assert last(own.send("par1", USER2))[0] == 250


def resubmission(own: World) -> None:
    session = own.connect("par1", "lyo1")
    wanted = ResubmitDemand("o1", SafetyNetSource.PRIMARY, "DB1", START_MS, own.now_ms, ())
    own.say("par1", on.ResubmitRequested(session, wanted))


def said(own: World, prefix: str = "resubmit-") -> list[tuple[str, Any]]:
    return [(e, f.get("reason")) for _, e, f in own.lifecycle if e.startswith(prefix)]


def test_a_resubmission_waits_under_back_pressure_and_goes_on_where_it_stood() -> None:
    own = world(SafetyNetPageSize=2)
    for _ in range(5):
        own.send("par1", USER1)
    own.run(MINUTE)
    use(own, "par1", 97)
    resubmission(own)
    own.run(MINUTE)
    assert not own.of("RESUBMIT")
    assert said(own)[1:] == [("resubmit-paused", "back pressure")]
    use(own, "par1", 50)
    own.run(MINUTE)
    assert len(own.of("RESUBMIT")) == 5
    assert [event for event, _ in said(own)[2:]] == ["resubmit-resumed", "resubmit-completed"]


def test_a_resubmission_waits_while_the_delivery_queue_is_long() -> None:
    own = World(TransportService={"SafetyNetPageSize": 2, "ResubmissionQueueLength": 3})
    for _ in range(9):
        own.send("par1", USER1)
    own.run(MINUTE)
    own.cut[("par1", "par2")] = "refuse"
    resubmission(own)
    own.run(2 * MINUTE)
    assert len(own.of("RESUBMIT")) == 4  # two pages: 2 are fewer than 3, 4 are not
    assert ("resubmit-paused", "delivery queue") in said(own)
    own.heal()
    own.run(10 * MINUTE)
    assert len(own.of("RESUBMIT")) == 9
    assert len(own.mailboxes[USER1]) == 9
