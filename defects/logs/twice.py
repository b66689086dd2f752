"""Defects of message tracking logs: rows that stand there again (TL-1)."""

from __future__ import annotations

from collections.abc import Iterable

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import Effect, LogTracking


class LogsTwice(Door):
    """Rows of `event`; `is_repeated` says which of them."""

    event = "DELIVER"

    def is_repeated(self) -> bool:
        return self.is_nth(20)

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_such = isinstance(effect, LogTracking) and effect.event == self.event
        return self.again(effect) if is_such and self.is_repeated() else (effect,)

    def again(self, effect: Effect) -> Iterable[Effect]:
        return (effect, effect)


class LogsAgainAMinuteLater(LogsTwice):
    event = "HADISCARD"

    def again(self, effect: Effect) -> Iterable[Effect]:
        self.hold_back(effect, 60_000)
        return (effect,)


class LogsTwiceAfterARestart(LogsTwice):
    event = "RECEIVE"

    def is_repeated(self) -> bool:
        return self.starts > 1


ONCE = ("logged_once",)
DEFECTS = (
    Defect(
        "logs-one-delivery-in-twenty-twice",
        "One delivery in twenty is logged twice.",
        "TL-1", "calm", ONCE, lambda: behind(LogsTwice),
    ),
    Defect(
        "logs-again-what-it-lets-go-a-minute-later",
        "One shadow message in twenty that is let go is logged again a minute later.",
        "TL-1", "calm", ONCE, lambda: behind(LogsAgainAMinuteLater),
    ),
    Defect(
        "logs-twice-what-it-takes-in-after-a-restart",
        "After its first restart a server logs each message that it takes in twice.",
        "TL-1", "outbound-mail-delayed", ONCE, lambda: behind(LogsTwiceAfterARestart),
    ),
)  # fmt: skip
