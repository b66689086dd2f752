"""A DSN says the same to people and to programs (RFC 3464)."""

from __future__ import annotations

from dataclasses import replace
from email import message_from_string
from typing import Any

import pytest

from nodes.core.delivery.dsn import Report, delay_report, non_delivery_report
from nodes.core.model.identity import Identity
from nodes.core.model.message import PrimaryMessage
from nodes.shell.smtp.line_ends import can_be_sent
from nodes.store.dsn_fields import reports_of
from tests.nodes.core.world import OUTSIDE, START_MS, USER1, USER2, config
from tests.nodes.store.samples import header, primary_message

WHOM = (OUTSIDE, USER2)


def given_up(status: str = "550 5.1.1 no such user") -> Report:
    made = non_delivery_report(
        config("par1"), Identity(), _message(), WHOM, status, START_MS + 1500
    )
    assert made is not None
    return made


def late() -> Report:
    made = delay_report(config("par1"), Identity(), _message(), WHOM, START_MS)
    assert made is not None
    return made


def _message() -> PrimaryMessage:
    message = primary_message(7)
    return replace(message, envelope=replace(message.envelope, sender=USER1))


def _parts(report: Report) -> tuple[Any, str, Any]:
    """The message, its text, and its fields: those of the server, then those of each recipient."""
    whole: Any = message_from_string(report.body.removeprefix("made:"))
    assert whole.get_content_type() == "multipart/report"
    assert whole.get_param("report-type") == "delivery-status"
    text, fields = whole.get_payload()
    return whole, text.get_payload(), fields.get_payload()


def test_its_header_refers_to_the_message_that_it_is_about() -> None:
    whole, _, _ = _parts(given_up())
    assert whole["In-Reply-To"] == whole["References"] == header(7).message_id
    assert whole["Subject"] == "Undeliverable: message 7"
    assert whole["To"] == USER1
    assert not whole.defects


@pytest.mark.parametrize("message_id", [r"<a\xff@x>", r"<a\x20b@x>", "<" + "i" * 996 + ">"])
def test_it_refers_to_no_message_that_it_cannot_name_in_a_line_of_ascii(message_id: str) -> None:
    about = replace(_message(), header=replace(header(7), message_id=message_id))
    made = non_delivery_report(config("par1"), Identity(), about, WHOM, "550 no", START_MS)
    assert made is not None
    assert "In-Reply-To" not in made.body
    assert "References" not in made.body or len(message_id) > 980
    assert max(map(len, made.body.split("\r\n"))) <= 998


@pytest.mark.parametrize(("report", "action"), [(given_up(), "failed"), (late(), "delayed")])
def test_it_names_every_recipient_to_people_and_to_programs(report: Report, action: str) -> None:
    _, text, _ = _parts(report)
    assert all(f"  {each}: " in text for each in WHOM)
    status = "5.1.1" if action == "failed" else "4.4.7"
    said = {"action": action, "status": status, "reporting_mta": "par1.lab.example"}
    named = [{"recipient": each, **said} for each in WHOM]
    assert reports_of(report.body.removeprefix("made:").encode()) == named


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ("550 5.1.1 no such user", "5.1.1"),
        ("550 4.4.7 QUEUE.Expired", "4.4.7"),
        ("554 no such user", "5.0.0"),
        ("554 5.1 x", "5.0.0"),
        ("554", "5.0.0"),
    ],
)
def test_the_status_is_the_enhanced_one_of_the_reply(status: str, field: str) -> None:
    _, _, (server, *recipients) = _parts(given_up(status))
    assert server["Reporting-MTA"] == "dns; par1.lab.example"
    assert {each["Status"] for each in recipients} == {field}
    assert {each["Diagnostic-Code"] for each in recipients} == {f"smtp; {status}"}


def test_its_size_is_that_of_its_text() -> None:
    report = given_up()
    assert report.message.size_bytes == len(report.body.removeprefix("made:"))


@pytest.mark.parametrize("message_id", ["<m@x.example>", f"<{'m' * 984}@x.example>"])
def test_no_line_is_longer_than_a_line_may_be(message_id: str) -> None:
    """Whatever the message says of itself, or nobody would take the DSN."""
    original = _message()
    long = replace(original.header, message_id=message_id, subject="\U0001f4ee" * 255)
    made = non_delivery_report(
        config("par1"), Identity(), replace(original, header=long), WHOM, "550 5.1.1 x", START_MS
    )
    assert made is not None
    content = made.body.removeprefix("made:").encode()
    assert max(map(len, content.split(b"\r\n"))) <= 998
    assert can_be_sent(content)
    assert made.message.size_bytes == len(content)
    whole, _, _ = _parts(made)
    assert str(whole["Subject"]).startswith("Undeliverable: ")
    assert whole["In-Reply-To"] in (None, message_id)
    assert len(reports_of(content)) == len(WHOM)
