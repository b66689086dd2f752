"""Rows are Exchange's: 30 fields in order, quoted where they must be, read by any CSV reader."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.core.config.config import NodeConfig, read_config
from nodes.core.interface.effects import LogConnectivity, LogTracking
from nodes.core.model.message import UNREADABLE_DATE_MS, Envelope, Header
from nodes.shell.logs.exchange import (
    CONNECTIVITY_FIELDS,
    TRACKING_FIELDS,
    VERSION,
    Stamp,
    Writer,
    connectivity_row,
    header_lines,
    tracking_row,
)
from tests.nodes.shell.organisation import ORIGIN_MS, SITES, fqdn

FIELDS = TRACKING_FIELDS.split(",")
STAMP = Stamp(ORIGIN_MS + 61_250, 123_456_789)


def config() -> NodeConfig:
    servers = [{"Name": n, "Fqdn": fqdn(n), "Role": "mailbox", "Site": s} for n, s in SITES.items()]
    return read_config(
        {
            "Name": "par-mbx1",
            "AcceptedDomain": "shadowlab.example",
            "Servers": servers,
            "Databases": [],
            "Mailboxes": [],
        }
    )


WRITER = Writer(config(), "0a1b2c3d-1111-4222-8333-444444444444", {"lyo-mbx1": "10.0.0.3"})
ROW = LogTracking(
    "RECEIVE",
    "SMTP",
    4_294_967_297,
    "net-1",
    Header("<m1@outside.example>", ORIGIN_MS + 60_000, "a subject"),
    Envelope("sender01@outside.example", ("a@shadowlab.example", "b@shadowlab.example")),
    4096,
    ("a@shadowlab.example", "b@shadowlab.example"),
    client_address="10.0.0.9",
)


def written(row: LogTracking) -> dict[str, str]:
    (values,) = csv.reader([tracking_row(row, WRITER, STAMP)])
    return dict(zip(FIELDS, values, strict=True))


def test_there_are_thirty_fields() -> None:
    assert len(FIELDS) == 30
    assert written(ROW).keys() == set(FIELDS)


def test_a_row_says_what_happened_when_and_where() -> None:
    row = written(ROW)
    assert row["date-time"] == "2026-01-05T08:01:01.250Z"
    assert (row["event-id"], row["source"]) == ("RECEIVE", "SMTP")
    assert (row["client-ip"], row["server-hostname"]) == ("10.0.0.9", fqdn("par-mbx1"))
    assert row["recipient-address"] == "a@shadowlab.example;b@shadowlab.example"
    assert (row["recipient-count"], row["total-bytes"]) == ("2", "4096")
    assert row["directionality"] == "Incoming"


def test_custom_data_ends_with_the_database_and_the_monotonic_time() -> None:
    row = written(replace(ROW, custom=(("ShadowServer", "lyo-mbx1"), ("Text", "a;b"))))
    assert row["custom-data"] == (
        "S:ShadowServer=lyo-mbx1;S:Text=a,b;"
        "S:DatabaseId=0a1b2c3d-1111-4222-8333-444444444444;S:Mono=123456789"
    )


def test_another_server_is_named_by_its_fqdn_and_address() -> None:
    row = written(replace(ROW, event="SEND", server="lyo-mbx1"))
    assert (row["server-hostname"], row["server-ip"]) == (fqdn("lyo-mbx1"), "10.0.0.3")


@pytest.mark.parametrize("event", ["SEND", "DELIVER"])
def test_origination_time_is_shown_where_exchange_shows_it(event: str) -> None:
    assert written(replace(ROW, event=event))["message-info"] == "2026-01-05T08:01:00.000Z"
    assert written(ROW)["message-info"] == ""


def test_the_null_sender_is_never_an_empty_return_path() -> None:
    row = written(replace(ROW, envelope=Envelope("", ROW.recipients)))
    assert (row["return-path"], row["directionality"]) == ("<>", "Originating")


def test_an_event_without_a_status_leaves_the_field_empty() -> None:
    assert len(ROW.recipients) == 2
    assert written(ROW)["recipient-status"] == ""


def test_a_status_is_given_for_each_recipient() -> None:
    assert written(replace(ROW, recipient_status="550 4.4.7"))["recipient-status"] == (
        "550 4.4.7;550 4.4.7"
    )


def test_the_id_of_a_row_has_the_shape_of_a_guid() -> None:
    assert [len(part) for part in written(ROW)["log-id"].split("-")] == [8, 4, 4, 4, 12]


@given(st.text())
def test_any_text_stays_in_its_field_and_on_its_line(text: str) -> None:
    line = tracking_row(replace(ROW, source_context=text), WRITER, STAMP)
    flat = text.replace("\r", " ").replace("\n", " ").replace("\t", " ")
    assert not {"\r", "\n"} & set(line)
    assert next(csv.reader([line]))[FIELDS.index("source-context")] == flat


def test_header_lines_are_spelt_as_in_real_files() -> None:
    lines = header_lines("Message Tracking Log", TRACKING_FIELDS, ORIGIN_MS).splitlines()
    assert lines[:4] == [
        "#Software: Microsoft Exchange Server",
        f"#Version: {VERSION}",
        "#Log-type: Message Tracking Log",
        "#Date: 2026-01-05T08:00:00.000Z",
    ]
    assert lines[4] == f"#Fields: {TRACKING_FIELDS}"


def test_a_connectivity_row_ends_with_the_monotonic_time() -> None:
    row = LogConnectivity("out-1", "lyo-mbx1", ">", "XQDISCARD contact;Peer=lyo-mbx1")
    assert CONNECTIVITY_FIELDS.count(",") == 5
    assert connectivity_row(row, STAMP) == (
        "2026-01-05T08:01:01.250Z,out-1,SMTP,lyo-mbx1,>,"
        "XQDISCARD contact;Peer=lyo-mbx1;Mono=123456789"
    )


def test_a_row_speaks_of_one_clock_whatever_the_date_is_ahead_of_the_core() -> None:
    promoted = replace(ROW, custom=(("LastContact", ORIGIN_MS), ("Told", "2026-01-05T08:00:00Z")))
    ahead = Stamp(ORIGIN_MS + 61_250, 123_456_789, 3_600_000)
    asked = LogConnectivity("out-1", "lyo-mbx1", ">", "XQDISCARD contact", ORIGIN_MS)
    assert connectivity_row(asked, ahead).endswith(";Asked=2026-01-05T09:00:00.000Z;Mono=123456789")
    (values,) = csv.reader([tracking_row(promoted, WRITER, ahead)])
    custom = dict(zip(FIELDS, values, strict=True))["custom-data"]
    assert custom.startswith("S:LastContact=2026-01-05T09:00:00.000Z;S:Told=2026-01-05T08:00:00Z;")
    assert written(promoted)["custom-data"].startswith("S:LastContact=2026-01-05T08:00:00.000Z;")


def test_addresses_with_what_separates_them_stay_apart() -> None:
    """Two recipients, and one that reads like two."""
    lists = (('"a;b"@x', "c@x"), ('"a', 'b"@x', "c@x"), (r'"a\x3bb"@x', "c@x"))
    shown = [written(replace(ROW, recipients=each))["recipient-address"] for each in lists]
    assert [column.split(";") for column in shown] == [
        [r'"a\x3bb"@x', "c@x"],
        ['"a', 'b"@x', "c@x"],
        [r'"a\x5cx3bb"@x', "c@x"],
    ]


def test_of_a_date_that_cannot_be_read_no_time_is_shown() -> None:
    header = replace(ROW.header, submitted_ms=UNREADABLE_DATE_MS - 7)
    assert written(replace(ROW, event="DELIVER", header=header))["message-info"] == ""
