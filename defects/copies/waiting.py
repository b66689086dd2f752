"""Defects of a resubmission that should wait (SN-19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from defects.decisions import does
from defects.defect import Defect
from nodes.core.back_pressure import BackPressure, Level
from nodes.core.delivery.delivery_queues import DeliveryQueues
from nodes.core.model.next_hop import NextHop

WAITS = "resubmission-waits"
LENGTH = Callable[[DeliveryQueues, NextHop], int]


@contextmanager
def never_pauses() -> Iterator[None]:
    with patch.object(BackPressure, "pauses_resubmission", property(lambda pressure: False)):
        yield


@contextmanager
def stays_paused() -> Iterator[None]:
    paused: set[int] = set()

    def pauses(pressure: BackPressure) -> bool:
        if pressure.level is not Level.NORMAL:
            paused.add(id(pressure))
        return id(pressure) in paused

    with patch.object(BackPressure, "pauses_resubmission", property(pauses)):
        yield


def is_always_short(_method: LENGTH, _queues: DeliveryQueues, _hop: NextHop) -> int:
    return -1_000_000


DEFECTS = (
    Defect(
        "resubmits-under-pressure",
        "A resubmission goes on while its server is under back pressure.",
        "SN-19", WAITS, ("back_pressure_kept",), never_pauses,
    ),
    Defect(
        "resubmits-no-more-after-pressure",
        "A resubmission that back pressure has stopped never goes on.",
        "SN-19", WAITS, ("resubmission_waits",), stays_paused,
    ),
    Defect(
        "resubmits-into-a-long-queue",
        "A resubmission does not wait, however long the delivery queue is.",
        "SN-19", WAITS, ("resubmission_waits",),
        lambda: does(DeliveryQueues, "length_of", is_always_short),
    ),
)  # fmt: skip
