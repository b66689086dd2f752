"""Defects of shadow servers: heartbeats that they leave out (SM-2)."""

from __future__ import annotations

from collections.abc import Iterable

from defects.defect import Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.interface.effects import Effect, LogConnectivity, LogLifecycle, OpenSession
from nodes.core.interface.inputs import SessionFailed

HEARTBEAT, CONTACT, FAILED = "heartbeat", "XQDISCARD contact", "XQDISCARD failed"


class LeavesHeartbeatsOut(Door):
    """To a primary server that could not be reached, until it answers. The core believes that each
    has failed; nothing of it is logged.
    """

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._sessions: set[str] = set()
        self._silent: set[str] = set()
        self._heard: set[str] = set()

    def is_left_out(self, peer: str) -> bool:
        return peer in self._silent

    def is_heard(self, peer: str) -> bool:
        """Since the server started."""
        return peer in self._heard

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, OpenSession) and effect.session in self._sessions:
            self.answer(SessionFailed(effect.session, "left out"))
            return ()
        if isinstance(effect, LogConnectivity):
            return () if self._is_of_one_left_out(effect) else (effect,)
        is_of_one = isinstance(effect, LogLifecycle) and ("reason", "left out") in effect.fields
        return () if is_of_one else (effect,)

    def _is_of_one_left_out(self, row: LogConnectivity) -> bool:
        if row.description.startswith(CONTACT):
            self._heard.add(row.destination)
            self._silent.discard(row.destination)
        elif row.description == HEARTBEAT and self.is_left_out(row.destination):
            self._sessions.add(row.session)
        elif row.description.startswith(FAILED):
            self._silent.add(row.destination)
            return "Reason=left out" in row.description
        return row.session in self._sessions


class LeavesEverySecondOut(LeavesHeartbeatsOut):
    def is_left_out(self, peer: str) -> bool:
        return super().is_left_out(peer) and self.is_nth(2)


class LeavesThemOutAfterARestart(LeavesHeartbeatsOut):
    """Until some session has brought an answer."""

    def is_left_out(self, peer: str) -> bool:
        return self.starts > 1 and not self.is_heard(peer)


PACED = ("heartbeats_paced",)
DEFECTS = (
    Defect(
        "asks-no-more-where-nobody-answers",
        "Once a primary server could not be reached, no heartbeat is opened until it answers.",
        "SM-2", "one-way-heartbeat", PACED, lambda: behind(LeavesHeartbeatsOut),
    ),
    Defect(
        "asks-half-as-often-where-nobody-answers",
        "Once a primary server could not be reached, every second heartbeat is left out.",
        "SM-2", "one-way-heartbeat", PACED, lambda: behind(LeavesEverySecondOut),
        only_simulated="a minute of lab time is a second there, and a timer may be two late",
    ),
    Defect(
        "asks-nobody-after-a-restart",
        "After its first restart a server opens no heartbeat before another session has brought "
        "an answer.",
        "SM-2", "outbound-mail-delayed", PACED, lambda: behind(LeavesThemOutAfterARestart),
    ),
)  # fmt: skip
