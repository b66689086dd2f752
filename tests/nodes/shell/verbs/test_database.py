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
from nodes.core.interface.effects import ShipLog, ShipSeed
from nodes.core.interface.replies import (
    r250_active_copy,
    r250_copy_status,
    r250_dismounted,
    r250_mounted,
)
from nodes.core.model.database_copy import CopyStanding, CopyState, CopyStatus, ReplicationLog
from nodes.core.model.message import ActiveCopy
from nodes.shell.verbs import database as database_verbs
from nodes.shell.verbs import replication as replication_verbs

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)
NUMBERS = st.integers(0, 10**18 - 1)
STATES = st.sampled_from([state for state in CopyState if state is not CopyState.SINGLE])
SHA256 = st.binary(min_size=32, max_size=32).map(bytes.hex)
LOGS = st.builds(ReplicationLog, WORDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, SHA256)


def arguments(words: tuple[str, ...]) -> str:
    return " ".join(words[1:])


@given(WORDS, WORDS, NUMBERS)
def test_a_command_is_read_back(database: str, server: str, epoch: int) -> None:
    words = database_verbs.format_command(AskCopyStatus(database))
    asked = database_verbs.parse_status_request("in-1", arguments(words))
    assert asked == on.CopyStatusAsked("in-1", database)
    words = database_verbs.format_command(MountDatabase(database, epoch))
    assert database_verbs.parse_mount("in-1", arguments(words)) == on.MountAsked(
        "in-1", database, epoch
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
    (text,) = r250_copy_status(status).lines
    answer = database_verbs.parse_answer("out-1", AskCopyStatus("DB1"), text)
    assert answer == on.CopyStatusAnswered("out-1", status)


@given(st.lists(NUMBERS, min_size=5, max_size=5))
def test_other_answers_of_the_core_are_read_back(numbers: list[int]) -> None:
    last, last_ms, mounted_ms, after, after_ms = numbers
    standing = CopyStanding(
        "DB1", CopyState.ACTIVE, 1, 0, last, 1, last_ms, 0, 0, mounted_ms, after, after_ms, ()
    )
    (text,) = r250_mounted(standing).lines
    mounted = database_verbs.parse_answer("out-1", MountDatabase("DB1", 1), text)
    assert mounted == on.MountAnswered("out-1", mounted_ms, after, after_ms)
    (text,) = r250_dismounted(standing).lines
    dismounted = database_verbs.parse_answer("out-1", DismountDatabase("DB1", 1), text)
    assert dismounted == on.DismountAnswered("out-1", last, last_ms)
    (text,) = r250_active_copy(ActiveCopy("DB1", "a", 1, last)).lines
    named = database_verbs.parse_answer("out-1", NameActiveCopy("DB1", "a", 1), text)
    assert named == on.ActiveCopyAnswered("out-1", last)


@pytest.mark.parametrize("text", ["", "2.0.0", "2.0.0 single 1 2 3 4", "2.0.0 active 1 2 3 x"])
def test_another_answer_is_none(text: str) -> None:
    assert database_verbs.parse_answer("out-1", AskCopyStatus("DB1"), text) is None
    assert database_verbs.parse_answer("out-1", MountDatabase("DB1", 1), text) is None


@given(NUMBERS, LOGS)
def test_the_announcement_of_a_log_and_of_a_seed_are_read_back(
    epoch: int, log: ReplicationLog
) -> None:
    words = replication_verbs.format_prologue(ShipLog(epoch, log))
    assert replication_verbs.parse_log("in-1", arguments(words)) == on.LogAnnounced(
        "in-1", epoch, log
    )
    words = replication_verbs.format_prologue(ShipSeed(epoch, log.database))
    assert replication_verbs.parse_seed("in-1", arguments(words)) == on.SeedAnnounced(
        "in-1", log.database, epoch
    )


@pytest.mark.parametrize(
    "said",
    ["", "DB1", "DB1 0 1 0 0 5 abc", "DB1 0 1 0 0 -5 " + "0" * 64, "DB1 0 1 0 0 " + "0" * 64],
)
def test_another_announcement_is_none(said: str) -> None:
    assert replication_verbs.parse_log("in-1", said) is None


def test_what_is_asked_of_active_manager_may_leave_the_server_to_it() -> None:
    assert database_verbs.parse_failover("in-1", "DB1") == on.FailoverRequested("in-1", "DB1", None)
    assert database_verbs.parse_failover("in-1", "DB1 lyo1") == on.FailoverRequested(
        "in-1", "DB1", "lyo1"
    )
    assert database_verbs.parse_switchover("in-1", "DB1 lyo1") == on.SwitchoverRequested(
        "in-1", "DB1", "lyo1"
    )
    assert database_verbs.parse_switchover("in-1", "DB1") is None
    assert database_verbs.parse_failover("in-1", "DB1 lyo1 now") is None
