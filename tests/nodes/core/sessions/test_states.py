"""The tables of legality: every state with every move (design decision 4)."""

from __future__ import annotations

from enum import Enum
from itertools import product
from typing import Any

import pytest

from nodes.core.engine.work import Work
from nodes.core.model import fork_states
from nodes.core.model.fork_states import ForkMove
from nodes.core.model.message import ForkState
from nodes.core.sessions import inbound_states
from nodes.core.sessions import outbound_states as session_states
from nodes.core.sessions.inbound_session import InboundSession
from nodes.core.sessions.inbound_states import InboundMove, InboundState
from nodes.core.sessions.outbound_states import SessionMove, SessionState
from tests.nodes.core.world import config


@pytest.mark.parametrize(("state", "move"), list(product(SessionState, SessionMove)))
def test_an_outbound_session_moves_as_its_table_says_or_not_at_all(
    state: SessionState, move: SessionMove
) -> None:
    _moves_or_asserts(session_states.TRANSITIONS, session_states.after, state, move)


@pytest.mark.parametrize(("state", "move"), list(product(ForkState, ForkMove)))
def test_a_fork_moves_as_its_table_says_or_not_at_all(state: ForkState, move: ForkMove) -> None:
    _moves_or_asserts(fork_states.TRANSITIONS, fork_states.after, state, move)


@pytest.mark.parametrize(("state", "move"), list(product(InboundState, InboundMove)))
def test_an_inbound_session_refuses_what_is_not_in_its_table(
    state: InboundState, move: InboundMove
) -> None:
    session = InboundSession("in-1", "192.0.2.1", config("par1").server, Work(lambda event: None))
    session.state = state
    legal = (state, move) in inbound_states.TRANSITIONS
    assert session.may(move) is legal
    assert session.state is (inbound_states.TRANSITIONS[(state, move)] if legal else state)


def test_the_ends_of_a_fork_lead_nowhere() -> None:
    left = {state for state, _ in fork_states.TRANSITIONS}
    assert left == {ForkState.QUEUED, ForkState.SENDING}


def test_a_closed_session_leads_nowhere() -> None:
    assert SessionState.CLOSED not in {state for state, _ in session_states.TRANSITIONS}


def _moves_or_asserts(table: dict[Any, Any], after: Any, state: Enum, move: Enum) -> None:
    if (state, move) in table:
        assert after(state, move) is table[(state, move)]
    else:
        with pytest.raises(AssertionError):
            after(state, move)
