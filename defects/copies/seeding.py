"""Defects of servers that come anew or are gone for good (TP-8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from defects.copies.manager import manager
from defects.copies.replicating import FORGET, on_top
from defects.defect import Defect
from defects.door import Door, behind
from defects.promoting import span
from nodes.core.interface.copy_changes import OpenCopy, SeedCopy
from nodes.core.interface.effects import ChangeCopy, Effect, ShipSeed, Transmit
from nodes.core.interface.inputs import CopyStatusAnswered, DatabaseOpened, Input
from nodes.core.model.database_copy import CopyState
from nodes.store.mailbox.database import MailboxDatabase


class NamesItsDatabaseAfterItself(Door):
    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, DatabaseOpened):
            return (replace(happened, database_id=f"the-database-of-{self.me}"),)
        return (happened,)


class TakesWhatIsSeededForWhole(Door):
    """And for the best of all."""

    def enters(self, happened: Input) -> Iterable[Input]:
        if isinstance(happened, CopyStatusAnswered) and happened.status.state is CopyState.SEEDING:
            whole = replace(happened.status, state=CopyState.PASSIVE, last_log=1_000_000)
            return (replace(happened, status=whole),)
        return (happened,)


class OpensAnEmptyCopy(Door):
    """As on the day on which the database was made."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, ChangeCopy) and isinstance(effect.what, OpenCopy):
            is_first = self.config.databases[effect.database] == self.me
            state = CopyState.ACTIVE if is_first else CopyState.PASSIVE
            return (replace(effect, what=replace(effect.what, state=state)),)
        return (effect,)


class SendsNoSeed(Door):
    """Whoever waits for one waits until the session ends."""

    def leaves(self, effect: Effect) -> Iterable[Effect]:
        is_seed = isinstance(effect, Transmit) and isinstance(effect.prologue, ShipSeed)
        return () if is_seed else (effect,)


@contextmanager
def seeds(then: Callable[[Any], object]) -> Iterator[None]:
    """Whenever a copy has taken in a seed, `then(database)` comes on top."""
    change = MailboxDatabase.change

    def changed(self: MailboxDatabase, asked: ChangeCopy, fetch: Any) -> Any:
        answer = change(self, asked, fetch)
        if isinstance(asked.what, SeedCopy):
            then(self.connection)
        return answer

    with patch.object(MailboxDatabase, "change", changed):
        yield


ANEW, UNSEEDED, SEEDED = "new-server", "not-seeded-yet", ("copies_seeded",)
DEFECTS = (
    Defect(
        "uses-its-database-id-again",
        "A server gives every queue database that it makes the same id.",
        "TP-8", ANEW, ("databases_new",), lambda: behind(NamesItsDatabaseAfterItself),
    ),
    Defect(
        "mounts-an-empty-copy",
        "A server that came anew opens its copies as if their databases were new.",
        "TP-8", ANEW, SEEDED, lambda: behind(OpensAnEmptyCopy),
    ),
    Defect(
        "activates-a-copy-that-is-not-seeded",
        "Active Manager takes a copy that is to be seeded for the best of all.",
        "TP-8", UNSEEDED, SEEDED, lambda: manager(TakesWhatIsSeededForWhole),
    ),
    Defect(
        "seeds-no-copy",
        "The server of an active copy sends none of the others everything.",
        "TP-8", ANEW, SEEDED, lambda: behind(SendsNoSeed),
    ),
    Defect(
        "loses-one-message-of-a-seed",
        "A copy that is seeded lacks the last message of its seed.",
        "TP-8", ANEW, ("no_loss",), lambda: seeds(lambda db: on_top(FORGET, 1, db, 0)),
    ),
    Defect(
        "waits-for-a-server-that-is-gone",
        "A shadow server waits for weeks for a server that is gone for good.",
        "TP-8", "gone-for-good", ("promotion_on_time", "no_loss"),
        lambda: span(lambda span_ms, _: 1000 * span_ms),
    ),
)  # fmt: skip
