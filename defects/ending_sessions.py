"""Defects of the end of a session: its server never hangs up, nor notes that somebody else did
(TL-4).
"""

from __future__ import annotations

from collections.abc import Iterable

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, HangUp, LogConnectivity

CALM = "calm"
HALF_AN_HOUR_MS = 30 * 60_000


class LeavesSessionsStanding(Door):
    """`leaves_standing` is asked once for each session, when it should end."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._left: dict[str, bool] = {}

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if not (isinstance(effect, HangUp | LogConnectivity) and is_end(effect)):
            return (effect,)
        if effect.session not in self._left:
            self._left[effect.session] = self.leaves_standing()
        return self.instead(effect) if self._left[effect.session] else (effect,)

    def leaves_standing(self) -> bool:
        return True

    def instead(self, effect: Effect) -> Iterable[Effect]:
        return ()


class LeavesOneInFiftyStanding(LeavesSessionsStanding):
    def leaves_standing(self) -> bool:
        return self.is_nth(50)


class LeavesThemStandingAfterARestart(LeavesSessionsStanding):
    def leaves_standing(self) -> bool:
        return self.starts > 1


class EndsOneInFiftyLate(LeavesOneInFiftyStanding):
    def instead(self, effect: Effect) -> Iterable[Effect]:
        self.hold_back(effect, HALF_AN_HOUR_MS)
        return ()


class ForgetsTheLost(Door):
    """Of a session that was lost, not hung up, the connectivity log has no end."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_lost = isinstance(effect, LogConnectivity) and "(Retry : " in effect.description
        return () if is_lost else (effect,)


def is_end(effect: HangUp | LogConnectivity) -> bool:
    """The row of a heartbeat that failed belongs to no session."""
    return isinstance(effect, HangUp) or (effect.direction == "-" and effect.session != "")


ENDED = ("sessions_ended",)
DEFECTS = (
    Defect(
        "leaves-sessions-standing",
        "No session that a server opened is ended, or noted as ended.",
        "TL-4", CALM, ENDED, lambda: behind(LeavesSessionsStanding),
    ),
    Defect(
        "leaves-one-session-in-fifty-standing",
        "One session in fifty is not ended, nor noted as ended.",
        "TL-4", CALM, ENDED, lambda: behind(LeavesOneInFiftyStanding),
    ),
    Defect(
        "leaves-sessions-standing-after-a-restart",
        "After its first restart a server ends no session that it opens.",
        "TL-4", "primary-returns-in-time", ENDED, lambda: behind(LeavesThemStandingAfterARestart),
    ),
    Defect(
        "ends-one-session-in-fifty-half-an-hour-late",
        "One session in fifty is ended half an hour after it should be.",
        "TL-4", "site-cut", ENDED, lambda: behind(EndsOneInFiftyLate),
    ),
    Defect(
        "forgets-sessions-that-were-lost",
        "The connectivity log has the end of no session that was lost.",
        "TL-4", "site-cut", ENDED, lambda: behind(ForgetsTheLost),
    ),
)  # fmt: skip
