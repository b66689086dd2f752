"""Defects of ShadowMessageAutoDiscardInterval: when discard notifications go that nobody asks for
(SM-11).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from defects.defect import Defect
from defects.door import Door, behind
from defects.settings import transport
from nodes.core.interface.effects import Commit, Effect
from nodes.core.interface.queue_changes import DropOldDiscards

SPARED = "lyo-mbx2"
FOR_EVER_MS = 365 * 86_400_000
NOBODY_ASKS, HELD = "nobody-asks", ("held_long_enough",)


class KeepsThoseForOneServer(Door):
    """On disk, where they come back from with the next start."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, Commit):
            return (effect,)
        done = (
            change
            for change in effect.changes
            if not (isinstance(change, DropOldDiscards) and change.shadow_server == SPARED)
        )
        return (replace(effect, changes=tuple(done)),)


DEFECTS = (
    Defect(
        "drops-notifications-after-ten-seconds",
        "Discard notifications are dropped long before ShadowMessageAutoDiscardInterval is over.",
        "SM-11", "calm", ("discard_after_delivery",),
        lambda: transport(lambda t: replace(t, shadow_message_auto_discard_interval_ms=10_000)),
    ),
    Defect(
        "keeps-notifications-for-ever",
        "Discard notifications that nobody asks for are never dropped.",
        "SM-11", NOBODY_ASKS, HELD,
        lambda: transport(
            lambda t: replace(t, shadow_message_auto_discard_interval_ms=FOR_EVER_MS)
        ),
    ),
    Defect(
        "keeps-notifications-for-one-server",
        "Discard notifications for one shadow server are never dropped from the queue database.",
        "SM-11", NOBODY_ASKS, HELD, lambda: behind(KeepsThoseForOneServer),
    ),
)  # fmt: skip
