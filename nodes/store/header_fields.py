"""Fields of a header by their names, as they were received (RFC 5322 section 2.2): unfolded, and
nothing else is done to them.

A line ends with CRLF, and a header with its first empty line. What is read may be a stranger's, so
nothing costs more than the length of what is looked through, and nothing is looked through again.
Places are offsets into the whole message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

LINE_LIMIT = 998  # octets of a line, RFC 5322 section 2.1.1

_CRLF, _EMPTY_LINE = b"\r\n", b"\r\n\r\n"
_END_OF_FIELD = re.compile(rb"\r\n(?![ \t])")


def end_of_header(content: bytes) -> int:
    """Where its first empty line begins. A message may begin with it, or have none."""
    if content.startswith(_CRLF):
        return 0
    end = content.find(_EMPTY_LINE)
    return len(content) if end < 0 else end


def places_of(content: bytes, name: bytes, start: int, end: int) -> Iterator[int]:
    """Where the value begins of each field of that name, in whatever case. Between `start` and
    `end` a field begins behind a CRLF, or a message.
    """
    first, later = _patterns(name)
    if start == 0 and (found := first.match(content, 0, end)):
        yield found.end()
    for found in later.finditer(content, start, end):
        yield found.end()


def value_of(content: bytes, name: bytes, start: int, end: int) -> bytes:
    """Of the first field of that name, without the blanks around it; empty where there is none."""
    place = next(places_of(content, name, start, end), None)
    if place is None:
        return b""
    value = content[place : end_of_field(content, place, end)]
    return value.replace(_CRLF, b"").strip(b" \t")


def end_of_field(content: bytes, place: int, end: int) -> int:
    """Where the field ends whose value begins at `place`."""
    last = _END_OF_FIELD.search(content, place, end)
    return end if last is None else last.start()


@cache
def _patterns(name: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    named = name + rb"[ \t]*+:"
    return re.compile(named, re.IGNORECASE), re.compile(rb"\r\n" + named, re.IGNORECASE)
