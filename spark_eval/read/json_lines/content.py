"""Digests of the content of a message: as it was sent, as it is stored, as somebody reads it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from spark_eval.read.json_lines.needed import require
from spark_eval.read.json_values import row_of
from spark_eval.read.rows import Content

DIGEST = re.compile(r"[0-9A-Fa-f]{16,64}\Z")


class _Digest(NamedTuple):
    content_bytes: int | None
    header_sha256: str | None
    body_sha256: str | None


def content_of(value: Any) -> Content:
    read = row_of(_Digest, value)
    for each in (read.header_sha256, read.body_sha256):
        require(each is None or DIGEST.match(each) is not None)
    return Content(read.content_bytes, _short(read.header_sha256), _short(read.body_sha256))


class _Seen(NamedTuple):
    content_transfer_encoding: str | None
    decoded_bytes: int | None
    decoded_header_sha256: str | None
    decoded_body_sha256: str | None


def seen(value: Any) -> tuple[Content, str | None, int | None]:
    """What somebody reads, its transfer encoding, and the size of what is stored."""
    stored, read = content_of(value), row_of(_Seen, value)
    if read.content_transfer_encoding is None:
        return stored, None, stored.size
    for each in (read.decoded_header_sha256, read.decoded_body_sha256):
        require(each is None or DIGEST.match(each) is not None)
    header, body = _short(read.decoded_header_sha256), _short(read.decoded_body_sha256)
    return Content(read.decoded_bytes, header, body), read.content_transfer_encoding, stored.size


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest[:16].lower()
