"""A mailbox shows a message once, within the window, and a delivery is whole or not at all (DD-1,
DD-2).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nodes.core.interface.effects import CleanUpDeliveredTo, DeliverToMailboxes
from nodes.core.interface.inputs import DeliveredToCleanedUp, MailboxesDelivered
from nodes.core.model.message import Header
from nodes.store.dump import mailbox_rows
from nodes.store.mailbox.database import MailboxDatabase, mailbox_file
from tests.nodes.store.samples import NOW_MS

ONE, TWO = "db1-user01@shadowlab.example", "db1-user02@shadowlab.example"
WINDOW_MS = 3_600_000


@pytest.fixture
def mailbox(tmp_path: Path) -> Iterator[MailboxDatabase]:
    database = MailboxDatabase.open(tmp_path, "DB1", "par-mbx1")
    yield database
    database.close()


def asked(
    *recipients: str,
    message_id: str = "<m1@outside.example>",
    submitted_ms: int | None = NOW_MS,
    at_ms: int = NOW_MS,
) -> DeliverToMailboxes:
    header = Header(message_id, submitted_ms, "subject")
    return DeliverToMailboxes(
        1, "DB1", header, "a@outside.example", recipients, 42, "in:1", at_ms, WINDOW_MS
    )


def deliver(
    mailbox: MailboxDatabase, what: DeliverToMailboxes, content: bytes
) -> MailboxesDelivered:
    answer = mailbox.deliver(what, content)
    assert isinstance(answer, MailboxesDelivered)
    return answer


def visible(folder: Path) -> list[object]:
    return [row["mailbox"] for row in mailbox_rows(mailbox_file(folder, "DB1"), NOW_MS)]


def test_each_recipient_sees_one_copy(tmp_path: Path, mailbox: MailboxDatabase) -> None:
    answer = deliver(mailbox, asked(ONE, TWO), b"body")
    assert answer == MailboxesDelivered(1, (ONE, TWO), ())
    assert visible(tmp_path) == [ONE, TWO]


def test_a_second_copy_is_turfed_for_those_who_have_it_only(
    tmp_path: Path, mailbox: MailboxDatabase
) -> None:
    deliver(mailbox, asked(ONE), b"body")
    answer = deliver(mailbox, asked(ONE, TWO), b"body")
    assert answer == MailboxesDelivered(1, (TWO,), (ONE,))
    assert visible(tmp_path) == [ONE, TWO]


def test_the_same_message_id_with_another_date_is_another_message(
    mailbox: MailboxDatabase,
) -> None:
    deliver(mailbox, asked(ONE), b"body")
    assert deliver(mailbox, asked(ONE, submitted_ms=NOW_MS + 1000), b"body").delivered == (ONE,)


def test_two_copies_without_a_date_are_the_same_message(mailbox: MailboxDatabase) -> None:
    deliver(mailbox, asked(ONE, submitted_ms=None), b"body")
    assert deliver(mailbox, asked(ONE, submitted_ms=None), b"body").duplicates == (ONE,)


def test_messages_without_message_id_are_never_duplicates(mailbox: MailboxDatabase) -> None:
    deliver(mailbox, asked(ONE, message_id=""), b"body")
    assert deliver(mailbox, asked(ONE, message_id=""), b"another").delivered == (ONE,)


@pytest.mark.parametrize(
    ("later_ms", "shown"), [(WINDOW_MS, ()), (WINDOW_MS + 1, (ONE,))], ids=["within", "after"]
)
def test_an_entry_counts_as_gone_when_the_window_is_over(
    later_ms: int, shown: tuple[str, ...], mailbox: MailboxDatabase
) -> None:
    deliver(mailbox, asked(ONE), b"body")
    assert deliver(mailbox, asked(ONE, at_ms=NOW_MS + later_ms), b"body").delivered == shown


def test_a_cleanup_takes_what_the_window_covers_no_more_a_page_at_a_time(
    mailbox: MailboxDatabase,
) -> None:
    for number in range(5):
        deliver(mailbox, asked(ONE, message_id=f"<m{number}@x>", at_ms=NOW_MS + number), b"body")
    clean = CleanUpDeliveredTo("DB1", NOW_MS + 3, 2)
    assert mailbox.clean_up(clean) == DeliveredToCleanedUp("DB1", 2, 3, more=True)
    assert mailbox.clean_up(clean) == DeliveredToCleanedUp("DB1", 1, 2)
    again = deliver(mailbox, asked(ONE, message_id="<m3@x>", at_ms=NOW_MS + 4), b"body")
    assert again.duplicates == (ONE,)


def test_a_mailbox_is_the_same_in_capitals(mailbox: MailboxDatabase) -> None:
    deliver(mailbox, asked(ONE), b"body")
    assert deliver(mailbox, asked(ONE.upper()), b"body").duplicates == (ONE.upper(),)


def test_a_recipient_named_twice_sees_one_copy(tmp_path: Path, mailbox: MailboxDatabase) -> None:
    deliver(mailbox, asked(ONE, ONE), b"body")
    assert visible(tmp_path) == [ONE]


def test_delivered_to_survives_closing(tmp_path: Path, mailbox: MailboxDatabase) -> None:
    deliver(mailbox, asked(ONE), b"body")
    mailbox.close()
    again = MailboxDatabase.open(tmp_path, "DB1", "par-mbx1")
    assert deliver(again, asked(ONE), b"body").duplicates == (ONE,)
    again.close()


def test_a_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    MailboxDatabase.open(tmp_path, "DB1", "par-mbx2").close()
    with closing(sqlite3.connect(mailbox_file(tmp_path, "DB1"))) as file:
        file.execute("PRAGMA user_version = 1")
    with pytest.raises(sqlite3.DatabaseError, match="schema version 1: not 5, today's"):
        MailboxDatabase.open(tmp_path, "DB1", "par-mbx2")
