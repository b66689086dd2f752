"""The few header fields of a message that decisions need (RFC 5322), read without ever failing.

What is a key is as it was received, octet for octet, folded lines unfolded (DD-1): nothing is
repaired, cut or decoded. A Message-Id is text that shows its octets (`nodes.core.model.octets`); a
Date is a time, or, where it cannot be read, still no other one. Only a Subject, which is for
people, is decoded and cut.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import sha256

from nodes.core.model.message import UNREADABLE_DATE_MS, Header
from nodes.core.model.octets import shown
from nodes.store.header_fields import LINE_LIMIT, end_of_field, end_of_header, places_of, value_of

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_BY = re.compile(rb"(?:^|\s)by\s+([A-Za-z0-9.-]+)", re.IGNORECASE)
SUBJECT_LIMIT = 255


def read_header(content: bytes) -> Header:
    """Message-Id, Date and Subject of a message; the first of each counts. Of a Message-Id longer
    than a line, which the core refuses, there is an octet more than that.
    """
    end = end_of_header(content)
    message_id, date, subject = (
        value_of(content, name, 0, end) for name in (b"message-id", b"date", b"subject")
    )
    return Header(
        message_id=shown(message_id[: LINE_LIMIT + 1]),
        submitted_ms=_submitted_ms(date),
        subject=_text(subject[:SUBJECT_LIMIT]),
    )


def hops_of(content: bytes) -> int:
    """How many servers have put a Received field on it (RFC 5321 section 6.3)."""
    return sum(1 for _ in places_of(content, b"received", 0, end_of_header(content)))


def local_hops_of(content: bytes, fqdns: frozenset[str]) -> int:
    """How many of these fields say that one of those servers received it: `by` and its name."""
    end = end_of_header(content)
    places = places_of(content, b"received", 0, end)
    found = (_BY.search(content, place, end_of_field(content, place, end)) for place in places)
    return sum(1 for by in found if by and by[1].decode("latin-1").lower() in fqdns)


def _text(octets: bytes) -> str:
    return _CONTROL.sub(" ", octets.decode("utf-8", "replace")).strip()


def _submitted_ms(date: bytes) -> int | None:
    """Of a Date that cannot be read, or is longer than a line, a number below all times, made of
    its octets: two of them are two.
    """
    if not date:
        return None
    try:
        if len(date) <= LINE_LIMIT:
            return _epoch_ms(date.decode("latin-1"))
    except (ValueError, TypeError, IndexError, OverflowError):
        pass
    return UNREADABLE_DATE_MS - int.from_bytes(sha256(date).digest()[:7])


def _epoch_ms(date: str) -> int:
    moment = parsedate_to_datetime(date)
    if moment.tzinfo is None:  # -0000: the zone is not known, the time is UTC
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
