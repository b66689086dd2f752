"""Header fields are read from any bytes, and reading never fails; a key stays as it came."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nodes.core.model.message import Header
from nodes.shell.smtp.headers import hops_of, read_header


def header(text: str) -> Header:
    return read_header(text.replace("\n", "\r\n").encode())


def test_the_three_fields_are_read() -> None:
    message = "Date: Mon, 05 Jan 2026 08:01:00 +0000\nSubject: hello\nMessage-ID: <a@b>\n\nbody\n"
    assert header(message) == Header("<a@b>", 1_767_600_060_000, "hello")


@pytest.mark.parametrize("above", ["Subject: one\n", ""])
def test_the_body_is_no_header(above: str) -> None:
    found = header(f"{above}\nReceived: x\nMessage-ID: <body@b>\n\nDate: today\n")
    assert (found.message_id, found.submitted_ms) == ("", None)


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
        ("Mon, 05 Jan\n 2026 08:01:00\n\t+0000", 1_767_600_060_000),
        ("yesterday", None),
        ("", None),
        ("Mon, 99 Foo 2026 08:01:00 +0000", None),
        ("Mon, 05 Jan 99999 08:01:00 +0000", None),
        ("Mon, 05 Jan 2026 08:01:00 +0000 (" + "x" * 998 + ")", None),
    ],
)
def test_a_date_is_read_or_none(date: str, submitted_ms: int | None) -> None:
    assert header(f"Date: {date}\n\n").date_ms == submitted_ms


def test_of_dates_that_cannot_be_read_each_is_itself() -> None:
    dates = (
        "yesterday",
        "tomorrow",
        "x" * 2000,
        "x" * 2001,
        "tomorrow (\u00e9)",
        "tomorrow (\u00e8)",
    )
    found = [header(f"Date: {date}\n\n").submitted_ms for date in dates]
    assert len({None, *found}) == 1 + len(dates)
    assert found == [header(f"Date:\n {date} \n\n").submitted_ms for date in dates]
    assert all(-(1 << 63) <= at_ms < -(1 << 61) for at_ms in found if at_ms is not None)


@pytest.mark.parametrize(
    "raw",
    [b"<a b@x>", b"<a\x00b@x>", b"<a\xa0b@x>", b"<a\xc2\xa0b@x>", b"<a\rb@x>", b"<a\nb@x>"],
)
def test_a_message_id_is_what_was_received(raw: bytes) -> None:
    shown = read_header(b"Message-ID:  " + raw + b"\t\r\nSubject: one\r\n\r\n").message_id
    assert shown.encode().decode("unicode_escape").encode("latin-1") == raw


@given(st.binary(max_size=20), st.binary(max_size=20))
@example(b"a\xff", b"a\xfe")
@example(b"\\xff", b"\xff")
@example(b"\\", b"\\\\")
def test_no_two_message_ids_are_shown_alike(one: bytes, another: bytes) -> None:
    ids = [read_header(b"Message-ID: <%b>\r\n\r\n" % raw).message_id for raw in (one, another)]
    folded = b"\r\n" in one + another  # a line more, or folded: then it is another header
    assert folded or (ids[0] == ids[1]) == (one == another)
    assert all(set(message_id) <= set(map(chr, range(0x21, 0x7F))) for message_id in ids)


@pytest.mark.parametrize("fold", ["\n ", "\n\t"])
def test_unfolding_takes_out_line_ends_and_nothing_else(fold: str) -> None:
    blank = {"\n ": r"\x20", "\n\t": r"\x09"}[fold]
    assert header(f"Message-ID:{fold}<a{fold}{fold}b>\n\n").message_id == f"<a{blank}{blank}b>"


def test_a_long_header_hides_nothing() -> None:
    """Not even in the middle of a field: a key that is cut is another message's."""
    for padding in range(65_490, 65_540):
        text = f"X-Padding: {'x' * (padding - 13)}\nMessage-ID: <in the way@b>\n\n"
        assert header(text).message_id.endswith("way@b>")


@pytest.mark.parametrize(
    ("lines", "hops"),
    [
        ("Received: a\nreceived: b\n", 2),
        ("RECEIVED : a\n Received: b\n\tReceived: c\n", 1),
        ("X-Received: a\nReceived-SPF: b\nSubject: Received: c\n", 0),
        ("Subject: one\n\nReceived: a\n", 0),
        ("\nReceived: a\n\n", 0),
    ],
)
def test_hops_are_fields_of_the_header(lines: str, hops: int) -> None:
    assert hops_of((lines + "\n").replace("\n", "\r\n").encode()) == hops


def test_bytes_that_are_no_text_become_marks() -> None:
    assert read_header(b"Subject: \xff\xfe\r\n\r\n").subject == "\ufffd\ufffd"


@given(st.binary(max_size=400))
def test_no_bytes_make_reading_fail(content: bytes) -> None:
    found = read_header(b"Date: " + content)
    assert not set("\r\n") & set(found.message_id + found.subject)
