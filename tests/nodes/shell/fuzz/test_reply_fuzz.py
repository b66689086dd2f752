"""Whatever the servers that a node connects to reply: the node lives, believes nothing that it was
not told, and its mail still leaves through the servers that are well.

SHADOWLAB_FUZZ says how many connections are spoilt (`make fuzz`: 10,000).
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from tests.nodes.shell.fuzz.fuzzed_replies import Conversation, Spoilt, conversations
from tests.nodes.shell.fuzz.reply_fuzzed_node import MailNode, ManagerNode
from tests.nodes.shell.organisation import Organisation

AT_ONCE = 20
CONVERSATIONS = int(os.environ.get("SHADOWLAB_FUZZ", "300"))
GIVEN = settings(
    max_examples=max(CONVERSATIONS // AT_ONCE, 1),
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # a node that is hurt cannot be asked again
    suppress_health_check=list(HealthCheck),
)
DRAWN = st.lists(conversations(), min_size=AT_ONCE, max_size=AT_ONCE)
# a peer drops connections as rudely as it can, TLS among them
RUDE = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_what_did_harm_is_shown_and_hides_no_error() -> None:
    """Beyond 30,000 characters Hypothesis raises a warning instead, an error here."""
    longest = Spoilt(14, "instead", b"\x00" * 600_000, 1_000_000, "falls silent")
    assert len(pretty([Conversation((longest,) * 3)] * AT_ONCE)) < 30_000


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@RUDE
def test_no_reply_does_harm_to_a_node(tmp_path: Path, loop: asyncio.Runner) -> None:
    node = MailNode(Organisation(tmp_path, speed=300.0))
    loop.run(node.begin(time.monotonic_ns()))

    @GIVEN
    @given(DRAWN)
    def hold(drawn: list[Conversation]) -> None:
        loop.run(node.bears(drawn))

    try:
        hold()
        loop.run(node.drains())
        node.stop()
    finally:
        loop.run(node.kill())
    node.believed_only_what_it_was_told()


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@RUDE
def test_no_answer_does_harm_to_active_manager(tmp_path: Path, loop: asyncio.Runner) -> None:
    node = ManagerNode(Organisation(tmp_path, speed=600.0, managers=("am1",)))
    loop.run(node.begin(time.monotonic_ns()))

    @settings(GIVEN, max_examples=max(CONVERSATIONS // 5 // AT_ONCE, 1))
    @given(DRAWN)
    def hold(drawn: list[Conversation]) -> None:
        loop.run(node.bears(drawn))

    try:
        hold()
        node.stop()
    finally:
        loop.run(node.kill())
