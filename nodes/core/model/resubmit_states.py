"""States of a resubmit request, and the one table of what may follow what.

RUNNING reads the Safety Net page by page, or waits for the end of its interval. DISABLED does
nothing until it is enabled again, and then goes on where it stood. COMPLETED is an end: every copy
of the interval has been resubmitted once. A request can be removed in every state. A move that is
not in the table is the asker's mistake and is answered `503 5.5.1`.
"""

from __future__ import annotations

from enum import Enum

from nodes.core.model.resubmit_request import ResubmitState


class ResubmitMove(Enum):
    ENABLE = "enable"
    DISABLE = "disable"
    FINISH = "finish"


TRANSITIONS: dict[tuple[ResubmitState, ResubmitMove], ResubmitState] = {
    (ResubmitState.RUNNING, ResubmitMove.DISABLE): ResubmitState.DISABLED,
    (ResubmitState.RUNNING, ResubmitMove.FINISH): ResubmitState.COMPLETED,
    (ResubmitState.DISABLED, ResubmitMove.ENABLE): ResubmitState.RUNNING,
}
