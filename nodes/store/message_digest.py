"""What a message says, in few bytes: enough to see whether it arrived as it was sent.

Transport may put trace fields in front of a message (RFC 5321, section 4.4: Received, Return-Path;
and X-… of a server's own), and must change nothing else: fields, their order, and the body, byte
for byte. So trace fields at the top are left out, whoever put them there, and all behind them
counts. Nothing is parsed beyond that, repaired or refused.

A digest is the first 64 bits of SHA-256: it has to show what a defect did, not to withstand whoever
looks for collisions. One change in 2^64 goes unseen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from nodes.store.content_conversion import decoded, encoding_of

Columns: TypeAlias = dict[str, int | str]

DIGITS = 16
_TRACE = re.compile(
    rb"(?:(?:received|return-path|x-[!-9;-~]*+)[ \t]*+:.*+\n(?:[ \t].*+\n)*+)*+", re.I
)
_END_OF_HEADER = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class MessageDigest:
    """`content_bytes` is the size of all that counts; digests are 16 hexadecimal digits."""

    content_bytes: int
    header_sha256: str
    body_sha256: str

    def columns(self) -> Columns:
        """As the records of a run have it."""
        return {
            "content_bytes": self.content_bytes,
            "header_sha256": self.header_sha256,
            "body_sha256": self.body_sha256,
        }


def digest_of(content: bytes) -> MessageDigest:
    """Of the bytes of a message, without the dots of transparency."""
    trace = _TRACE.match(content)
    assert trace is not None, "the pattern matches nothing at all, too"
    told = content[trace.end() :]
    header, _, body = told.partition(_END_OF_HEADER)
    return MessageDigest(len(told), _short(header), _short(body))


def columns_of_content(content: bytes) -> Columns:
    """As records have it: what it says, and of what has a transfer encoding also which, and what it
    says once it is decoded.
    """
    columns, encoding = digest_of(content).columns(), encoding_of(content)
    if not encoding:
        return columns
    of_decoded = digest_of(decoded(content)).columns()
    said = {f"decoded_{name.removeprefix('content_')}": value for name, value in of_decoded.items()}
    return columns | {"content_transfer_encoding": encoding} | said


def _short(part: bytes) -> str:
    return sha256(part).hexdigest()[:DIGITS]
