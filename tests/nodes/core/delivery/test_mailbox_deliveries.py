"""MaxConcurrentMailboxDeliveries: of one server, from whichever queue (F§3.2)."""

from __future__ import annotations

from nodes.core.delivery.mailbox_deliveries import MailboxDeliveries


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
