from __future__ import annotations

import io

from spark_eval.read import lines as module
from spark_eval.read.lines import NO_UTF_8, TOO_LONG, TORN, UTF_16, Line, lines


def _read(content: bytes) -> list[Line]:
    return list(lines(io.BytesIO(content)))


def test_lines_are_numbered_from_one_and_empty_ones_are_passed_over() -> None:
    assert _read(b"a\n\n  \nb\r\n") == [Line(1, "a"), Line(4, "b")]


def test_a_last_line_without_an_end_is_torn() -> None:
    assert _read(b"a\nb") == [Line(1, "a"), Line(2, "b", TORN)]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert _read(b"\xef\xbb\xbfa\n") == [Line(1, "a")]


def test_what_is_no_utf_8_is_named_and_the_next_line_is_read() -> None:
    assert _read(b"a\xff\nb\n") == [Line(1, "", NO_UTF_8), Line(2, "b")]


def test_utf_16_is_named_once() -> None:
    assert _read("a\nb\n".encode("utf-16")) == [Line(1, "", UTF_16)]


def test_a_line_that_is_too_long_takes_no_other_one_with_it() -> None:
    long = b"x" * (3 * module.MOST_BYTES) + b"\n"
    assert _read(long + b"b\n") == [Line(1, "", TOO_LONG), Line(2, "b")]


def test_a_torn_line_that_is_too_long_ends_the_file() -> None:
    assert _read(b"x" * (module.MOST_BYTES + 1)) == [Line(1, "", TOO_LONG)]
