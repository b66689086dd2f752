"""Defects of a server that is short of disk or queue space (TL-8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.decisions import decides, does
from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.back_pressure import BackPressure, Level, level_after
from nodes.core.config.config import Thresholds
from nodes.core.interface.effects import Effect, LogLifecycle, SendReply
from nodes.core.interface.inputs import DiskMeasured, Input
from nodes.core.interface.replies import R452_BACK_PRESSURE, Reply

FILLED = "mail-fills-the-volume"
MEDIUM, HIGH, LONG_QUEUE = "back-pressure-medium", "back-pressure-high", "back-pressure-long-queue"
Refuses = Callable[[BackPressure, str | None], bool]


@contextmanager
def takes_shadows() -> Iterator[None]:
    with patch.object(BackPressure, "refuses_shadows", property(lambda pressure: False)):
        yield


def takes_mail_from_outside(method: Refuses, pressure: BackPressure, peer: str | None) -> bool:
    return peer is not None and method(pressure, peer)


def takes_mail_of_servers(method: Refuses, pressure: BackPressure, peer: str | None) -> bool:
    return peer is None and method(pressure, peer)


def refuses_servers_as_anybody(method: Refuses, pressure: BackPressure, _peer: str | None) -> bool:
    return method(pressure, None)


Step = Callable[[Level, int, Thresholds], Level]


def never_falls(step: Step, level: Level, figure: int, thresholds: Thresholds) -> Level:
    return max(level, step(level, figure, thresholds))


def one_threshold(step: Step, level: Level, figure: int, thresholds: Thresholds) -> Level:
    """For both directions: no hysteresis."""
    up, high = thresholds.low_to_medium, thresholds.medium_to_high
    return step(level, figure, Thresholds(up, high, high - 1, up - 1))


def one_level_only(step: Step, level: Level, figure: int, thresholds: Thresholds) -> Level:
    return min(Level.MEDIUM, step(level, figure, thresholds))


class SeesNoDisk(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        return () if isinstance(happened, DiskMeasured) else (happened,)


class SeesDiskTwice(Door):
    """Whatever lies there counts twice."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DiskMeasured):
            happened = replace(happened, used_bytes=2 * happened.used_bytes + 124 * 1024 * 1024)
        return (happened,)


class RefusesForGood(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendReply) and effect.reply == R452_BACK_PRESSURE:
            effect = replace(effect, reply=Reply(554, ("5.3.1 Insufficient system resources",)))
        return (effect,)


class SaysNoLevel(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_level = isinstance(effect, LogLifecycle) and effect.event == "back-pressure"
        return () if is_level else (effect,)


def looks_after_writing_only(
    _method: Callable[..., None], pressure: BackPressure, happened: DiskMeasured
) -> None:
    if pressure._volume_bytes:
        pressure._set("DatabaseUsedSpace", happened.used_bytes * 100 // pressure._volume_bytes)


def refuses(otherwise: Callable[..., Any]) -> Any:
    return does(BackPressure, "refuses_mail", otherwise)


KEPT = ("back_pressure_kept",)
DEFECTS = (
    Defect(
        "fills-its-volume",
        "A server goes on taking mail when its volume is full of what Safety Net keeps.",
        "TL-8", FILLED, ("volume_watched",), lambda: behind(SeesNoDisk),
    ),
    Defect(
        "sees-no-room-that-expiry-makes",
        "A server under pressure looks at its volume when it has written something, no sooner.",
        "TL-8", FILLED, ("volume_watched",),
        lambda: does(BackPressure, "measured", looks_after_writing_only),
    ),
    Defect(
        "takes-shadows-under-pressure",
        "A server at the medium level takes shadow messages.",
        "TL-8", MEDIUM, KEPT, takes_shadows,
    ),
    Defect(
        "takes-mail-from-outside-under-pressure",
        "A server at the medium level takes mail from outside.",
        "TL-8", MEDIUM, KEPT, lambda: refuses(takes_mail_from_outside),
    ),
    Defect(
        "takes-mail-of-servers-at-the-high-level",
        "A server at the high level takes mail of other servers.",
        "TL-8", HIGH, KEPT, lambda: refuses(takes_mail_of_servers),
    ),
    Defect(
        "refuses-servers-at-the-medium-level",
        "A server at the medium level refuses mail of other servers too.",
        "TL-8", HIGH, KEPT, lambda: refuses(refuses_servers_as_anybody),
    ),
    Defect(
        "stays-under-pressure",
        "A level of back pressure rises and never falls.",
        "TL-8", MEDIUM, KEPT, lambda: decides(level_after, never_falls),
    ),
    Defect(
        "knows-one-threshold",
        "A level falls again just below the threshold at which it rose.",
        "TL-8", LONG_QUEUE, KEPT, lambda: decides(level_after, one_threshold),
    ),
    Defect(
        "knows-one-level",
        "A server that is at the high level takes itself for one at the medium level.",
        "TL-8", HIGH, KEPT, lambda: decides(level_after, one_level_only),
    ),
    Defect(
        "does-not-look-at-its-disk",
        "A server does not notice how much of its disk is in use.",
        "TL-8", MEDIUM, KEPT, lambda: behind(SeesNoDisk),
    ),
    Defect(
        "takes-its-disk-for-fuller",
        "A server takes its disk for full that is all but empty.",
        "TL-8", MEDIUM, KEPT, lambda: behind(SeesDiskTwice),
    ),
    Defect(
        "refuses-for-good-under-pressure",
        "What a server refuses under back pressure it refuses for good.",
        "TL-8", MEDIUM, KEPT, lambda: behind(RefusesForGood),
    ),
    Defect(
        "does-not-say-its-level",
        "A server says nothing of its level of back pressure.",
        "TL-8", MEDIUM, ("refused_for_cause", "back_pressure_kept"),
        lambda: behind(SaysNoLevel),
    ),
)  # fmt: skip
