"""What a journal report says of the message that is attached to it: sender, subject, Message-Id and
recipients, each with the group that led to him; and what is attached.

A report is known by its field X-MS-Journal-Report. Its first part is that text, its second one the
message. What a stranger sent as one costs what its length does. Text shows its octets
(`nodes.core.model.octets`).
"""

from __future__ import annotations

import re

from nodes.core.model.octets import shown
from nodes.store.header_fields import end_of_header, places_of, value_of
from nodes.store.message_digest import columns_of_content

MOST_RECIPIENTS = 10_000
"""More than a group here has members."""

_DELIMITER = re.compile(rb"--[0-9a-f]{32}")
_EMPTY_LINE = b"\r\n\r\n"


def journal_of(content: bytes) -> dict[str, object] | None:
    """As `mailboxes/<database>.jsonl` has it; None of a message that is no report, or a broken
    one.
    """
    end = end_of_header(content)
    if next(places_of(content, b"x-ms-journal-report", 0, end), None) is None:
        return None
    delimiter = _DELIMITER.match(content, end + len(_EMPTY_LINE))
    if delimiter is None:
        return None
    text, _, rest = content[delimiter.end() :].partition(b"\r\n" + delimiter[0])
    _, _, text = text.partition(_EMPTY_LINE)
    attached, is_whole, _ = rest.partition(b"\r\n" + delimiter[0] + b"--")
    _, _, attached = attached.partition(_EMPTY_LINE)
    return _said(b"\r\n" + text) | _attached(attached) if is_whole else None


def _said(text: bytes) -> dict[str, object]:
    whom = []
    for place in places_of(text, b"to", 0, len(text)):
        last = text.find(b"\r\n", place)
        line = text[place : last if last >= 0 else len(text)]
        address, _, group = line.partition(b", Expanded:")
        whom.append({"recipient": shown(address.strip()), "through": shown(group.strip())})
        if len(whom) == MOST_RECIPIENTS:
            break
    names = ("sender", "subject", "message-id")
    sender, subject, about = (shown(value_of(text, n.encode(), 0, len(text))) for n in names)
    return {"sender": sender, "subject": subject, "message_id": about, "recipients": whom}


def _attached(content: bytes) -> dict[str, object]:
    subject = value_of(content, b"subject", 0, end_of_header(content))
    return {"attached_subject": shown(subject), **columns_of_content(content)}
