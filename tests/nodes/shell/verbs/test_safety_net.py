"""What is written by the grammar of XRESUBMIT is read back by it, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.interface.inputs import (
    ResubmitAnswered,
    ResubmitChangeAsked,
    ResubmitListAsked,
    ResubmitRequested,
)
from nodes.core.interface.replies import ResubmitListReply, ResubmitReply
from nodes.core.model.resubmit_request import (
    Position,
    ResubmitDemand,
    ResubmitRequest,
    ResubmitState,
    SafetyNetSource,
)
from nodes.core.model.resubmit_states import ResubmitMove
from nodes.shell.verbs import safety_net as safety_net_verbs

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)
NUMBERS = st.integers(0, 10**18 - 1)
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,15}", fullmatch=True)
DEMANDS = st.builds(
    ResubmitDemand,
    WORDS,
    st.sampled_from(SafetyNetSource),
    WORDS,
    NUMBERS,
    NUMBERS,
    st.lists(NAMES, max_size=16).map(tuple),
)


@given(DEMANDS)
def test_a_demand_is_read_back(demand: ResubmitDemand) -> None:
    words = safety_net_verbs.format_demand(demand)
    assert words[0] == safety_net_verbs.VERB
    asked = safety_net_verbs.parse_request("in-1", " ".join(words[1:]))
    assert asked == ResubmitRequested("in-1", demand)


@given(st.sampled_from(ResubmitState), NUMBERS)
def test_an_answer_of_the_core_is_read_back(state: ResubmitState, resubmitted: int) -> None:
    text = safety_net_verbs.format_reply(ResubmitReply(state, resubmitted))
    answer = safety_net_verbs.parse_answer("out-1", text)
    assert answer == ResubmitAnswered("out-1", state, resubmitted)


def test_a_list_has_a_request_a_line_and_says_how_many() -> None:
    demand = ResubmitDemand("am:1", SafetyNetSource.PRIMARY, "DB1", 1, 9, ())
    whole = ResubmitRequest(demand, "par-mbx1", 5, Position(0, 0, 0), ResubmitState.RUNNING, 2)
    headless = replace(whole, head_end_ms=7, untold=("a", "b"))
    assert safety_net_verbs.format_list(ResubmitListReply((whole, headless))) == (
        "am:1 primary DB1 1 9 5 par-mbx1 running 2 - -",
        "am:1 primary DB1 1 9 5 par-mbx1 running 2 7 a,b",
        "Done 2",
    )


@pytest.mark.parametrize(
    ("word", "move"),
    [("ENABLE", ResubmitMove.ENABLE), ("DISABLE", ResubmitMove.DISABLE), ("REMOVE", None)],
)
def test_a_change_names_its_request(word: str, move: ResubmitMove | None) -> None:
    asked = safety_net_verbs.parse_request("in-1", f"{word} am:1")
    assert asked == ResubmitChangeAsked("in-1", "am:1", move)


def test_a_list_is_asked_for() -> None:
    assert safety_net_verbs.parse_request("in-1", "LIST") == ResubmitListAsked("in-1")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "LIST ",
        "list",
        "ENABLE",
        "REMOVE a b",
        "FINISH am:1",
        "ADD am:1 primary DB1 1 2",
        "ADD am:1 primary DB1 1 2 - -",
        "ADD am:1 both DB1 1 2 -",
        "ADD am:1 primary DB1 -1 2 -",
        "ADD am:1 primary DB1 1 2.0 -",
        "ADD am:1 shadow DB1 1 2 a,,b",
        "ADD am:1 shadow DB1 1 2 ",
        "ADD  primary DB1 1 2 -",
        "ADD am:1 primary DB1 1 \u0662 -",
    ],
)
def test_what_is_not_of_the_grammar_is_no_request(arguments: str) -> None:
    assert safety_net_verbs.parse_request("in-1", arguments) is None


@pytest.mark.parametrize(
    "text", ["", "2.0.0 running", "2.0.0 paused 1", "2.0.0 running x", "2.1.0 running 1"]
)
def test_what_is_not_of_the_grammar_is_no_answer(text: str) -> None:
    assert safety_net_verbs.parse_answer("out-1", text) is None
