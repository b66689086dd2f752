"""What effects that end on disk do to the databases of a node, whoever says when.

Commits that wait while one is being written share the next transaction, so that many waiting
messages cost one sync of the disk. What the disk refuses is an answer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from nodes.core.interface.effects import (
    ChangeCopy,
    CleanUpDeliveredTo,
    Commit,
    DeliverToMailboxes,
    ExpireSafetyNet,
    MeasureConverted,
    ReadSafetyNet,
)
from nodes.core.interface.inputs import (
    Committed,
    ConvertedMeasured,
    ConvertedNotMeasured,
    CopyNotChanged,
    DeliveredToCleanedUp,
    Input,
    MailboxDeliveryFailed,
)
from nodes.core.interface.queue_changes import InsertMessage, InsertShadow
from nodes.shell.storage.bodies import Bodies
from nodes.store.mailbox.database import MailboxDatabase
from nodes.store.queue.changes import BodyGone
from nodes.store.queue.database import Halfway, QueueDatabase

Write: TypeAlias = Commit | ExpireSafetyNet | ReadSafetyNet | MeasureConverted
Store: TypeAlias = DeliverToMailboxes | ChangeCopy | CleanUpDeliveredTo
Answers: TypeAlias = tuple[Input, ...]


def next_group(waiting: list[Write]) -> list[Write]:
    """Taken from what waits, in order, as far as it goes into one transaction."""
    kinds = [isinstance(effect, Commit) for effect in waiting]
    count = (kinds.index(False) if False in kinds else len(kinds)) or 1
    group = waiting[:count]
    del waiting[:count]
    return group


def write_group(
    database: QueueDatabase, bodies: Bodies, group: Sequence[Write], halfway: Halfway = lambda: None
) -> Answers:
    """The answers, in order. `halfway` is called in the middle of a transaction of several."""
    first = group[0]
    if isinstance(first, ExpireSafetyNet):
        return (database.expire_safety_net(first.now_ms),)
    if isinstance(first, ReadSafetyNet):
        return (database.read_safety_net(first),)
    if isinstance(first, MeasureConverted):
        return (_measured(first, bodies),)
    commits = [effect for effect in group if isinstance(effect, Commit)]
    return database.commit(commits, bodies.fetch, halfway)


def _measured(asked: MeasureConverted, bodies: Bodies) -> Input:
    try:
        sizes = tuple(bodies.size_once_converted(each, asked.encoder) for each in asked.bodies)
    except (sqlite3.Error, BodyGone) as error:
        return ConvertedNotMeasured(asked.measuring, str(error))
    return ConvertedMeasured(asked.measuring, sizes)


def let_go_of_stored(bodies: Bodies, effect: Write, answer: Input) -> None:
    """A body that is in the database is not kept in memory too."""
    if isinstance(effect, Commit) and isinstance(answer, Committed):
        for body in _stored_by(effect):
            bodies.drop(body)


def _stored_by(commit: Commit) -> Iterable[str]:
    return (
        change.body for change in commit.changes if isinstance(change, InsertMessage | InsertShadow)
    )


def store(mailboxes: Callable[[str], MailboxDatabase], bodies: Bodies, effect: Store) -> Input:
    """Deliver into a mailbox database, change a copy of one, or clean up its DeliveredTo;
    `mailboxes` opens it by name.
    """
    try:
        database = mailboxes(effect.database)
        if isinstance(effect, ChangeCopy):
            return database.change(effect, bodies.fetch)
        if isinstance(effect, CleanUpDeliveredTo):
            return database.clean_up(effect)
        return database.deliver(effect, bodies.fetch(effect.body))
    except (sqlite3.Error, OSError, BodyGone) as error:
        return _not_stored(effect, str(error))


def _not_stored(effect: Store, reason: str) -> Input:
    if isinstance(effect, ChangeCopy):
        return CopyNotChanged(effect.change, reason)
    if isinstance(effect, CleanUpDeliveredTo):
        return DeliveredToCleanedUp(effect.database, 0, 0, failure=reason)
    return MailboxDeliveryFailed(effect.delivery, reason)
