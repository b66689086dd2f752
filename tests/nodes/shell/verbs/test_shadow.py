"""What is written by the grammar is read back by it, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.interface.effects import AskDiscard, DeliverTo, ForkOf, ShadowRequest
from nodes.core.interface.inputs import (
    DeliveryRequested,
    DiscardAnswered,
    DiscardAsked,
    ForkAnnounced,
    ShadowRequested,
)
from nodes.core.interface.replies import DiscardReply
from nodes.shell.verbs import shadow as shadow_verbs

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)
NUMBERS = st.integers(0, 10**18 - 1)


def arguments(words: tuple[str, ...]) -> str:
    return " ".join(words[1:])


@given(WORDS, WORDS, NUMBERS, WORDS, st.none() | WORDS)
def test_a_shadow_request_is_read_back(
    primary: str, database_id: str, internal_id: int, network_id: str, resubmit: str | None
) -> None:
    words = shadow_verbs.format_prologue(
        ShadowRequest(primary, database_id, internal_id, network_id, resubmit)
    )
    assert words[0] == "XSHADOWREQUEST"
    asked = shadow_verbs.parse_shadow_request("in-1", arguments(words))
    assert asked == ShadowRequested("in-1", primary, database_id, internal_id, network_id, resubmit)


@given(WORDS, WORDS)
def test_a_delivery_is_read_back(database: str, network_id: str) -> None:
    words = shadow_verbs.format_prologue(DeliverTo(database, network_id))
    asked = shadow_verbs.parse_delivery_request("in-1", arguments(words))
    assert (words[0], asked) == ("XDELIVER", DeliveryRequested("in-1", database, network_id))


@given(WORDS)
def test_a_network_message_id_is_read_back(network_id: str) -> None:
    words = shadow_verbs.format_prologue(ForkOf(network_id))
    announced = shadow_verbs.parse_fork("in-1", arguments(words))
    assert (words[0], announced) == ("XNETWORKMESSAGEID", ForkAnnounced("in-1", network_id))


@given(WORDS, WORDS.filter(lambda word: word != "-") | st.just(""), NUMBERS)
def test_a_question_is_read_back(asking: str, known: str, confirmed: int) -> None:
    words = shadow_verbs.format_question(asking, AskDiscard("out-1", known, confirmed))
    asked = shadow_verbs.parse_question("in-1", arguments(words))
    assert (words[0], asked) == ("XQDISCARD", DiscardAsked("in-1", asking, known, confirmed))


@given(WORDS, st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)), st.booleans())
def test_an_answer_of_the_core_is_read_back(
    database_id: str, notifications: list[tuple[int, int, int, int]], more: bool
) -> None:
    listed = tuple(notifications)
    lines = shadow_verbs.format_reply(DiscardReply(database_id, listed, more))
    answer = shadow_verbs.parse_answer("out-1", list(lines))
    assert answer == DiscardAnswered("out-1", database_id, listed, more)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a b c",
        "a b 1",
        "a b 1 d e f",
        "a  1 d",
        "a b -1 d",
        "a b x d",
        "a b 1 dé",
        "a b ١ d",
    ],
)
def test_bad_arguments_are_no_shadow_request(text: str) -> None:
    assert shadow_verbs.parse_shadow_request("in-1", text) is None


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["DatabaseId=x"],
        ["DatabaseId=", "Done 0"],
        ["Database=x", "Done 0"],
        ["DatabaseId=x", "Done 1"],
        ["DatabaseId=x", "1 2 3", "Done 1"],
        ["DatabaseId=x", "1 2 3 4", "Done"],
        ["DatabaseId=x", "1 2 3 four", "Done 1"],
        ["DatabaseId=x", "1 2 3 4", "Perhaps 1"],
        ["DatabaseId=x", "1 2 3 4", "5 6 7 8", "Done 1"],
    ],
)
def test_an_answer_out_of_the_grammar_is_none(lines: list[str]) -> None:
    assert shadow_verbs.parse_answer("out-1", lines) is None
