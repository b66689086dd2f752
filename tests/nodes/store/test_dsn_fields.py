"""What a DSN says of whom is read from its fields, and from nothing else."""

from __future__ import annotations

import pytest

from nodes.store.dsn_fields import reports_of

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


def dsn(kind: bytes = b"multipart/report", status: bytes = b"message/delivery-status") -> bytes:
    head = b'From: <>\nContent-Type: %s; report-type=delivery-status; boundary="=b"\n\n' % kind
    parts = (
        b"--=b\nContent-Type: text/plain\n\nIt failed.\n\n--=b\nContent-Type: %s\n\n%s\n--=b--\n"
    )
    return (head + parts % (status, FIELDS)).replace(b"\n", b"\r\n")


def test_names_each_recipient_with_what_is_said_of_it() -> None:
    assert reports_of(dsn()) == [
        {"recipient": "bob@x.example", "action": "failed"},
        {"recipient": "eve@x.example", "action": "delayed"},
    ]


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


def test_what_no_text_can_hold_is_shown_all_the_same() -> None:
    content = dsn().replace(b"Bob@X", b"b\xfc\xdf@x")
    assert reports_of(content)[0]["recipient"].endswith("@x.example")
    assert reports_of(content)[0]["recipient"].isascii()
