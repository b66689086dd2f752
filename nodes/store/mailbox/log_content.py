"""The content of a log and of a seed: canonical JSON in short lines, so that it passes through SMTP
as it is.

JSON in ASCII has no line ends of its own, so those put in are taken out again without loss. The
checksum is of these bytes.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any, TypeAlias

LogRecord: TypeAlias = dict[str, Any]

LINE = 900


class Unreadable(ValueError):
    """The content is not what a copy of this project writes, or not what its checksum says."""


def to_content(record: LogRecord) -> bytes:
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    return "\r\n".join([*lines, ""]).encode("ascii")


def from_content(content: bytes, *kinds: str) -> LogRecord:
    """Raises Unreadable."""
    try:
        record = json.loads(content.replace(b"\r\n", b""))
    except ValueError as error:
        raise Unreadable(str(error)) from error
    if not isinstance(record, dict) or record.get("kind") not in kinds:
        raise Unreadable(f"is no {' and no '.join(kinds)}")
    return record


def checksum(content: bytes) -> str:
    return sha256(content).hexdigest()


def expect_checksum(content: bytes, expected: str) -> None:
    """Raises Unreadable."""
    found = checksum(content)
    if found != expected:
        raise Unreadable(f"its checksum is {found}, not {expected}")


def bytes_text(content: bytes) -> str:
    return b64encode(content).decode("ascii")


def text_bytes(text: str) -> bytes:
    return b64decode(text)
