"""Defects of what a server logs, while it does all else as it should (TL)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.interface.effects import Effect, LogConnectivity, LogTracking

CALM = "calm"


class LogsOneUnderAnotherId(Door):
    """One message in twenty; `event` says of which rows."""

    event = "DELIVER"

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, LogTracking) and effect.event == self.event and self.is_nth(20):
            return (replace(effect, network_message_id=effect.network_message_id[::-1]),)
        return (effect,)


class HoldsOneUnderAnotherId(LogsOneUnderAnotherId):
    event = "HARECEIVE"


class LogsNoSession(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        return () if isinstance(effect, LogConnectivity) else (effect,)


class LogsNoSessionAfterARestart(Door):
    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_passed_over = isinstance(effect, LogConnectivity) and self.starts > 1
        return () if is_passed_over else (effect,)


DEFECTS = (
    Defect(
        "delivers-one-in-twenty-under-another-id",
        "One delivery in twenty is logged under a network message id that nobody else has.",
        "TL-3", CALM, ("traceable",), lambda: behind(LogsOneUnderAnotherId),
    ),
    Defect(
        "holds-one-in-twenty-under-another-id",
        "One shadow message in twenty is logged under another network message id than its primary.",
        "TL-3", CALM, ("traceable",), lambda: behind(HoldsOneUnderAnotherId),
    ),
    Defect(
        "logs-no-session",
        "The connectivity log stays empty.",
        "TL-4", CALM, ("discard_after_delivery",), lambda: behind(LogsNoSession),
    ),
    Defect(
        "logs-no-session-after-a-restart",
        "After its first restart a server writes no connectivity log.",
        "TL-4", "primary-returns-in-time", ("discard_after_delivery",),
        lambda: behind(LogsNoSessionAfterARestart),
    ),
)  # fmt: skip
