"""A message comes in whole or is refused, and takes no more memory than it may have."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.shell.smtp import message_data
from nodes.shell.smtp.mail_in_memory import MailInMemory
from nodes.shell.smtp.message_data import LINE_LIMIT, Refused, read_message

CHUNK = 65_536
END = b".\r\n"
MIB = 1024 * 1024


def taken(said: Iterable[bytes], limit_bytes: int) -> tuple[bytes, bytes]:
    """The message that is read from these chunks, and what is left for the next command."""

    async def read() -> tuple[bytes, bytes]:
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        feeding = asyncio.create_task(feed(reader, said))
        try:
            content = await read_message(reader, limit_bytes, MailInMemory(MIB))
            feeding.cancel()
            return content, bytes(getattr(reader, "_buffer", b""))
        finally:
            feeding.cancel()

    return asyncio.run(read())


async def feed(reader: asyncio.StreamReader, said: Iterable[bytes]) -> None:
    """Chunk by chunk: nothing more before the reader has taken the one before."""
    for chunk in said:
        reader.feed_data(chunk)
        while getattr(reader, "_buffer", b""):
            await asyncio.sleep(0)
    reader.feed_eof()


def endless(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece * (CHUNK // len(piece))


LINE = st.lists(st.sampled_from([b".", b" ", b"\xff", b"\x00"]), max_size=5).map(b"".join)
LINES = st.lists(LINE, max_size=9)
BARE = st.sampled_from([b"\r", b"\n", b"\n.\n", b"\n.\r", b"\r.\r", b"\n\r"])


def as_sent(lines: list[bytes], width: int) -> list[bytes]:
    """Chunks of that many bytes; the next command comes with the last one."""
    stuffed = [b"." + line if line.startswith(b".") else line for line in lines]
    said = b"".join(line + b"\r\n" for line in stuffed) + END
    chunks = [said[at : at + width] for at in range(0, len(said), width)]
    return [*chunks[:-1], chunks[-1] + b"NOOP\r\n"]


@given(LINES, st.integers(1, 5))
def test_what_was_said_is_taken_byte_for_byte(lines: list[bytes], width: int) -> None:
    whole = b"".join(line + b"\r\n" for line in lines)
    assert taken(as_sent(lines, width), len(whole)) == (whole, b"NOOP\r\n")


@given(LINES, LINES, LINE, BARE, LINE, st.integers(1, 9))
def test_a_line_end_that_is_half_of_one_is_refused_behind_the_dot(
    before: list[bytes], after: list[bytes], left: bytes, bare: bytes, right: bytes, width: int
) -> None:
    """And nothing in it is an end of the message (RFC 5321 sections 2.3.8 and 4.1.1.4)."""
    said = as_sent([*before, left + bare + right, *after], width)
    with pytest.raises(Refused) as refusal:
        taken(said, MIB)
    assert refusal.value.line.startswith(b"550 5.6.11 ")
    assert not refusal.value.is_endless


@given(LINES.filter(bool), st.integers(1, 5))
def test_a_byte_more_than_may_be_is_refused(lines: list[bytes], width: int) -> None:
    """Dots of transparency are none of the message's."""
    size_bytes = sum(len(line) + 2 for line in lines)
    with pytest.raises(Refused) as refusal:
        taken(as_sent(lines, width), size_bytes - 1)
    assert refusal.value.line.startswith(b"552 5.3.4")


@pytest.mark.parametrize(
    ("said", "limit_bytes", "reply"),
    [
        (b"x" * 79 + b"\r\n" + END, 80, b"552 5.3.4"),
        (b"x\r\n" * 30 + END, 80, b"552 5.3.4"),
        (b"x" * (LINE_LIMIT - 1) + b"\r\n" + END, MIB, b"500 5.5.2"),
        (b"x" * 5000 + END + END, MIB, b"500 5.5.2"),
        (b"x" * 5000 + b"\r\n.\r\n", MIB, b"500 5.5.2"),
    ],
)
def test_what_is_too_much_is_read_to_its_dot_and_refused(
    said: bytes, limit_bytes: int, reply: bytes
) -> None:
    with pytest.raises(Refused) as refusal:
        taken([said, b"NOOP\r\n"], limit_bytes)
    assert refusal.value.line.startswith(reply)
    assert not refusal.value.is_endless


@pytest.mark.parametrize("width", [1, LINE_LIMIT, LINE_LIMIT + 1, CHUNK])
def test_the_longest_line_is_taken(width: int) -> None:
    """Of 1000 bytes with its end, without the dot of transparency."""
    line = b"." + b"x" * 997
    assert taken(as_sent([line, line], width), MIB)[0] == (line + b"\r\n") * 2


@pytest.mark.parametrize("limit_bytes", [80, 81])
def test_the_limit_is_the_last_size_that_is_taken(limit_bytes: int) -> None:
    assert len(taken([b"x" * 78 + b"\r\n" + END], limit_bytes)[0]) == 80


@pytest.mark.parametrize("piece", [b"x", b".", b"\r\n", b"\n", b"y" * 70 + b"\r\n", b"\x00\r"])
def test_an_endless_message_is_cut_and_takes_no_memory(
    piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_data, "READ_ON_BYTES", 4 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(Refused) as refusal:
            taken(endless(piece), MIB // 4)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refusal.value.is_endless
    assert peak_bytes < 3 * MIB


def test_a_message_of_nothing_but_line_ends_takes_no_more_than_one_of_text() -> None:
    tracemalloc.start()
    try:
        content, _ = taken([b"\r\n" * MIB, END], 2 * MIB)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(content) == 2 * MIB
    assert peak_bytes < 12 * MIB
