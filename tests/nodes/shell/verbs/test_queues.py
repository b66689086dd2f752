"""What is written by the grammar of XQUEUES is read back by it."""

from __future__ import annotations

import pytest

from nodes.core.interface.inputs import QueuesAsked
from nodes.core.interface.replies import QueueShown, QueuesReply
from nodes.shell.verbs.queues import format_reply, parse_request, read_reply
from nodes.shell.verbs.safety_net import format_change
from nodes.shell.verbs.safety_net import parse_request as parse_resubmit

QUEUES = (
    QueueShown("messages", "", 3),
    QueueShown("delivery", "database:DB1", 2, 1_767_600_000_000, "451 4.4.0 not | now \xe4"),
    QueueShown("shadow", "par-mbx1", 1, 1_767_600_120_000),
    QueueShown("shadowed-by", "lyo-mbx1", 2, None, "silent", 180_000),
)
FIGURES = (("HAREDIRECT", "12"), ("SubmissionQueue", "normal"))


@pytest.mark.parametrize("between", [" ", "\n", "\r\n250-"])
def test_a_reply_is_read_back_however_its_lines_are_joined(between: str) -> None:
    lines = format_reply(QueuesReply(QUEUES, FIGURES))
    queues, figures = read_reply(f"250 {between.join(lines)}")
    assert [(q.kind, q.name, q.length, q.next_retry_ms) for q in queues] == [
        (q.kind, q.name, q.length, q.next_retry_ms) for q in QUEUES
    ]
    assert queues[1].last_error == "451 4.4.0 not / now ?"
    assert figures == FIGURES


def test_what_no_server_says_is_refused() -> None:
    with pytest.raises(ValueError, match="no line of XQUEUES"):
        read_reply("250 something | Done")


@pytest.mark.parametrize(("arguments", "is_read"), [("", True), (" ", False), ("all", False)])
def test_it_takes_no_arguments(arguments: str, is_read: bool) -> None:
    assert parse_request("in-1", arguments) == (QueuesAsked("in-1") if is_read else None)


@pytest.mark.parametrize("move", ["enable", "disable", "remove"])
def test_a_change_of_a_request_is_read_back(move: str) -> None:
    _, *words = format_change(move, "o1")
    read = parse_resubmit("in-1", " ".join(words))
    assert read is not None
    assert getattr(read, "request_id", "") == "o1"
