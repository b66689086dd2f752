"""Content conversion of octets: the transfer encoding alone, once, and back to what it was."""

from __future__ import annotations

import email
import email.policy
from base64 import encodebytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nodes.store.content_conversion import converted, decoded, encoding_of
from tests.nodes.core.world import config

ENCODERS = {"UseQP": "quoted-printable", "UseBase64": "base64"}
HEADER = (
    b"From: <a@x.example>\r\nSubject: one\r\nMessage-ID: <1@x.example>\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit"
)
BODY = "Łódź = one\r\n.\r\n\r\nFrom here \t \r\n".encode() + b"x" * 998 + b"\r\n \r\n\r\n"
SENT = HEADER + b"\r\n\r\n" + BODY
LINES = st.binary(max_size=120).map(lambda line: line.replace(b"\r", b"").replace(b"\n", b""))


@pytest.mark.parametrize("encoder", ENCODERS)
@given(st.lists(LINES, max_size=8))
@example([bytes(octet for octet in range(256) if octet not in b"\r\n")])
@example([b" " * 200, b"=" * 80, b"\t", b".", b"x" * 75 + b" "])
def test_what_was_sent_comes_back_octet_for_octet(encoder: str, lines: list[bytes]) -> None:
    sent = HEADER + b"\r\n\r\n" + b"".join(line + b"\r\n" for line in lines)
    assert decoded(converted(sent, encoder)) == sent


@pytest.mark.parametrize("encoder", ENCODERS)
def test_it_is_plain_text_in_short_lines_that_anybody_reads(encoder: str) -> None:
    stored = converted(SENT, encoder)
    assert encoding_of(stored) == ENCODERS[encoder]
    _, _, body = stored.partition(b"\r\n\r\n")
    assert body.isascii()
    assert max(map(len, body.split(b"\r\n"))) <= 76
    assert body.count(b"\n") == body.count(b"\r\n") == body.count(b"\r")
    read = email.message_from_bytes(stored, policy=email.policy.SMTP)
    assert read.get_payload(decode=True) == BODY
    assert (read["Message-ID"], read["Subject"]) == ("<1@x.example>", "one")


@pytest.mark.parametrize("encoder", ENCODERS)
def test_no_other_field_is_touched(encoder: str) -> None:
    header, _, _ = converted(SENT, encoder).partition(b"\r\n\r\n")
    assert header == HEADER.replace(b"8bit", ENCODERS[encoder].encode())


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("again", ENCODERS)
def test_once_more_changes_nothing(encoder: str, again: str) -> None:
    stored = converted(SENT, encoder)
    assert converted(stored, again) == stored


def test_seven_bits_are_left_as_they_are() -> None:
    assert converted(SENT, "Use7Bit") == SENT


@pytest.mark.parametrize(
    "content",
    [
        SENT.replace(b"MIME-Version: 1.0\r\n", b""),
        SENT.replace(b"text/plain", b"multipart/mixed; boundary=b"),
        SENT.replace(b"text/plain", b"message/rfc822"),
        SENT.replace(b"8bit", b"base64"),
        SENT.replace(b"8bit", b"Quoted-Printable"),
        SENT.replace(b"8bit", b"binary"),
        HEADER,
        b"\r\n" + BODY,
        b"",
    ],
)
def test_what_is_no_text_or_encoded_already_stays_as_it_is(content: bytes) -> None:
    assert converted(content, "UseQP") == content


@pytest.mark.parametrize("field", [b"", b"\r\nContent-Transfer-Encoding: 7bit"])
def test_a_field_that_is_missing_is_added(field: bytes) -> None:
    sent = SENT.replace(b"\r\nContent-Transfer-Encoding: 8bit", field)
    assert converted(sent, "UseQP") == converted(SENT, "UseQP")


def test_a_folded_field_is_one() -> None:
    sent = SENT.replace(b"Encoding: 8bit", b"Encoding:\r\n\t8bit")
    assert converted(sent, "UseQP") == converted(SENT, "UseQP")


def test_what_cannot_be_decoded_stays_as_it_is() -> None:
    broken = HEADER.replace(b"8bit", b"base64") + b"\r\n\r\nabcde"
    assert decoded(broken) == broken


@pytest.mark.parametrize("encoder", ["Use7Bit", *ENCODERS])
def test_a_server_takes_from_another_whatever_becomes_of_a_message_on_its_way(encoder: str) -> None:
    """All of it three octets each, in short lines; then a log has it in base64."""
    transport = config(
        "par1", TransportConfig={"ByteEncoderTypeFor7BitCharsets": encoder}
    ).transport
    sent = HEADER + b"\r\n\r\n" + (b"\xff" * 998 + b"\r\n") * 1000
    assert len(encodebytes(converted(sent, encoder))) <= transport.growth * len(sent)
