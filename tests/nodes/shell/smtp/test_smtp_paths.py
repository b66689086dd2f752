"""A path that is read without aiosmtpd's parser is read as the parser reads it, where that mends
nothing.
"""

from typing import Any

import pytest
from aiosmtpd.smtp import SMTP
from hypothesis import given
from hypothesis import strategies as st

from nodes.shell.smtp.syntax import SmtpSyntax

MARKS = ["<", ">", "@", ".", "..", " ", "  ", "\t", "(", ")", '"', "\\", ",", ":", "-", "_", "é"]
WORDS = ["a", "B9", "user01", "shadowlab.example", "SIZE=4096", "BODY=8BITMIME", "x" * 70]
PIECES = st.sampled_from([*MARKS, *WORDS, "[192.0.2.1]"])
WRITTEN = [
    "<db1-user01@shadowlab.example>",
    "<db1-user01@shadowlab.example> SIZE=4096",
    "<db1-user01@shadowlab.example>  SIZE=4096 BODY=8BITMIME ",
    "<>",
    "<> SIZE=0",
    "<a@b>x",
    "<a@b> (comment) SIZE=1",
    "<a@b> SIZE=1 (comment)",
    f"<{'x' * 65}@b>",
    "< a@b >",
    "a@b",
    "",
]


def session(limit: int) -> Any:
    """As much of a session as reading a path takes."""
    bare = SmtpSyntax.__new__(SmtpSyntax)
    bare.__dict__["local_part_limit"] = limit
    return bare


def read(reader: Any, text: str, limit: int) -> Any:
    try:
        return reader(session(limit), text)
    except Exception as error:  # whatever the library makes of it
        return type(error)


def assert_read_alike(text: str, limit: int) -> None:
    found = read(SMTP._getaddr, text, limit)
    is_mended = isinstance(found, tuple) and found[0] is not None and found[0] not in text
    assert read(SmtpSyntax._getaddr, text, limit) == ((None, None) if is_mended else found)


@pytest.mark.parametrize(
    "mended",
    ["<a(1)@b>", "<a. b@b>", "<a .b@b>", '<"a"@b>', '<"a\\b"@b>', "<a@b (c).d>", "<a\\b@b>"],
)
def test_an_address_is_taken_as_it_stands_or_not_at_all(mended: str) -> None:
    """Else two of them are one."""
    assert read(SmtpSyntax._getaddr, mended, 0) == (None, None)


@pytest.mark.parametrize("limit", [0, 64])
@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_written_is_read_alike(text: str, limit: int) -> None:
    assert_read_alike(text, limit)


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from([0, 64]))
def test_anything_is_read_alike(text: str, limit: int) -> None:
    assert_read_alike(text, limit)


@given(st.lists(PIECES, max_size=6).map("".join), st.sampled_from([0, 64]))
def test_whatever_follows_a_plain_path_is_read_alike(rest: str, limit: int) -> None:
    assert_read_alike(f"<db1-user01@shadowlab.example>{rest}", limit)


def test_the_parser_is_spared_for_what_servers_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("the parser was asked")

    monkeypatch.setattr(SMTP, "_getaddr", refuse)
    assert session(64)._getaddr("<db1-user01@shadowlab.example> SIZE=4096") == (
        "db1-user01@shadowlab.example",
        "SIZE=4096",
    )
