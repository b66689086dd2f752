"""Nodes that remember what they delivered for too long, or not long enough (DD-2, DD-4, DD-5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Context, Defect
from defects.door import Door, behind
from defects.settings import goes_by
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import CleanUpDeliveredTo, DeliverToMailboxes, Effect
from nodes.core.interface.inputs import DeliveredToCleanedUp, Input

YEAR_MS = 365 * 86_400_000


class CleansUp(Door):
    """`before_ms`: what is removed in place of what is too old."""

    def before_ms(self, asked: CleanUpDeliveredTo) -> int:
        return asked.before_ms

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, CleanUpDeliveredTo):
            return (replace(effect, before_ms=self.before_ms(effect)),)
        return (effect,)


class CleansUpTooEarly(CleansUp):
    def before_ms(self, asked: CleanUpDeliveredTo) -> int:
        return asked.before_ms + self.config.duplicate_windows_ms[asked.database] // 2


class CleansUpTooLittle(CleansUp):
    def before_ms(self, asked: CleanUpDeliveredTo) -> int:
        return asked.before_ms - 2 * self.config.duplicate_windows_ms[asked.database]


class NeverCleansUp(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, CleanUpDeliveredTo) else (effect,)


class SaysThatItCleanedUp(Door):
    """An entry stays, and is said to be gone."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, CleanUpDeliveredTo):
            return (replace(effect, before_ms=0),)
        return (effect,)

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DeliveredToCleanedUp):
            return (replace(happened, removed=happened.left, left=0),)
        return (happened,)


class KnowsWhatIsStillThere(Door):
    """An entry counts until the clean-up has taken it."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, DeliverToMailboxes):
            return (replace(effect, window_ms=YEAR_MS),)
        return (effect,)


def cleans_up_too_seldom() -> Context:
    def slower(config: NodeConfig) -> NodeConfig:
        each = {name: 2 * ms for name, ms in config.cleanup_intervals_ms.items()}
        return replace(config, cleanup_intervals_ms=each)

    return goes_by(slower)


SHOWS = "duplicates-after-their-window"
CLEANED = ("delivered_to_cleaned",)
DEFECTS = (
    Defect(
        "cleans-up-too-early",
        "The clean-up removes entries whose window is half over.",
        "DD-5", SHOWS, CLEANED, lambda: behind(CleansUpTooEarly),
    ),
    Defect(
        "cleans-up-too-little",
        "The clean-up leaves entries until they are three windows old.",
        "DD-5", SHOWS, CLEANED, lambda: behind(CleansUpTooLittle),
    ),
    Defect(
        "never-cleans-up",
        "DeliveredTo only grows.",
        "DD-5", SHOWS, CLEANED, lambda: behind(NeverCleansUp),
    ),
    Defect(
        "cleans-up-too-seldom",
        "The clean-up comes at every second interval.",
        "DD-5", SHOWS, CLEANED, cleans_up_too_seldom,
    ),
    Defect(
        "says-that-it-cleaned-up",
        "Nothing is removed from DeliveredTo, and all of it is said to be gone.",
        "DD-5", SHOWS, CLEANED, lambda: behind(SaysThatItCleanedUp),
    ),
    Defect(
        "knows-what-is-still-there",
        "An entry whose window is over still hides a message until the clean-up.",
        "DD-4", SHOWS, ("duplicates_logged",), lambda: behind(KnowsWhatIsStillThere),
    ),
)  # fmt: skip
