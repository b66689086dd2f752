"""Defects of passive copies of mailbox databases: what is made of logs that come (TP-4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from defects.decisions import does
from defects.defect import Context, Defect
from defects.settings import goes_by
from defects.store import replays
from nodes.core.config.config import NodeConfig
from nodes.core.copies.local_copy import CopyHere
from nodes.core.interface.copy_changes import ReplayLog
from nodes.core.interface.effects import ChangeCopy
from nodes.core.interface.inputs import CopyNotChanged
from nodes.core.model.database_copy import ReplicationLog
from nodes.store.mailbox.database import MailboxDatabase

FORGET = (
    "DELETE FROM copies WHERE message_row = (SELECT max(message_row) FROM messages)",
    "DELETE FROM messages WHERE message_row = (SELECT max(message_row) FROM messages)",
)
ALTER = (
    "UPDATE messages SET content = CAST(replace(content, x'0d0a', x'0a') AS BLOB) "
    "WHERE message_row = (SELECT max(message_row) FROM messages)",
)
SHOW_TO_ONE = (
    "DELETE FROM copies WHERE message_row = (SELECT max(message_row) FROM messages) "
    "AND mailbox_id > (SELECT min(mailbox_id) FROM copies "
    "WHERE message_row = (SELECT max(message_row) FROM messages))",
)


def on_top(statements: tuple[str, ...], every: int, db: sqlite3.Connection, number: int) -> None:
    if number % every == 0:
        for statement in statements:
            db.execute(statement)


@contextmanager
def takes_in_no_more_than(logs: int) -> Iterator[None]:
    """Later ones are refused, each when all of it has come."""
    change = MailboxDatabase.change

    def changed(self: MailboxDatabase, asked: ChangeCopy, fetch: Any) -> Any:
        if isinstance(asked.what, ReplayLog) and asked.what.log.number > logs:
            return CopyNotChanged(asked.change, "no room for logs")
        return change(self, asked, fetch)

    with patch.object(MailboxDatabase, "change", changed):
        yield


def gives_its_copy_up(at_log: int) -> Context:
    """An active copy that has made this log is said to have failed."""

    def made(method: Callable[..., None], copy: CopyHere, log: ReplicationLog) -> None:
        method(copy, log)
        if log.number == at_log:
            copy.fail("it cannot be read")

    return does(CopyHere, "made", made)


def lags_behind_by(lag_ms: int) -> Context:
    """Every copy, whatever its ReplayLagTime is to be."""

    def lagged(config: NodeConfig) -> NodeConfig:
        copies = {
            name: tuple(replace(copy, replay_lag_ms=lag_ms) for copy in those)
            for name, those in config.copies.items()
        }
        return replace(config, copies=copies)

    return goes_by(lagged)


DAY_MS = 24 * 60 * 60_000
SWITCHOVER, AGREE = "lossless-switchover", ("copies_agree",)
DEFECTS = (
    Defect(
        "takes-in-one-log-in-ten-without-its-message",
        "A passive copy says that it has replayed a log, and of each tenth it stores nothing.",
        "TP-4", "lossy-failover", AGREE, lambda: replays(partial(on_top, FORGET, 10)),
    ),
    Defect(
        "replays-one-log-in-fifty-with-another-text",
        "In a passive copy the line ends of one message in fifty are others.",
        "TP-4", "lossy-failover", AGREE, lambda: replays(partial(on_top, ALTER, 50)),
    ),
    Defect(
        "replays-for-the-first-recipient-alone",
        "A passive copy shows what it replays to the first of several recipients.",
        "TP-4", SWITCHOVER, AGREE, lambda: replays(partial(on_top, SHOW_TO_ONE, 1)),
    ),
    Defect(
        "refuses-logs-from-the-twentieth-on",
        "A passive copy refuses each log from the twentieth on, when all of it has come.",
        "TP-4", SWITCHOVER, AGREE, lambda: takes_in_no_more_than(20),
    ),
    Defect(
        "keeps-logs-for-a-day",
        "A passive copy takes in what logs say a day after they were made.",
        "TP-4", "lossy-failover", AGREE, lambda: lags_behind_by(DAY_MS),
    ),
    Defect(
        "gives-its-copy-up",
        "An active copy that is whole is said to have failed.",
        "TP-4", SWITCHOVER, AGREE, lambda: gives_its_copy_up(20),
    ),
)  # fmt: skip
