"""A journal report says who got a message, and is the same whoever makes it (SM-10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.core.categorizer.categorizer import Categorizer
from nodes.core.categorizer.groups import DistributionGroups
from nodes.core.config.config import NodeConfig
from nodes.core.delivery.dsn import Report
from nodes.core.delivery.journal import Journaling
from nodes.core.engine.work import Work
from nodes.core.model.identity import Identity
from nodes.core.model.message import Envelope, ForkState, PrimaryMessage
from nodes.core.routing.categorizer import forks_of
from nodes.shell.storage.bodies import Bodies
from nodes.store.journal_fields import journal_of
from nodes.store.message_digest import digest_of
from tests.nodes.core.world import OUTSIDE, START_MS, USER1, USER2, config
from tests.nodes.store.samples import header, primary_message

ORIGINAL = b"Message-ID: <m7@x>\r\nSubject: message 7\r\n\r\n--\r\nhello\r\n"


def journaled() -> NodeConfig:
    plain = config("par1")
    return replace(plain, journal_recipients={plain.mailboxes[USER1]: USER2})


def report_of(message: PrimaryMessage, identity: Identity | None = None) -> Report | None:
    node = journaled()
    categorizer = Categorizer(node, Work(lambda event: None), DistributionGroups(node))
    return Journaling(node, identity or Identity(), categorizer).report(message, START_MS)


def message_to(*recipients: str, sender: str = "someone@partner.example") -> PrimaryMessage:
    forks = forks_of(journaled(), recipients)
    return replace(primary_message(7), envelope=Envelope(sender, recipients), forks=forks)


def content_of(report: Report | None) -> bytes:
    assert report is not None
    return Bodies(lambda internal_id: ORIGINAL if internal_id == 7 else None).fetch(report.body)


def test_it_names_everybody_and_has_the_message_in_it() -> None:
    said = journal_of(content_of(report_of(message_to(USER1, USER2))))
    assert said is not None
    assert said["sender"] == "someone@partner.example"
    assert said["message_id"] == header(7).message_id
    assert said["recipients"] == [{"recipient": r, "through": ""} for r in (USER1, USER2)]
    assert said["body_sha256"] == digest_of(ORIGINAL).body_sha256
    assert said["header_sha256"] == digest_of(ORIGINAL).header_sha256


def test_it_goes_to_the_journal_mailbox_as_a_side_effect_of_its_message() -> None:
    made = report_of(message_to(USER1))
    assert made is not None
    assert made.message.envelope == Envelope("", (USER2,))
    assert made.message.side_effect_of == 7


def test_what_a_mailbox_sends_is_reported_too() -> None:
    assert report_of(message_to(OUTSIDE, sender=USER1)) is not None


@pytest.mark.parametrize(
    "message",
    [
        message_to(USER1, sender=""),
        replace(message_to(USER1), resubmit_request="r1"),
        message_to(OUTSIDE),
    ],
    ids=["a report", "back from a Safety Net", "of no journaled database"],
)
def test_nothing_else_is_reported(message: PrimaryMessage) -> None:
    assert report_of(message) is None


def test_another_server_makes_the_same_report() -> None:
    """So duplicate detection drops one of them (DD-1)."""
    one, other = (report_of(message_to(USER1), Identity(name)) for name in ("one", "other"))
    assert one is not None
    assert other is not None
    assert one.message.header == other.message.header
    assert one.message.network_message_id != other.message.network_message_id


def test_after_a_restart_it_is_made_again_where_nothing_has_become_of_the_message() -> None:
    node, message = journaled(), message_to(USER1)
    agent = Journaling(
        node, Identity(), Categorizer(node, Work(lambda event: None), DistributionGroups(node))
    )
    assert agent.report_again(message, START_MS) is not None
    done = replace(message, forks=(replace(message.forks[0], state=ForkState.DONE),))
    assert agent.report_again(done, START_MS) is None


@pytest.mark.parametrize("content", [ORIGINAL, b"X-MS-Journal-Report:\r\n\r\nhello\r\n", b""])
def test_what_is_no_report_says_nothing(content: bytes) -> None:
    assert journal_of(content) is None
