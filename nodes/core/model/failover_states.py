"""States of a failover, and the one table of what may follow what.

DECIDED is durable before anything is said to a server. MOUNTED: the new copy has answered; who is
to be informed and asked is written down with it. OVER: everybody was informed and every Safety Net
asked has answered or has nothing left. GIVEN_UP: the target did not mount in time; if it is found
active under that epoch after all, the failover is decided again.
"""

from __future__ import annotations

from enum import Enum

from nodes.core.model.failover import FailoverState


class FailoverMove(Enum):
    MOUNT = "mount"
    GIVE_UP = "give up"
    TAKE_UP = "take up"
    FINISH = "finish"


TRANSITIONS: dict[tuple[FailoverState, FailoverMove], FailoverState] = {
    (FailoverState.DECIDED, FailoverMove.MOUNT): FailoverState.MOUNTED,
    (FailoverState.DECIDED, FailoverMove.GIVE_UP): FailoverState.GIVEN_UP,
    (FailoverState.GIVEN_UP, FailoverMove.TAKE_UP): FailoverState.DECIDED,
    (FailoverState.MOUNTED, FailoverMove.FINISH): FailoverState.OVER,
}


def after(state: FailoverState, move: FailoverMove) -> FailoverState:
    """The state that `move` leads to; an illegal move is our own mistake."""
    assert (state, move) in TRANSITIONS, f"a failover that is {state.value} cannot {move.value}"
    return TRANSITIONS[(state, move)]
