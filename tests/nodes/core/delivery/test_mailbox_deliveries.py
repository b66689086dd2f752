"""MaxConcurrentMailboxDeliveries: of one server, from whichever queue (F§3.2)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from nodes.core.delivery import delivery_queues
from nodes.core.delivery.delivery_queues import DeliveryQueues
from nodes.core.delivery.mailbox_deliveries import MailboxDeliveries
from nodes.core.model.next_hop import NextHop
from tests.nodes.core.world import config


def test_there_is_room_again_when_one_is_over_and_whoever_waits_hears_of_it_once() -> None:
    freed: list[int] = []
    deliveries = MailboxDeliveries(2, lambda: freed.append(1))
    deliveries.begin()
    assert deliveries.has_room
    deliveries.begin()
    assert not deliveries.has_room
    deliveries.end()
    assert (deliveries.has_room, freed) == (True, [1])
    deliveries.end()
    assert freed == [1]


class Waiting:
    """A queue of ten, in place of a delivery queue; `order`: which queues deliveries came from."""

    order: ClassVar[list[str]] = []

    def __init__(self, next_hop: NextHop, deliveries: MailboxDeliveries, **_: Any) -> None:
        self.name, self.deliveries, self.left = next_hop.name, deliveries, 10

    def pump(self) -> None:
        while self.left and self.deliveries.has_room:
            self.left -= 1
            self.deliveries.begin()
            self.order.append(self.name)


def test_a_long_queue_lets_the_others_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_queues, "DeliveryQueue", Waiting)
    monkeypatch.setattr(Waiting, "order", [])
    nothing: Any = None
    known = config("par1", TransportService={"MaxConcurrentMailboxDeliveries": 1})
    queues = DeliveryQueues(known, nothing, nothing, nothing, nothing, nothing, nothing)
    made: list[Any] = [queues.of(NextHop.into(name)) for name in ("DB1", "DB2")]
    made[0].pump()
    for _ in range(8):
        made[0].deliveries.end()
    assert sorted(Waiting.order[-8:]) == ["DB1"] * 4 + ["DB2"] * 4
