"""What is written by the grammar of logs is read back by it, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.interface import inputs as on
from nodes.core.interface.effects import ShipLog, ShipSeed
from nodes.core.interface.replies import (
    ActiveUnder,
    LogExpected,
    LogReplayed,
    LogReply,
    Seeded,
)
from nodes.core.model.database_copy import ReplicationLog
from nodes.shell.verbs import replication as replication_verbs

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40)
NUMBERS = st.integers(0, 10**18 - 1)
SHA256 = st.binary(min_size=32, max_size=32).map(bytes.hex)
LOGS = st.builds(ReplicationLog, WORDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, SHA256)


REPLIES: st.SearchStrategy[LogReply] = st.one_of(
    st.builds(LogReplayed, NUMBERS),
    st.builds(Seeded, NUMBERS),
    st.builds(LogExpected, NUMBERS, NUMBERS),
    st.builds(ActiveUnder, NUMBERS),
)


def arguments(words: tuple[str, ...]) -> str:
    return " ".join(words[1:])


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


@given(REPLIES)
def test_a_reply_of_the_core_is_read_back(reply: LogReply) -> None:
    text = replication_verbs.format_reply(reply)
    assert replication_verbs.parse_reply(reply.code, text) == reply


def test_the_words_of_a_reply_are_these() -> None:
    assert replication_verbs.format_reply(LogReplayed(7)) == "2.6.0 replayed 7"
    assert replication_verbs.format_reply(LogExpected(7, 2)) == "5.5.1 expects 7 after 2"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (250, "2.6.0 Queued mail for delivery"),
        (250, "2.6.0 replayed"),
        (250, "2.6.0 replayed -1"),
        (250, "2.6.0 replayed 7 "),
        (250, "2.6.0 replayed " + "9" * 19),
        (250, "2.6.0 replayed \u0662"),
        (451, "2.6.0 replayed 7"),
        (250, "5.5.1 expects 7 after 2"),
        (503, "5.5.1 expects 7"),
    ],
)
def test_another_reply_is_none(code: int, text: str) -> None:
    assert replication_verbs.parse_reply(code, text) is None
    answer = on.TransmissionAnswered("out-1", code, text)
    assert replication_verbs.understood(answer).log_reply is None


def test_an_answer_is_understood_by_its_text() -> None:
    answer = on.TransmissionAnswered("out-1", 503, "5.5.1 expects 7 after 2")
    assert replication_verbs.understood(answer).log_reply == LogExpected(7, 2)
