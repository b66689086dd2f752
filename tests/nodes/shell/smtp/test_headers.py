"""Header fields are read from any bytes, and reading never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.model.message import Header
from nodes.shell.smtp.headers import read_header


def header(text: str) -> Header:
    return read_header(text.replace("\n", "\r\n").encode())


def test_the_three_fields_are_read() -> None:
    message = "Date: Mon, 05 Jan 2026 08:01:00 +0000\nSubject: hello\nMessage-ID: <a@b>\n\nbody\n"
    assert header(message) == Header("<a@b>", 1_767_600_060_000, "hello")


def test_the_body_is_no_header() -> None:
    assert header("Subject: one\n\nMessage-ID: <body@b>\n") == Header("", None, "one")


def test_a_folded_field_is_one_line() -> None:
    assert header("Message-ID:\n <a@b>\nSubject: one\n\ttwo\n\n") == Header(
        "<a@b>", None, "one two"
    )


def test_names_are_the_same_in_any_case_and_the_first_counts() -> None:
    assert header("mEsSage-id: <1@b>\nMessage-ID: <2@b>\n\n").message_id == "<1@b>"


@pytest.mark.parametrize(
    ("date", "submitted_ms"),
    [
        ("Mon, 05 Jan 2026 09:01:00 +0100", 1_767_600_060_000),
        ("Mon, 05 Jan 2026 08:01:00 -0000", 1_767_600_060_000),
        ("yesterday", None),
        ("", None),
        ("Mon, 99 Foo 2026 08:01:00 +0000", None),
        ("Mon, 05 Jan 99999 08:01:00 +0000", None),
        ("Mon, 05 Jan 2026 08:01:00 +0000 (" + "x" * 998 + ")", None),
    ],
)
def test_a_date_is_read_or_none(date: str, submitted_ms: int | None) -> None:
    assert header(f"Date: {date}\n\n").submitted_ms == submitted_ms


def test_bytes_that_are_no_text_become_marks() -> None:
    assert read_header(b"Subject: \xff\xfe\r\n\r\n").subject == "\ufffd\ufffd"


@given(st.binary(max_size=400))
def test_no_bytes_make_reading_fail(content: bytes) -> None:
    found = read_header(b"Date: " + content)
    assert not set("\r\n") & set(found.message_id + found.subject)
