"""What a person reads of queues and resubmit requests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli.queues_view import queue_lines, recorded_lines, request_lines
from lab.program.errors import ScenarioError

AT_MS = 1_767_600_304_839
QUEUES = f"""250-queue messages - 12 - - |
250-queue delivery database:DB1 12 {AT_MS} - refused [red]by[/red] the peer |
250-queue shadowed-by lyo-mbx1 9 - 190400 silent |
250-figure HAREDIRECT 150 |
250 Done 3"""
REQUESTS = f"""250-o1 primary DB2 {AT_MS} {AT_MS + 60_000} {AT_MS} admin running 5 - -
250 Done 1"""


def test_columns_are_as_wide_as_what_is_in_them_and_nothing_is_cut_or_read_as_markup() -> None:
    assert queue_lines({"par-mbx1": QUEUES, "b": "is not running"}) == [
        "server    queue        name          length  next retry      asked      last error",
        "par-mbx1  messages                       12",
        "par-mbx1  delivery     database:DB1      12  01-05 08:05:04             refused "
        "[red]by[/red] the peer",
        "par-mbx1  shadowed-by  lyo-mbx1           9                  3m10s ago  silent",
        "par-mbx1  figure       HAREDIRECT       150",
        "b                                                                       is not running",
    ]


@pytest.mark.parametrize("said", ["", "550 5.7.1 no", "250 queue x |", "250 | |", "250 figure a |"])
def test_what_is_no_answer_is_shown_as_it_was_said(said: str) -> None:
    (_, line) = queue_lines({"a": said})
    assert line.split(maxsplit=1) == ["a", *([said] if said else [])]


def test_control_characters_of_a_server_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in "".join(queue_lines({"a": "\x1b[31m"}))


def test_requests_are_listed_with_their_interval() -> None:
    header, line = request_lines({"a": REQUESTS})
    assert header.split()[:2] == ["server", "request"]
    assert line.split() == [
        "a", "o1", "primary", "DB2", "01-05", "08:05:04", "01-05", "08:06:04", "running", "5",
    ]  # fmt: skip


def test_of_a_run_that_is_over_what_was_left_is_counted(tmp_path: Path) -> None:
    rows = [{"queue": "shadow", "primary": "b"}, {"queue": "shadow", "primary": "b"}]
    (tmp_path / "logs" / "a").mkdir(parents=True)
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / "logs" / "a" / "queues.jsonl").write_text(text)
    assert recorded_lines(tmp_path, None)[1].split() == ["a", "shadow", "b", "2"]
    with pytest.raises(ScenarioError, match="has no queues of c"):
        recorded_lines(tmp_path, "c")
