"""A reply that comes line by line, or octet by octet, is read once, and is what it is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from aiosmtplib import SMTPResponse, SMTPResponseException
from aiosmtplib.protocol import MAX_RESPONSE_LENGTH, SMTPProtocol

from nodes.shell.smtp.whole_replies import WholeReplies

LINES = 5_000  # of six octets: about as many as a reply may have


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many octets the library has read, each time that it did."""
    octets: list[int] = []
    library = SMTPProtocol._read_response_from_buffer

    def counted(self: SMTPProtocol) -> SMTPResponse | None:
        octets.append(len(self._buffer))
        return library(self)

    monkeypatch.setattr(SMTPProtocol, "_read_response_from_buffer", counted)
    return octets


def said(packets: Iterator[bytes]) -> SMTPResponse:
    """What is read of it. Raises what the library raises; SMTPResponse(0, …): nothing yet."""

    async def hear() -> SMTPResponse:
        protocol = WholeReplies(asyncio.get_running_loop())
        protocol.connection_made(asyncio.Transport())
        for packet in packets:
            protocol.data_received(packet)
        assert protocol._response_waiter is not None
        if not protocol._response_waiter.done():
            return SMTPResponse(0, "")
        return await protocol.read_response()

    return asyncio.run(hear())


def test_a_server_that_drips_its_lines_has_them_read_once(read: list[int]) -> None:
    content = b"250-\r\n" * LINES + b"250 done\r\n"
    assert len(content) <= MAX_RESPONSE_LENGTH
    reply = said(content[at : at + 6] for at in range(0, len(content), 6))
    assert (reply.code, reply.message[-4:]) == (250, "done")
    assert sum(read) <= len(content)


def test_one_that_never_comes_to_an_end_is_not_read_at_all(read: list[int]) -> None:
    assert said(iter([b"250-\r\n"] * LINES)).code == 0
    assert sum(read) == 0
    with pytest.raises(SMTPResponseException, match="too long"):
        said(iter([b"250-\r\n"] * (LINES + 1_000)))
    assert sum(read) == 0


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 100])
@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"220 hello\r\n", 220, "hello"),
        (b"250-one\r\n250-two\r\n250 three\r\n", 250, "one\ntwo\nthree"),
        (b"250-one\n250 two\n", 250, "one\ntwo"),
        (b"250\r\n", 250, ""),
        (b"250-ends\r\n250\r\n", 250, "ends\n"),
    ],
)
def test_it_does_not_matter_how_a_reply_is_cut(
    content: bytes, code: int, message: str, size: int
) -> None:
    cut = (content[at : at + size] for at in range(0, len(content), size))
    assert said(cut) == SMTPResponse(code, message)


@pytest.mark.parametrize("line", [b"what?\r\n", b"ban-ana\r\n", b"-\r\n", b"\r\n"])
def test_a_line_of_no_reply_is_heard_at_once(line: bytes) -> None:
    with pytest.raises(SMTPResponseException, match="Malformed"):
        said(iter([b"250-one\r\n", line]))


@pytest.mark.parametrize("more", [b"550-no\r\n", b"550 no\r\n", b"55"])
def test_what_follows_a_reply_is_no_part_of_the_next_one(more: bytes) -> None:
    async def hear() -> SMTPResponse:
        protocol = WholeReplies(asyncio.get_running_loop())
        protocol.connection_made(asyncio.Transport())
        protocol.data_received(b"220 hello\r\n")
        protocol.data_received(more)
        await protocol.read_response()
        protocol.data_received(more)
        next_reply = asyncio.create_task(protocol.read_response())
        await asyncio.sleep(0)
        protocol.data_received(b"250 ok\r\n")
        return await next_reply

    assert asyncio.run(hear()) == SMTPResponse(250, "ok")
