"""What a DSN says of whom is read from its fields, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from nodes.core.model.octets import shown
from nodes.store import dsn_fields
from nodes.store.dsn_fields import MOST_REPORTS, columns_of, reports_of
from nodes.store.header_fields import places_of, value_of

FIELDS = b"""Reporting-MTA: dns; par-mbx1.lab

Original-Recipient: rfc822; other@x.example
FINAL-RECIPIENT: Rfc822; Bob@X.example
action: Failed
Status: 5.1.1

Final-Recipient: rfc822;eve@x.example
Action: delayed

Final-Recipient: x400; /S=mallory
Action: failed
"""
MADE_BY = {"reporting_mta": "par-mbx1.lab"}
FIELD = b"Final-Recipient: rfc822; a@x.example\r\nAction: failed\r\n\r\n"


def dsn(kind: bytes = b"multipart/report", status: bytes = b"message/delivery-status") -> bytes:
    head = b'From: <>\nContent-Type: %s; report-type=delivery-status; boundary="=b"\n\n' % kind
    parts = (
        b"--=b\nContent-Type: text/plain\n\nIt failed.\n\n--=b\nContent-Type: %s\n\n%s\n--=b--\n"
    )
    return (head + parts % (status, FIELDS)).replace(b"\n", b"\r\n")


def test_names_each_recipient_with_what_is_said_of_it() -> None:
    assert reports_of(dsn()) == [
        {"recipient": "Bob@X.example", "action": "failed", "status": "5.1.1", **MADE_BY},
        {"recipient": "eve@x.example", "action": "delayed", "status": "", **MADE_BY},
    ]


def test_names_the_server_that_says_so_by_its_domain() -> None:
    for given, named in (
        (b"Reporting-MTA: DNS;x.example", "x.example"),
        (b"Reporting-MTA: x400; /S=x", ""),
        (b"X-MTA: dns; x.example", ""),
    ):
        content = dsn().replace(b"Reporting-MTA: dns; par-mbx1.lab", given)
        assert {each["reporting_mta"] for each in reports_of(content)} == {named}


def test_refers_to_the_last_of_its_references() -> None:
    head = b"In-Reply-To: <m1@x>\r\nReferences: <m0@x>\r\n <m1@x>\r\n"
    said = columns_of(head + dsn())
    assert (said["in_reply_to"], said["references"]) == ("<m1@x>", "<m1@x>")
    said = columns_of(dsn())
    assert (said["in_reply_to"], said["references"]) == ("", "")


@pytest.mark.parametrize("value", [b"", b" ", b"\t", b"\x0b", b"\x0c\x0b", b"\xa0", b"\x85"])
def test_whatever_octets_stand_there_are_read(value: bytes) -> None:
    """A stranger writes them; blank is a space or a tab and nothing else."""
    found = columns_of(b"In-Reply-To:" + value + b"\r\nReferences: " + value + b"\r\n" + dsn())
    assert found["in_reply_to"] == found["references"] == shown(value.strip(b" \t"))


def test_what_is_no_dsn_refers_to_nothing() -> None:
    said = columns_of(b"In-Reply-To: <m1@x>\r\n\r\nThank you\r\n")
    assert said == {"reports": [], "in_reply_to": None, "references": None}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Subject: multipart/report\r\n\r\nFinal-Recipient: rfc822; a@x.example\r\n",
        dsn(kind=b"multipart/mixed"),
        dsn(status=b"text/plain"),
        b"Content-Type: multipart/report\r\n\r\nno parts\r\n",
        b"Content-Type: multipart/report; boundary=a\r\n\r\n" * 5_000,
    ],
    ids=["nothing", "mail", "mixed", "text alone", "no parts", "no end"],
)
def test_what_is_no_dsn_names_nobody(content: bytes) -> None:
    assert reports_of(content) == []


@pytest.mark.parametrize("address", [b"b\xfc\xdf@x", b"b\xfc\xde@x", b"b??@x", b"b\\xfc@x"])
def test_no_two_addresses_are_shown_alike(address: bytes) -> None:
    shown = reports_of(dsn().replace(b"Bob@X", address))[0]["recipient"]
    assert shown.encode().decode("unicode_escape").encode("latin-1") == address + b".example"


def test_no_more_is_read_of_a_content_type_than_anybody_writes() -> None:
    """Else its parameters cost their number times itself, and a stranger wrote them."""
    some, many = b"report-type=delivery-status;a=b" + b";a=b" * 500, b";a=b" * 500_000
    content = dsn()
    assert reports_of(content.replace(b"report-type=delivery-status", some))
    assert reports_of(content.replace(b"report-type=delivery-status", some + many)) == []


def test_a_dsn_names_no_more_recipients_than_a_message_has() -> None:
    content = dsn().replace(b"Status: 5.1.1\r\n\r\n", b"\r\n" + FIELD * 5000)
    assert len(reports_of(content)) == MOST_REPORTS


@pytest.mark.parametrize(
    "part",
    [
        b"\r\n--=b",
        b"\r\n" * 4,
        b"Final-Recipient: x400; a\r\n",
        FIELD[:-4],
        b"\r\n--=b\r\nContent-Type: message/delivery-status\r\n\r\n" + FIELD,
    ],
    ids=["delimiters", "empty lines", "fields", "fields of one", "parts"],
)
def test_each_octet_is_looked_at_a_few_times(part: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many parts, recipients and fields there are."""
    looked_at = 0

    def count(start: int, end: int) -> int:
        nonlocal looked_at
        looked_at += end - start
        return end

    class Counted(bytes):
        def find(self, sub: Any, start: Any = 0, end: Any = None) -> int:
            found = super().find(sub, start, end)
            count(start, found if found >= 0 else len(self) if end is None else end)
            return found

        def rfind(self, sub: Any, start: Any = 0, end: Any = None) -> int:
            return super().rfind(sub, start, count(start, end))

    def places(content: bytes, name: bytes, start: int, end: int) -> Iterator[int]:
        for place in places_of(content, name, start, end):
            yield (start := count(start, place))
        count(start, end)

    def value(content: bytes, name: bytes, start: int, end: int) -> bytes:
        return value_of(content, name, start, count(start, end))

    monkeypatch.setattr(dsn_fields, "places_of", places)
    monkeypatch.setattr(dsn_fields, "value_of", value)
    head, tail = dsn().split(b"Status: 5.1.1\r\n", 1)
    content = Counted(head + b"\r\n" + part * 2000 + b"\r\n" + tail)
    reports_of(content)
    assert looked_at < 6 * len(content)
