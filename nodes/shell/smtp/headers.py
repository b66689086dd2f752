"""The few header fields of a message that decisions need (RFC 5322), read without ever failing.

What is missing or malformed is empty or None; nothing is repaired and nothing added. A header that
is folded can have any length, so each value is bounded, here or by the core: a Subject is cut, a
Date longer than a line is malformed, and a message whose Message-Id is longer than a line is
refused (`nodes.core.receiving`).
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

from nodes.core.model.message import Header

_HEADER_LIMIT = 65_536
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_WANTED = (b"message-id", b"date", b"subject")
SUBJECT_LIMIT = 255
LINE_LIMIT = 998  # RFC 5322 section 2.1.1


def read_header(content: bytes) -> Header:
    """Message-Id, Date and Subject of a message; the first of each counts."""
    found: dict[bytes, str] = {}
    for line in _FOLDED.sub(b" ", _head(content)).splitlines():
        name, colon, value = line.partition(b":")
        name = name.strip().lower()
        if colon and name in _WANTED and name not in found:
            text = value.decode("utf-8", "replace")
            found[name] = _CONTROL.sub(" ", text).strip()
    return Header(
        message_id="".join(found.get(b"message-id", "").split()),
        submitted_ms=_epoch_ms(found.get(b"date", "")),
        subject=found.get(b"subject", "")[:SUBJECT_LIMIT],
    )


def _head(content: bytes) -> bytes:
    """Everything before the first empty line."""
    ends = [end for end in (content.find(b"\r\n\r\n"), content.find(b"\n\n")) if end >= 0]
    return content[: min([*ends, _HEADER_LIMIT])]


def _epoch_ms(date: str) -> int | None:
    if len(date) > LINE_LIMIT:
        return None
    try:
        moment = parsedate_to_datetime(date)
        if moment.tzinfo is None:  # -0000: the zone is not known, the time is UTC
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
