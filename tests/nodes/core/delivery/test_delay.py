"""Mail that waits for longer than DelayNotificationTimeout: its sender hears of it once (RT-5)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.core.delivery.dsn import Report, delay_report
from tests.nodes.core.world import HOUR, MINUTE, OUTSIDE, SECOND, USER1, USER2, World

SENDER = "alice@partner.example"
DELAY = 40 * MINUTE
BUSY = 451, "4.2.1 mailbox busy"


def waiting(**service: str) -> World:
    """One message whose mailbox server cannot be reached; its sender is outside, who can be."""
    world = World(TransportService={"DelayNotificationTimeout": "00:40:00", **service})
    world.cut[("par1", "par2")] = "refuse"
    world.send("par1", USER1)
    return world


def told(world: World) -> list[tuple[str, tuple[str, ...]]]:
    """What the DSNs that were made say, and who got them."""
    got = [recipients for _, recipients in world.external]
    made = [row.context for row in world.of("DSN")]
    return list(zip(made, got, strict=True))


def restarts(world: World) -> None:
    world.kill("par1")
    world.start("par1")


def test_the_sender_is_told_when_the_time_is_over_and_the_message_is_delivered_later() -> None:
    world = waiting()
    (received,) = world.of("RECEIVE")
    world.run(DELAY - SECOND)
    assert told(world) == []
    world.run(2 * SECOND)
    assert told(world) == [("delayed", (SENDER,))]
    assert world.of("DSN")[0].at_ms == received.at_ms + DELAY
    world.heal()
    world.run(HOUR)
    assert len(world.mailboxes[USER1]) == 1
    assert told(world) == [("delayed", (SENDER,))]
    assert len(world.of("HADISCARD")) == 1


@pytest.mark.parametrize("at", [DELAY - MINUTE, DELAY + MINUTE], ids=["before", "after"])
def test_it_is_told_once_whenever_its_server_is_killed(at: int) -> None:
    world = waiting()
    world.run(at)
    restarts(world)
    world.run(3 * HOUR)
    assert told(world) == [("delayed", (SENDER,))]


@pytest.mark.parametrize(("sender", "disabled"), [(SENDER, "External"), (USER2, "Internal")])
def test_who_is_not_to_hear_of_delays_hears_of_none(sender: str, disabled: str) -> None:
    """Senders of the other kind do."""
    world = World(
        TransportService={"DelayNotificationTimeout": "00:40:00"},
        TransportConfig={f"{disabled}DelayDsnEnabled": False},
    )
    world.cut[("par1", "par2")] = "refuse"
    for each in (SENDER, USER2):
        world.send("par1", USER1, sender=each, message_id=f"<of.{each}>")
    world.run(DELAY + MINUTE)
    (other,) = {SENDER, USER2} - {sender}
    assert [row.recipients for row in world.of("DSN")] == [(other,)]


def test_it_is_told_again_in_the_end_when_the_message_expires() -> None:
    world = waiting(MessageExpirationTimeout="01:00:00")
    world.run(2 * HOUR)
    assert told(world) == [("delayed", (SENDER,)), ("", (SENDER,))]


def test_nothing_is_delayed_that_expires_as_soon() -> None:
    world = waiting(MessageExpirationTimeout="00:40:00")
    world.run(2 * HOUR)
    assert told(world) == [("", (SENDER,))]


def test_only_who_still_waits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others have the message."""
    reports: list[Report] = []

    def seen(*about: Any) -> Report | None:
        report = delay_report(*about)
        reports.extend([report] if report else [])
        return report

    monkeypatch.setattr("nodes.core.delivery.delivery.delay_report", seen)
    world = World(TransportService={"DelayNotificationTimeout": "00:40:00"})
    world.refuse_recipient = {OUTSIDE: BUSY}
    world.send("par1", OUTSIDE, USER1)
    world.run(DELAY + MINUTE)
    (report,) = reports
    assert f"  {OUTSIDE}: 400 4.4.7 Message delayed" in report.body
    assert f"  {USER1}: " not in report.body
    assert report.message.header.subject == "Delivery delayed: hello"
