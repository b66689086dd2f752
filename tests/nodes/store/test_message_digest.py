"""A message has one digest wherever it is read, and another as soon as transport changed it."""

from __future__ import annotations

import tracemalloc
from hashlib import sha256

import pytest

from nodes.store.message_digest import digest_of

HEADER = b"From: <a@x.example>\r\nTo: <b@y.example>,\r\n <c@y.example>\r\nX-Mailer: one"
BODY = b"a line\r\n.\r\nanother\r\n"
SENT = HEADER + b"\r\n\r\n" + BODY


def test_names_size_header_and_body() -> None:
    assert digest_of(SENT).columns() == {
        "content_bytes": len(SENT),
        "header_sha256": sha256(HEADER).hexdigest()[:16],
        "body_sha256": sha256(BODY).hexdigest()[:16],
    }


@pytest.mark.parametrize(
    "trace",
    [
        b"Received: from a by b;\r\n\tMon, 05 Jan 2026 08:00:00 +0000\r\n",
        b"Return-Path: <a@x.example>\r\nRECEIVED: from b by c\r\nReceived: from a by b\r\n",
        b"X-MS-Exchange-Organization-AuthAs: Anonymous\r\nreceived : from a by b\r\n",
    ],
)
def test_trace_fields_in_front_do_not_count(trace: bytes) -> None:
    assert digest_of(trace + SENT) == digest_of(SENT)


@pytest.mark.parametrize(
    "arrived",
    [
        SENT[:-3] + b"R\r\n",
        SENT[:-2],
        SENT + b"\r\n",
        SENT.replace(b"\r\n.\r\n", b"\r\n..\r\n"),
        SENT.replace(b"\r\n", b"\n"),
        SENT.replace(b"X-Mailer: one", b"X-Mailer: two"),
        SENT.replace(b"X-Mailer: one", b"X-Mailer: one\r\nX-Added: behind"),
        SENT.replace(b"To:", b"to:"),
        SENT.replace(b",\r\n <c", b", <c"),
        SENT.replace(b"From", b"Received: from a by b\r\nFrom", 1).replace(
            b"Received", b"Recieved"
        ),
        HEADER + b"\r\n\r\n",
        HEADER,
        BODY,
        b"",
    ],
)
def test_whatever_else_was_changed_is_seen(arrived: bytes) -> None:
    assert digest_of(arrived) != digest_of(SENT)


def test_a_header_without_an_end_is_no_body() -> None:
    ended, endless = digest_of(HEADER + b"\r\n\r\n"), digest_of(HEADER)
    assert ended.body_sha256 == endless.body_sha256 == sha256(b"").hexdigest()[:16]
    assert ended != endless


@pytest.mark.parametrize(
    "content", [b"X" * 500_000, b"Received: a\r\n " * 40_000, b"X-a:\r\n" * 90_000]
)
def test_no_content_takes_long(content: bytes) -> None:
    assert digest_of(content).content_bytes <= len(content)


@pytest.mark.parametrize(
    "trace", [b"X-:\r\n", b"Received: a\r\n b\r\n", b"X-a:\r\n" + b" \r\n" * 9]
)
def test_trace_fields_cost_no_more_than_they_are_long(trace: bytes) -> None:
    content = trace * (1_000_000 // len(trace)) + SENT
    tracemalloc.start()
    try:
        assert digest_of(content) == digest_of(SENT)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 2 * len(content)
