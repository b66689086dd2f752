"""What is written by the grammars of mailbox databases is read back by them, nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.interface import inputs as on
from nodes.core.interface.copy_commands import (
    AskCopyStatus,
    DismountDatabase,
    MountDatabase,
    NameActiveCopy,
)
from nodes.core.interface.replies import (
    ActiveCopyReply,
    CopyStatusReply,
    DismountReply,
    FailoverReply,
    MountReply,
)
from nodes.core.model.database_copy import CopyState, CopyStatus
from nodes.shell.verbs import database as database_verbs

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)
NUMBERS = st.integers(0, 10**18 - 1)
STATES = st.sampled_from([state for state in CopyState if state is not CopyState.SINGLE])


def arguments(words: tuple[str, ...]) -> str:
    return " ".join(words[1:])


@given(WORDS, WORDS, NUMBERS, NUMBERS)
def test_a_command_is_read_back(database: str, server: str, epoch: int, before_ms: int) -> None:
    words = database_verbs.format_command(AskCopyStatus(database))
    asked = database_verbs.parse_status_request("in-1", arguments(words))
    assert asked == on.CopyStatusAsked("in-1", database)
    words = database_verbs.format_command(MountDatabase(database, epoch))
    assert database_verbs.parse_mount("in-1", arguments(words)) == on.MountAsked(
        "in-1", database, epoch
    )
    words = database_verbs.format_command(MountDatabase(database, epoch, before_ms))
    assert database_verbs.parse_mount("in-1", arguments(words)) == on.MountAsked(
        "in-1", database, epoch, before_ms
    )
    words = database_verbs.format_command(DismountDatabase(database, epoch))
    assert database_verbs.parse_dismount("in-1", arguments(words)) == on.DismountAsked(
        "in-1", database, epoch
    )
    words = database_verbs.format_command(NameActiveCopy(database, server, epoch))
    assert database_verbs.parse_active_copy("in-1", arguments(words)) == on.ActiveCopyNamed(
        "in-1", database, server, epoch
    )


@given(st.builds(CopyStatus, STATES, NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_a_status_of_the_core_is_read_back(status: CopyStatus) -> None:
    text = database_verbs.format_reply(CopyStatusReply(status))
    answer = database_verbs.parse_answer("out-1", AskCopyStatus("DB1"), text)
    assert answer == on.CopyStatusAnswered("out-1", status)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_other_answers_of_the_core_are_read_back(at_ms: int, last: int, last_ms: int) -> None:
    text = database_verbs.format_reply(MountReply(at_ms, last, last_ms, 3))
    mounted = database_verbs.parse_answer("out-1", MountDatabase("DB1", 1), text)
    assert mounted == on.MountAnswered("out-1", at_ms, last, last_ms, 3)
    text = database_verbs.format_reply(DismountReply(last, last_ms))
    dismounted = database_verbs.parse_answer("out-1", DismountDatabase("DB1", 1), text)
    assert dismounted == on.DismountAnswered("out-1", last, last_ms)
    text = database_verbs.format_reply(ActiveCopyReply(at_ms))
    named = database_verbs.parse_answer("out-1", NameActiveCopy("DB1", "a", 1), text)
    assert named == on.ActiveCopyAnswered("out-1", at_ms)


def test_a_decision_names_its_epoch_and_the_server() -> None:
    assert database_verbs.format_reply(FailoverReply(3, "lyo1")) == "2.0.0 3 lyo1"


@pytest.mark.parametrize("text", ["", "2.0.0", "2.0.0 single 1 2 3 4", "2.0.0 active 1 2 3 x"])
def test_another_answer_is_none(text: str) -> None:
    assert database_verbs.parse_answer("out-1", AskCopyStatus("DB1"), text) is None
    assert database_verbs.parse_answer("out-1", MountDatabase("DB1", 1), text) is None


def test_what_is_asked_of_active_manager_may_leave_the_server_to_it() -> None:
    assert database_verbs.parse_failover("in-1", "DB1") == on.FailoverRequested("in-1", "DB1", None)
    assert database_verbs.parse_failover("in-1", "DB1 lyo1") == on.FailoverRequested(
        "in-1", "DB1", "lyo1"
    )
    assert database_verbs.parse_switchover("in-1", "DB1 lyo1") == on.SwitchoverRequested(
        "in-1", "DB1", "lyo1"
    )
    assert database_verbs.parse_switchover("in-1", "DB1") is None
    parse_lagged = database_verbs.parse_lagged_activation
    assert parse_lagged("in-1", "DB1 lyo1") == on.LaggedCopyRequested("in-1", "DB1", "lyo1", None)
    assert parse_lagged("in-1", "DB1 lyo1 7") == on.LaggedCopyRequested("in-1", "DB1", "lyo1", 7)
    assert parse_lagged("in-1", "DB1") is None
    assert parse_lagged("in-1", "DB1 lyo1 now") is None
    assert database_verbs.parse_mount("in-1", "DB1 1 now") is None
    corruption = on.CorruptionRequested("in-1", "DB1")
    assert database_verbs.parse_corruption("in-1", "DB1") == corruption
    assert database_verbs.parse_corruption("in-1", "DB1 1") is None
    assert database_verbs.parse_failover("in-1", "DB1 lyo1 now") is None
