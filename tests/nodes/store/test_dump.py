"""A dump shows what the databases hold and changes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nodes.core.interface.effects import DeliverToMailboxes
from nodes.core.interface.queue_changes import (
    FinishFork,
    InsertDiscard,
    InsertMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
)
from nodes.core.model.message import Header
from nodes.store import dump
from nodes.store.content_conversion import converted
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.message_digest import digest_of
from tests.nodes.next_hops import DB1, EXT1
from tests.nodes.store.samples import (
    NOW_MS,
    discard,
    fetch,
    open_queue,
    primary_message,
    shadow_message,
)

CONTENT = b"From: <a@outside.example>\r\n\r\nbody\r\n"


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """The data folder of a node that was killed: its WAL was never folded in."""
    alive, data = tmp_path / "alive", tmp_path / "data"
    alive.mkdir()
    with open_queue(alive).database as database:
        both = primary_message(1, next_hops=(DB1, EXT1))
        database.apply((InsertMessage(both, "in:1"),), fetch)
        database.apply((FinishFork(1, DB1, "done", NOW_MS + 5),), fetch)
        sent = (
            InsertMessage(primary_message(2), "in:2"),
            FinishFork(2, DB1, "done", NOW_MS + 60_000),
            MoveToPrimarySafetyNet(2, NOW_MS + 60_000, NOW_MS + 120_000),
            InsertDiscard(discard(2)),
        )
        database.apply(sent, fetch)
        held, acknowledged = shadow_message(3), shadow_message(4)
        database.apply((InsertShadow(held, "in:1", NOW_MS + 7),), fetch)
        database.apply((InsertShadow(acknowledged, "in:1", NOW_MS + 7),), fetch)
        database.apply((MoveToShadowSafetyNet(acknowledged.key, NOW_MS + 8, NOW_MS + 9),), fetch)
        shutil.copytree(alive, data)
    mailbox = MailboxDatabase.open(data, "DB1", "par-mbx1")
    header = Header("<m1@outside.example>", NOW_MS + 1, "")
    delivery = DeliverToMailboxes(
        1, "DB1", header, "ann@outside.example", ("db1-user01@shadowlab.example",), 42, "",
        NOW_MS + 2, 0,
    )  # fmt: skip
    mailbox.deliver(delivery, CONTENT)
    mailbox.close()
    return data


def rows(node: Path, queue: str) -> list[dict[str, object]]:
    return [r for r in dump.queue_rows(node / "queue.db", NOW_MS) if r["queue"] == queue]


def test_the_delivery_queue_shows_a_line_per_unfinished_fork(node: Path) -> None:
    assert rows(node, "delivery") == [
        {
            "queue": "delivery",
            "message_id": "<m000001@outside.example>",
            "network_message_id": "net-1",
            "internal_id": 1,
            "recipients": ["db1-user02@shadowlab.example"],
            "primary": None,
            "primary_database_id": None,
            "shadow_server": "lyo-mbx1",
            "entered_ms": 0,
            "delivered_ms": None,
            "expires_ms": None,
            "state": "queued",
        }
    ]


def test_the_shadow_queue_names_the_primary(node: Path) -> None:
    (row,) = rows(node, "shadow")
    assert (row["primary"], row["primary_database_id"], row["expires_ms"]) == (
        "par-mbx1",
        "db-a",
        7,
    )


def test_both_safety_nets_show_delivery_and_expiry_since_the_origin(node: Path) -> None:
    kept = rows(node, "primary-safety-net") + rows(node, "shadow-safety-net")
    assert [(r["delivered_ms"], r["expires_ms"]) for r in kept] == [(60_000, 120_000), (8, 9)]


def test_a_discard_notification_names_its_message(node: Path) -> None:
    (row,) = rows(node, "discard")
    assert (row["message_id"], row["shadow_server"]) == ("<m000002@outside.example>", "lyo-mbx1")


def test_a_mailbox_shows_a_line_per_visible_copy(node: Path) -> None:
    (path,) = dump.mailbox_files(node).values()
    assert list(dump.mailbox_rows(path, NOW_MS)) == [
        {
            "mailbox": "db1-user01@shadowlab.example",
            "message_id": "<m1@outside.example>",
            "sender": "ann@outside.example",
            "submitted_ms": NOW_MS + 1,
            "delivered_ms": 2,
            "size_bytes": 42,
            "server": "par-mbx1",
            **digest_of(CONTENT).columns(),
            "reports": [],
            "in_reply_to": None,
            "references": None,
            "journal": None,
        }
    ]


TEXT = b"MIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\n\r\nX = 1\r\n"
STORED = converted(TEXT, "UseQP")


def test_a_mailbox_says_of_an_encoded_message_what_it_says_decoded(tmp_path: Path) -> None:
    header = Header("<m1@outside.example>", NOW_MS)
    asked = DeliverToMailboxes(1, "DB1", header, "a@b", ("c@d",), len(STORED), "", NOW_MS, 0)
    mailbox = MailboxDatabase.open(tmp_path, "DB1", "par-mbx1")
    mailbox.deliver(asked, STORED)
    (row,) = dump.mailbox_rows_in(mailbox.connection, NOW_MS)
    mailbox.close()
    sent = digest_of(TEXT).columns()
    assert row["content_bytes"] == row["size_bytes"] == len(STORED)
    assert row["content_transfer_encoding"] == "quoted-printable"
    assert {name: row[f"decoded_{name.removeprefix('content_')}"] for name in sent} == sent


def test_queues_name_the_encoding_of_what_has_one(tmp_path: Path) -> None:
    bodies = {"in:1": STORED, "in:2": b"quoted-printable is a word here\r\n"}.__getitem__
    with open_queue(tmp_path).database as database:
        database.apply((InsertMessage(primary_message(1), "in:1"),), bodies)
        database.apply((InsertMessage(primary_message(2), "in:2"),), bodies)
        database.apply((InsertShadow(shadow_message(3), "in:1", NOW_MS),), bodies)
        database.apply((InsertDiscard(discard(1)),), bodies)
        found = [
            (row["queue"], row["internal_id"], row.get("content_transfer_encoding"))
            for row in dump.queue_rows_in(database.connection, NOW_MS)
        ]
    assert found == [
        ("delivery", 1, "quoted-printable"),
        ("delivery", 2, None),
        ("shadow", 3, "quoted-printable"),
        ("discard", 1, None),
    ]


def test_looking_changes_no_file(node: Path) -> None:
    before = {path: path.read_bytes() for path in node.iterdir()}
    assert dump.main([str(node)]) == 0
    assert {path: path.read_bytes() for path in node.iterdir()} == before


def test_the_program_prints_a_json_object_a_line(
    node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dump.main([str(node), "--only", "mailboxes"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["mailbox"] == "db1-user01@shadowlab.example"


def test_a_file_that_cannot_be_read_is_said_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "queue.db").write_bytes(b"x" * 8192)
    assert dump.main([str(tmp_path)]) == 1
    assert "not a database" in capsys.readouterr().err
