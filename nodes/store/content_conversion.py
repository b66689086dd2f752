"""Content conversion of octets: the transfer encoding of a message becomes that of the organisation
(ByteEncoderTypeFor7BitCharsets; RT-7, SN-17; RFC 2045 section 6).

Only MIME text that has no encoding is converted, plain or HTML, so that whoever converts a message
once more changes nothing. All fields but Content-Transfer-Encoding stay as they are, octet for
octet, and so does the text once it is decoded. Nothing is repaired.
"""

from __future__ import annotations

from base64 import encodebytes
from binascii import a2b_base64, a2b_qp, b2a_qp
from collections.abc import Callable
from typing import NamedTuple

from nodes.store.header_fields import end_of_field, end_of_header, places_of, value_of

_FIELD = b"Content-Transfer-Encoding"
_CRLF, _EMPTY_LINE = b"\r\n", b"\r\n\r\n"
_UNENCODED = (b"", b"7bit", b"8bit")


class _Encoding(NamedTuple):
    name: bytes
    encode: Callable[[bytes], bytes]
    decode: Callable[[bytes], bytes]


def _base64(body: bytes) -> bytes:
    return encodebytes(body).replace(b"\n", _CRLF)


_ENCODINGS = {
    "UseQP": _Encoding(b"quoted-printable", lambda body: b2a_qp(body, istext=True), a2b_qp),
    "UseBase64": _Encoding(b"base64", _base64, a2b_base64),
}
_BY_NAME = {each.name: each for each in _ENCODINGS.values()}
ENCODINGS = tuple(_BY_NAME)
"""Transfer encodings, as messages name them."""


def converted(content: bytes, encoder: str) -> bytes:
    """The message as it is stored; the same octets where nothing is to be done. `encoder`: a word
    of ByteEncoderTypeFor7BitCharsets.
    """
    encoding, end = _ENCODINGS.get(encoder), end_of_header(content)
    if encoding is None or not _is_unencoded_text(content, end):
        return content
    body = content[end + len(_EMPTY_LINE) :]
    return _with_field(content, end, encoding.name) + _EMPTY_LINE + encoding.encode(body)


def encoding_of(content: bytes) -> str:
    """The transfer encoding of a message that has one, `quoted-printable` or `base64`; else
    empty.
    """
    name = _value(content, b"content-transfer-encoding", end_of_header(content))
    return name.decode() if name in _BY_NAME else ""


def decoded(content: bytes) -> bytes:
    """The message as it was before it was converted from `8bit`; the same octets where it has no
    encoding, or cannot be decoded.
    """
    encoding, end = _BY_NAME.get(encoding_of(content).encode()), end_of_header(content)
    if encoding is None:
        return content
    try:
        body = encoding.decode(content[end + len(_EMPTY_LINE) :])
    except ValueError:
        return content
    return _with_field(content, end, b"8bit") + _EMPTY_LINE + body


def _is_unencoded_text(content: bytes, end: int) -> bool:
    """A message has a body where an empty line ends its header."""
    if end == 0 or end == len(content) or not _value(content, b"mime-version", end):
        return False
    kind = _value(content, b"content-type", end).partition(b";")[0].strip() or b"text/plain"
    is_text = kind in (b"text/plain", b"text/html")
    return is_text and _value(content, b"content-transfer-encoding", end) in _UNENCODED


def _value(content: bytes, name: bytes, end: int) -> bytes:
    return value_of(content, name, 0, end).lower()


def _with_field(content: bytes, end: int, name: bytes) -> bytes:
    """The header without the empty line behind it; the field is the last one where it is new."""
    place = next(places_of(content, _FIELD.lower(), 0, end), None)
    if place is None:
        return content[:end] + _CRLF + _FIELD + b": " + name
    return content[:place] + b" " + name + content[end_of_field(content, place, end) : end]
