"""Defects of mailboxes that move to another mailbox database: of mail for them, of what they show,
and of what Safety Nets give back (SN-8, DD-3).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.decisions import decides, does
from defects.defect import Context, Defect
from defects.door import Door, behind
from nodes.core.config.config import NodeConfig
from nodes.core.copies.copies import DatabaseCopies
from nodes.core.delivery.tracked import Tracked
from nodes.core.interface.inputs import DirectoryRead, Input
from nodes.core.model.fork_states import ForkMove
from nodes.core.model.next_hop import NextHop
from nodes.core.model.resubmit_request import KeptCopy
from nodes.core.resubmission.request import recipients_in
from nodes.store.mailbox import moves
from nodes.store.mailbox.delivered import NO_DATE, NOTE_DELIVERED, mailbox_id
from nodes.store.mailbox.log_content import LogRecord, to_content

AWAY, HERE = "mailbox-moved-away", "mailbox-moved-here"


class GoesByWhereTheyWere(Door):
    """A mailbox is on its way for a while, and then where it was before."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self._homes = dict(config.mailboxes)

    def enters(self, happened: Input) -> Iterable[Input]:
        if not isinstance(happened, DirectoryRead):
            return (happened,)
        known = tuple(
            replace(each, database=self._homes[each.address]) for each in happened.mailboxes
        )
        return (replace(happened, mailboxes=known),)


class ForgetsAtItsStart(Door):
    """What Active Directory says when it starts."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DirectoryRead) and happened.at_start:
            return (replace(happened, mailboxes=()),)
        return (happened,)


def forgets_what_waits() -> Context:
    """Recipients who would wait for another next hop wait for none."""

    def rerouted(
        method: Callable[..., None],
        self: Tracked,
        next_hop: NextHop,
        recipients: tuple[str, ...],
        to: NextHop,
    ) -> None:
        self.end(next_hop, recipients, ForkMove.EXPIRE, self.came_ms)

    return does(Tracked, "reroute", rerouted)


def resubmits_where_it_was() -> Context:
    def delivered_there(
        decision: Any, database: str, copy: KeptCopy, mailboxes: Mapping[str, str]
    ) -> tuple[str, ...]:
        return copy.recipients if copy.next_hop == NextHop.into(database) else ()

    return decides(recipients_in, delivered_there)


@contextmanager
def takes_delivered_to_along() -> Iterator[None]:
    take_in = moves.take_in

    def taken_in(db: sqlite3.Connection, record: LogRecord) -> None:
        take_in(db, record)
        box = mailbox_id(db, record["address"])
        for message_id, submitted_ms, *_, delivered_ms in record["shown"]:
            dated = NO_DATE if submitted_ms is None else submitted_ms
            db.execute(NOTE_DELIVERED, (box, message_id, dated, delivered_ms))

    with patch.object(moves, "take_in", taken_in):
        yield


@contextmanager
def exports(what: Callable[[list[Any]], list[Any]]) -> Iterator[None]:
    """Of what a mailbox shows `what`."""
    export = moves.export

    def exported(db: sqlite3.Connection, address: str) -> bytes:
        record = json.loads(export(db, address).replace(b"\r\n", b""))
        return to_content(record | {"shown": what(record["shown"])})

    with patch.object(moves, "export", exported):
        yield


def says_moved_at_once() -> Context:
    return does(DatabaseCopies, "all_have", lambda method, self, database, number: True)


DEFECTS = (
    Defect(
        "goes-on-delivering-into-the-old-database",
        "A mailbox that has moved is still taken for one of its old database.",
        "SN-8", AWAY, ("no_loss", "recipients_fit", "routed_as_computed"),
        lambda: behind(GoesByWhereTheyWere),
    ),
    Defect(
        "forgets-at-its-start-who-has-moved",
        "A server that starts takes every mailbox for one of the database that it was in at first.",
        "SN-8", AWAY, ("recipients_fit",), lambda: behind(ForgetsAtItsStart),
    ),
    Defect(
        "forgets-what-waits-for-a-mailbox-that-moves",
        "Mail in the delivery queue of the database that a mailbox leaves is dropped.",
        "SN-8", AWAY, ("no_loss",), forgets_what_waits,
    ),
    Defect(
        "resubmits-to-whoever-was-in-the-database",
        "A Safety Net resubmits to everybody to whom it delivered into the database, moved or not.",
        "SN-8", AWAY, ("resubmission_bounded",), resubmits_where_it_was,
    ),
    Defect(
        "resubmits-not-to-who-came-to-the-database",
        "A Safety Net does not resubmit what went into the database that a mailbox was in before.",
        "SN-8", HERE, ("resubmission_complete",), resubmits_where_it_was,
    ),
    Defect(
        "takes-delivered-to-along",
        "What DeliveredTo knows of a mailbox goes with it to the next database.",
        "DD-3", AWAY, ("duplicates_logged",), takes_delivered_to_along,
    ),
    Defect(
        "moves-empty-mailboxes",
        "A mailbox that moves shows nothing afterwards.",
        "SN-8", AWAY, ("no_loss",), lambda: exports(lambda shown: []),
    ),
    Defect(
        "loses-the-last-message-of-a-mailbox-that-moves",
        "What was delivered last is not seen in the new database.",
        "SN-8", AWAY, ("no_loss",), lambda: exports(lambda shown: shown[:-1]),
    ),
    Defect(
        "moves-the-last-message-twice",
        "What was delivered last is seen twice in the new database.",
        "SN-8", AWAY, ("no_visible_duplicate",), lambda: exports(lambda shown: shown + shown[-1:]),
    ),
    Defect(
        "says-moved-before-every-copy-has-it",
        "A mailbox has moved as soon as the active copy of its new database has it.",
        "SN-8", HERE, ("no_loss",), says_moved_at_once,
    ),
)  # fmt: skip
