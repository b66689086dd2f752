"""What is written by the grammar of mailboxes that move is read back by it, and nothing else is."""

from __future__ import annotations

import pytest

from nodes.core.interface.effects import ShipMailbox
from nodes.core.interface.inputs import MailboxAnnounced, MoveRequested
from nodes.shell.verbs.mailbox_moves import (
    VERB,
    format_prologue,
    format_request,
    parse_announcement,
    parse_request,
)

WHO = "db1-user01@shadowlab.example"


def test_a_request_is_read_back() -> None:
    verb, *words = format_request(WHO, "DB2")
    assert verb == VERB
    assert parse_request("in-1", " ".join(words)) == MoveRequested("in-1", WHO, "DB2")


def test_the_announcement_of_a_mailbox_is_read_back() -> None:
    verb, *words = format_prologue(ShipMailbox("DB2", WHO))
    assert verb == "XMAILBOX"
    assert parse_announcement("in-1", " ".join(words)) == MailboxAnnounced("in-1", "DB2", WHO)


@pytest.mark.parametrize("arguments", ["", " ", "a", "a b c", "a b ", " a b", "a\tb", "a \xe4"])
def test_anything_else_is_neither(arguments: str) -> None:
    assert parse_request("in-1", arguments) is None
    assert parse_announcement("in-1", arguments) is None
