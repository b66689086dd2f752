"""What a DSN says of whom, by its fields (RFC 3464 section 2.3)."""

from __future__ import annotations

from email import message_from_bytes
from email.message import Message
from typing import TypeAlias

Reports: TypeAlias = list[dict[str, str]]

_REPORT, _STATUS = "multipart/report", "message/delivery-status"


def reports_of(content: bytes) -> Reports:
    """`recipient` and `action` (failed, delayed, …, in lower case), of a message that is a DSN; of
    another, and of a DSN that names nobody, nothing. An address of another kind is none.
    """
    if _REPORT.encode() not in content.lower():
        return []
    try:
        message = message_from_bytes(content)
    except RecursionError:  # parts within parts, without end
        return []
    if message.get_content_type() != _REPORT:
        return []
    parts = (part for part in message.walk() if part.get_content_type() == _STATUS)
    return [report for part in parts for each in part.walk() if (report := _report(each))]


def _report(fields: Message) -> dict[str, str] | None:
    kind, _, address = _value(fields, "Final-Recipient").partition(";")
    if kind.strip() != "rfc822":
        return None
    return {"recipient": address.strip(), "action": _value(fields, "Action")}


def _value(fields: Message, name: str) -> str:
    value = str(fields.get(name, "")).strip().lower()
    return value.encode("ascii", "replace").decode("ascii")
