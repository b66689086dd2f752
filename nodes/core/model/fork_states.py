"""States of one fork of a message in this server's hands, and the one table of what may follow
what.

QUEUED waits in the queue of its next hop. SENDING has been handed out, to a session or to a mailbox
database, and comes back exactly once: acknowledged, or not. DONE and EXPIRED are ends; the message
is complete when every fork has one. A next hop may take some recipients and put off others: those
with an end leave the fork, which is put back with the rest.
"""

from __future__ import annotations

from enum import Enum

from nodes.core.model.message import Fork, ForkState
from nodes.core.model.next_hop import NextHop

ENDS = frozenset({ForkState.DONE, ForkState.EXPIRED})


class ForkMove(Enum):
    HAND_OUT = "hand out"
    ACKNOWLEDGED = "acknowledged"
    PUT_BACK = "put back"
    EXPIRE = "expire"
    REFUSED = "refused"


TRANSITIONS: dict[tuple[ForkState, ForkMove], ForkState] = {
    (ForkState.QUEUED, ForkMove.HAND_OUT): ForkState.SENDING,
    (ForkState.QUEUED, ForkMove.EXPIRE): ForkState.EXPIRED,
    (ForkState.SENDING, ForkMove.ACKNOWLEDGED): ForkState.DONE,
    (ForkState.SENDING, ForkMove.PUT_BACK): ForkState.QUEUED,
    (ForkState.SENDING, ForkMove.REFUSED): ForkState.EXPIRED,
}


def after(state: ForkState, move: ForkMove) -> ForkState:
    """The state that `move` leads to; an illegal move is our own mistake."""
    found = TRANSITIONS.get((state, move))
    assert found is not None, f"fork: {move.value} while {state.value}"
    return found


def left_of(forks: tuple[Fork, ...]) -> dict[NextHop, Fork]:
    """By next hop: the fork that has not ended, or any that has. Of those with one next hop all but
    one are parts that have ended.
    """
    left: dict[NextHop, Fork] = {}
    for fork in forks:
        if fork.next_hop not in left or fork.state not in ENDS:
            left[fork.next_hop] = fork
    return left
