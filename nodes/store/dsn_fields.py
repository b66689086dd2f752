"""What a DSN says of whom, and about which message, by its fields (RFC 3464 sections 2.2 and 2.3,
RFC 5322 section 3.6.4).

The message itself is the report, and its parts follow one another (RFC 6522 section 3): parts
within parts are not looked into, so a stranger's message costs what its length does, whatever its
nesting and its parameters. An address shows its octets (`nodes.core.model.octets`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TypeAlias

from nodes.core.model.octets import shown
from nodes.store.header_fields import LINE_LIMIT, end_of_header, places_of, value_of

Reports: TypeAlias = list[dict[str, str]]

MOST_REPORTS = 1000
"""More than a message here has recipients."""
MOST_OF_TYPE = 4 * LINE_LIMIT
MOST_OF_NAME = 255
"""A domain has no more octets (RFC 5321 section 4.5.3.1.2)."""
MOST_OF_STATUS = 20
"""More than three numbers (RFC 3464 section 2.3.4)."""

_REPORT, _STATUS = b"multipart/report", b"message/delivery-status"
# RFC 2046 section 5.1.1
_BOUNDARY = re.compile(
    rb';[ \t]*+boundary[ \t]*+=[ \t]*+(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE
)
_EMPTY_LINE = b"\r\n\r\n"
_BLANKS = re.compile(rb"[ \t]+")


def columns_of(content: bytes) -> dict[str, object]:
    """As the records of a run have them: `reports`; and of a DSN that names somebody the Message-Id
    in its In-Reply-To, and the last one in its References, empty where it has none.
    """
    reports = reports_of(content)
    said: dict[str, object] = {"reports": reports, "in_reply_to": None, "references": None}
    if reports:
        said["in_reply_to"] = _last_word(content, b"in-reply-to")
        said["references"] = _last_word(content, b"references")
    return said


def _last_word(content: bytes, name: bytes) -> str:
    value = value_of(content, name, 0, end_of_header(content))[-LINE_LIMIT:]
    return shown(_BLANKS.split(value)[-1])


def reports_of(content: bytes) -> Reports:
    """`recipient`, `action` (failed, delayed, …, in lower case) and `status`, with the
    `reporting_mta` of its part, of a message that is a DSN; of another, and of a DSN that names
    nobody, nothing. An address of another kind is none.
    """
    end = end_of_header(content)
    kind = value_of(content, b"content-type", 0, end)[:MOST_OF_TYPE]
    boundary = _BOUNDARY.search(kind)
    if boundary is None or _type_of(kind) != _REPORT:
        return []
    return list(islice(_reports(content, end, boundary[1] or boundary[2]), MOST_REPORTS))


def _type_of(value: bytes) -> bytes:
    return value.partition(b";")[0].strip().lower()


def _reports(content: bytes, start: int, boundary: bytes) -> Iterator[dict[str, str]]:
    for first, last in _parts(content, start, boundary):
        end = content.find(_EMPTY_LINE, first, last)
        if end >= 0 and _type_of(value_of(content, b"content-type", first, end)) == _STATUS:
            yield from _said_in(content, end, last)


def _parts(content: bytes, start: int, boundary: bytes) -> Iterator[tuple[int, int]]:
    """From the end of each delimiter's line, its CRLF not included, to the next delimiter."""
    delimiter = re.compile(rb"\r\n--" + re.escape(boundary) + rb"(?:--)?[ \t]*+(?=\r\n|\Z)")
    for one, another in pairwise(delimiter.finditer(content, start)):
        yield one.end(), another.start()


def _said_in(content: bytes, start: int, end: int) -> Iterator[dict[str, str]]:
    """Of each recipient: its fields stand together, between empty lines, after those of the whole
    part.
    """
    whole = content.find(_EMPTY_LINE, start + len(_EMPTY_LINE), end)
    server = _named(value_of(content, b"reporting-mta", start, end if whole < 0 else whole))
    while (place := next(places_of(content, b"final-recipient", start, end), -1)) >= 0:
        first = max(start, content.rfind(_EMPTY_LINE, start, place))
        last = content.find(_EMPTY_LINE, place, end)
        start = end if last < 0 else last
        report = _report(content, first, start)
        if report is not None:
            yield report | {"reporting_mta": server}


def _named(value: bytes) -> str:
    """A server, by its domain; one that is named otherwise is none."""
    kind, _, name = value.partition(b";")
    return shown(name.strip()[:MOST_OF_NAME]) if kind.strip().lower() == b"dns" else ""


def _report(content: bytes, start: int, end: int) -> dict[str, str] | None:
    kind, _, address = value_of(content, b"final-recipient", start, end).partition(b";")
    address = address.strip()
    if kind.strip().lower() != b"rfc822" or len(address) > LINE_LIMIT:
        return None
    action = value_of(content, b"action", start, end)[:LINE_LIMIT].lower()
    status = value_of(content, b"status", start, end)[:MOST_OF_STATUS]
    return {"recipient": shown(address), "action": shown(action), "status": shown(status)}
