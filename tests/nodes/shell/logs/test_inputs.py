"""Every input can be written down as plain JSON and is the same when it is read again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core.interface.inputs import (
    DatabaseOpened,
    Input,
    RecipientOffered,
    TransmissionAnswered,
)
from nodes.core.interface.replies import LogReplayed
from nodes.core.model.message import ForkState
from nodes.shell.logs.inputs import INPUTS, from_json, to_text
from nodes.shell.verbs.replication import understood

TEXTS = st.text(max_size=20)


def any_input() -> st.SearchStrategy[Input]:
    st.register_type_strategy(str, TEXTS)
    st.register_type_strategy(ForkState, st.sampled_from(ForkState))
    return st.sampled_from(sorted(INPUTS)).flatmap(lambda name: st.from_type(INPUTS[name]))


@settings(max_examples=200)
@given(any_input())
def test_an_input_is_the_same_when_read_again(happened: Input) -> None:
    line = to_text(happened, now_ms=5, mono_ns=7)
    assert "\n" not in line
    assert from_json(json.loads(line)) == happened


def test_a_line_begins_with_its_time_and_names_its_input() -> None:
    line = to_text(RecipientOffered("in-1", "a@b"), now_ms=5)
    assert line == (
        '{"now_ms":5,"input":"RecipientOffered","session":"in-1","address":"a@b","taken":0}'
    )


def test_what_an_answer_says_of_a_log_is_not_written_down_and_is_read_out_of_its_text() -> None:
    answer = understood(TransmissionAnswered("out-1", 250, "2.6.0 replayed 7"))
    line = to_text(answer)
    assert line == (
        '{"input":"TransmissionAnswered","session":"out-1","code":250,'
        '"text":"2.6.0 replayed 7","refused":[]}'
    )
    again = from_json(json.loads(line))
    assert isinstance(again, TransmissionAnswered)
    assert again.log_reply == LogReplayed(7)


def test_every_input_of_the_core_is_known() -> None:
    assert DatabaseOpened.__name__ in INPUTS
    assert len(INPUTS) == 69


def test_a_line_that_no_node_wrote_is_refused() -> None:
    with pytest.raises(KeyError):
        from_json({"input": "SomethingElse"})
    with pytest.raises(KeyError):
        from_json({"input": "RecipientOffered", "session": "in-1"})


ODD = [
    {"input": "RecipientOffered", "session": 1, "address": "a@b"},
    {"input": "Committed", "commit": True},
    {"input": "Committed", "commit": 1.5},
    {
        "input": "MailboxesDelivered",
        "delivery": 1,
        "delivered": "ab",
        "duplicates": [],
        "log": None,
    },
    {"input": "TransmissionAnswered", "session": "o", "code": 250, "text": None, "refused": []},
]


@pytest.mark.parametrize("document", ODD)
def test_values_of_other_types_are_refused(document: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_json(document)
