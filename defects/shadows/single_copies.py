"""Primary servers whose messages have a single copy, and that say otherwise (SM-17)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import Effect, LogTracking

OUTCOME = ("Outcome", "single-copy")


def is_report(effect: Effect) -> bool:
    return isinstance(effect, LogTracking) and OUTCOME in effect.custom


class ReportsNone(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if is_report(effect) else (effect,)


class ReportsOneInTwo(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if is_report(effect) and self.is_nth(2) else (effect,)


class ReportsLate(Door):
    """Twenty minutes after its session stood."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if is_report(effect):
            self.hold_back(effect, 20 * 60_000)
            return ()
        return (effect,)


class ReportsWhatIsHeld(Door):
    """One message in twenty, as soon as its shadow is made."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_made = isinstance(effect, LogTracking) and effect.event == "HAREDIRECT"
        if not (isinstance(effect, LogTracking) and is_made and self.is_nth(20)):
            return (effect,)
        holder = dict(effect.custom)["ShadowServer"]
        custom = (("ShadowServer", holder), OUTCOME)
        return (effect, replace(effect, event="HAREDIRECTFAIL", custom=custom))


class NamesAnotherHolder(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, LogTracking) or not is_report(effect):
            return (effect,)
        holder = dict(effect.custom)["ShadowServer"]
        others = (each.name for each in self.config.servers if each.role == "mailbox")
        other = next(name for name in others if name not in (self.me, holder))
        return (replace(effect, custom=(("ShadowServer", other), OUTCOME)),)


SHOWS, CLAIM = "shadow-server-loses-its-queue-database", ("single_copies_reported",)
DEFECTS = (
    Defect(
        "reports-no-single-copy",
        "A primary does not say that the shadow of a message is gone with its server's disk.",
        "SM-17", SHOWS, CLAIM, lambda: behind(ReportsNone),
    ),
    Defect(
        "reports-every-second-single-copy",
        "A primary says it of every second message that it happened to.",
        "SM-17", SHOWS, CLAIM, lambda: behind(ReportsOneInTwo),
    ),
    Defect(
        "reports-single-copies-late",
        "A primary says it twenty minutes after it could know.",
        "SM-17", SHOWS, CLAIM, lambda: behind(ReportsLate),
    ),
    Defect(
        "reports-what-is-held-as-single-copy",
        "A primary says it of messages whose shadow is there.",
        "SM-17", SHOWS, CLAIM, lambda: behind(ReportsWhatIsHeld),
    ),
    Defect(
        "names-another-lost-holder",
        "A primary says that another server lost the shadow.",
        "SM-17", SHOWS, CLAIM, lambda: behind(NamesAnotherHolder),
    ),
)  # fmt: skip
