"""States of an outbound session, and the one table of what may follow what.

An outbound session is OPENING until its banner, EHLO and TLS are done, then IDLE between uses.
TRANSMITTING, ASKING and REQUESTING (XRESUBMIT, what Active Manager says, and what a front end
passes on) each await one final answer. Whatever happens after CLOSED comes
from a host that had not heard of it yet and is ignored.
"""

from __future__ import annotations

from enum import Enum


class SessionState(Enum):
    OPENING = "opening"
    IDLE = "idle"
    TRANSMITTING = "transmitting"
    ASKING = "asking"
    REQUESTING = "requesting"
    CLOSED = "closed"


class SessionMove(Enum):
    OPENED = "opened"
    TRANSMIT = "transmit"
    ASK = "ask"
    REQUEST = "request"
    ANSWERED = "answered"
    CLOSE = "close"


TRANSITIONS: dict[tuple[SessionState, SessionMove], SessionState] = {
    (SessionState.OPENING, SessionMove.OPENED): SessionState.IDLE,
    (SessionState.IDLE, SessionMove.TRANSMIT): SessionState.TRANSMITTING,
    (SessionState.IDLE, SessionMove.ASK): SessionState.ASKING,
    (SessionState.IDLE, SessionMove.REQUEST): SessionState.REQUESTING,
    (SessionState.TRANSMITTING, SessionMove.ANSWERED): SessionState.IDLE,
    (SessionState.ASKING, SessionMove.ANSWERED): SessionState.IDLE,
    (SessionState.REQUESTING, SessionMove.ANSWERED): SessionState.IDLE,
    (SessionState.OPENING, SessionMove.CLOSE): SessionState.CLOSED,
    (SessionState.IDLE, SessionMove.CLOSE): SessionState.CLOSED,
    (SessionState.TRANSMITTING, SessionMove.CLOSE): SessionState.CLOSED,
    (SessionState.ASKING, SessionMove.CLOSE): SessionState.CLOSED,
    (SessionState.REQUESTING, SessionMove.CLOSE): SessionState.CLOSED,
}


def after(state: SessionState, move: SessionMove) -> SessionState:
    """The state that `move` leads to; an illegal move is our own mistake."""
    found = TRANSITIONS.get((state, move))
    assert found is not None, f"outbound session: {move.value} while {state.value}"
    return found
