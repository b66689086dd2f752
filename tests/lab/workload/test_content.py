"""What the workload says has what transport is known to change."""

from __future__ import annotations

import re

import pytest

from lab.workload.content import LONGEST, OCTETS, content_of
from nodes.shell.smtp.headers import read_header
from nodes.shell.smtp.line_ends import can_be_sent
from nodes.store.message_digest import digest_of

IDS = [f"<m{number:06}.test.1@outside.example>" for number in range(1, 60)]
NOBODY = digest_of(b"a: b\r\n\r\n").body_sha256


def said(message_id: str, size: int, recipients: int = 1) -> bytes:
    date = "Mon, 05 Jan 2026 08:00:00 +0000"
    to = [f"db1-user{n:02}@shadowlab.example" for n in range(recipients)]
    return content_of(message_id, "a@outside.example", to, date, size)


@pytest.mark.parametrize("size", [0, 300, 4096])
def test_no_two_messages_have_one_body_but_for_those_that_have_none(size: int) -> None:
    bodies = [digest_of(said(message_id, size)).body_sha256 for message_id in IDS]
    some = [body for body in bodies if body != NOBODY]
    assert len(set(some)) == len(some)
    assert len(some) > len(IDS) / 2


@pytest.mark.parametrize("size", [0, *range(1000, 1010), *range(1500, 1800), 4096, 70_000])
def test_a_message_has_the_size_that_was_asked_for(size: int) -> None:
    for message_id in IDS[: 59 if size > 4000 or not size else 9]:
        assert len(said(message_id, size)) == size or size == 0


@pytest.mark.parametrize("size", [0, 2000, 50_000])
def test_a_message_is_lines_that_smtp_can_carry(size: int) -> None:
    for message_id in IDS:
        content = said(message_id, size, 150)
        assert can_be_sent(content)
        assert max(map(len, re.split(rb"\r\n", content))) <= 998
        assert read_header(content).message_id == message_id


def test_a_workload_has_a_message_of_each_kind() -> None:
    contents = [said(message_id, 4096) for message_id in IDS]
    assert any(LONGEST in each for each in contents)
    assert any(OCTETS in each for each in contents)
    assert any(each.endswith(b"\r\n\r\n\r\n") for each in contents)
    assert any(each.partition(b"\r\n\r\n")[2] == b"" for each in contents)
    assert len({len(each) for each in contents}) == 1
