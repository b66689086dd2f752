"""What each change of a `Commit` does to the queue database.

Every statement that expects a state names it and checks how many rows it met. A row that is not
there, or not as expected, is a mistake of this program, never the world's: `StateMismatch`, and the
whole transaction is rolled back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeAlias

from nodes.core.interface.manager_changes import ManagerChange
from nodes.core.interface.queue_changes import (
    Change,
    DeleteMessage,
    DropOldDiscards,
    FinishFork,
    ForgetDiscards,
    InsertDiscard,
    InsertMessage,
    InsertShadow,
    MoveToPrimarySafetyNet,
    MoveToShadowSafetyNet,
    NoteDelayNotified,
    NoteDiscardsAsked,
    PromoteShadow,
    RerouteFork,
    SetActiveCopy,
    SetContact,
    SetShadowServer,
    SplitFork,
)
from nodes.core.interface.resubmit_changes import (
    AdvanceResubmitRequest,
    HeadTaken,
    InsertResubmitRequest,
    RemoveResubmitRequest,
    SetResubmitState,
)
from nodes.core.model.message import BodyHandle, PrimaryMessage, ShadowKey
from nodes.store.queue import forks, resubmit_requests
from nodes.store.queue.bodies import add_body, release_bodies, share_body
from nodes.store.queue.rows import MESSAGE_COLUMNS, SHADOW_COLUMNS, key_row, message_row, shadow_row

FetchBody: TypeAlias = Callable[[BodyHandle], bytes]

_THIS_SHADOW = "primary_server = ? AND primary_database_id = ? AND primary_internal_id = ?"

INSERT_MESSAGE = (
    f"INSERT INTO messages ({MESSAGE_COLUMNS}, promoted) VALUES ({', '.join('?' * 15)})"
)
COPY_TO_PRIMARY_SAFETY_NET = (
    f"INSERT INTO primary_safety_net ({MESSAGE_COLUMNS}, delivered_ms, expires_ms) "
    f"SELECT {MESSAGE_COLUMNS}, ?, ? FROM messages WHERE internal_id = ?"
)
DELETE_MESSAGE = "DELETE FROM messages WHERE internal_id = ? RETURNING body_id"
NOTE_DELAY_NOTIFIED = (
    "UPDATE messages SET delay_notified = 1 WHERE internal_id = ? AND delay_notified = 0"
)
SET_SHADOW_SERVER = (
    "UPDATE messages SET shadow_server = ?, shadow_database_id = ? "
    "WHERE internal_id = ? AND shadow_server IS NULL"
)
INSERT_DISCARD = (
    "INSERT INTO discards (shadow_server, sequence, internal_id, delivered_ms, first_delivered_ms) "
    "VALUES (?, ?, ?, ?, ?)"
)
FORGET_DISCARDS = "DELETE FROM discards WHERE shadow_server = ? AND sequence <= ?"
NOTE_DISCARDS_ASKED = (
    "INSERT OR REPLACE INTO discards_asked (shadow_server, asked_ms) VALUES (?, ?)"
)
DROP_OLD_DISCARDS = "DELETE FROM discards WHERE shadow_server = ? AND delivered_ms < ?"
INSERT_SHADOW = f"INSERT INTO shadows ({SHADOW_COLUMNS}, expires_ms) VALUES ({', '.join('?' * 15)})"
COPY_TO_SHADOW_SAFETY_NET = (
    f"INSERT INTO shadow_safety_net ({SHADOW_COLUMNS}, delivered_ms, first_delivered_ms, "
    f"expires_ms) SELECT {SHADOW_COLUMNS}, ?, ?, ? FROM shadows WHERE {_THIS_SHADOW}"
)
DELETE_SHADOW = f"DELETE FROM shadows WHERE {_THIS_SHADOW} RETURNING body_id"
SET_CONTACT = (
    "INSERT OR REPLACE INTO contacts "
    "(primary_server, database_id, last_contact_ms, confirmed_sequence, held_up_to) "
    "VALUES (?, ?, ?, ?, ?)"
)
SET_ACTIVE_COPY = (
    "INSERT INTO active_copies (database, server, epoch, learnt_ms) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (database) DO UPDATE SET "
    "server = excluded.server, epoch = excluded.epoch, learnt_ms = excluded.learnt_ms "
    "WHERE excluded.epoch > epoch"
)
NOTE_LAST_SEQUENCE = "UPDATE meta SET last_discard_sequence = max(last_discard_sequence, ?)"


class BodyGone(Exception):
    """What a handle stands for has left its database meanwhile."""


class StateMismatch(AssertionError):
    """The database is not in the state that a change expects: a mistake of ours."""


def apply_changes(
    connection: sqlite3.Connection,
    changes: tuple[Change | ManagerChange, ...],
    fetch: FetchBody,
) -> None:
    """Carry the changes out, in order, inside the transaction that the caller has begun."""
    for change in changes:
        try:
            _APPLY[type(change)](connection, change, fetch)
        except sqlite3.IntegrityError as error:
            raise StateMismatch(f"{error}: {change}") from error
    sequences = [c.notification.sequence for c in changes if isinstance(c, InsertDiscard)]
    if sequences:
        connection.execute(NOTE_LAST_SEQUENCE, (max(sequences),))


def _expect_one(found: int, change: object) -> None:
    if found != 1:
        raise StateMismatch(f"{found} rows are as expected, not 1: {change}")


def _insert_message(db: sqlite3.Connection, change: InsertMessage, fetch: FetchBody) -> None:
    _add_message(db, change.message, _stored_body(db, change.body, fetch))


def _add_message(db: sqlite3.Connection, message: PrimaryMessage, body_id: int) -> None:
    db.execute(INSERT_MESSAGE, (*message_row(message, body_id), message.promoted))
    forks.insert(db, message)


def _stored_body(db: sqlite3.Connection, body: BodyHandle, fetch: FetchBody) -> int:
    """The id of the body: one that is here already is shared."""
    if body.startswith("db:"):
        return share_body(db, int(body.removeprefix("db:")))
    return add_body(db, fetch(body))


def _expect_all_forks_done(db: sqlite3.Connection, internal_id: int, change: Change) -> None:
    unfinished = forks.unfinished(db, internal_id)
    if unfinished:
        raise StateMismatch(f"{unfinished} forks are not done: {change}")


def _move_to_primary_safety_net(db: sqlite3.Connection, change: MoveToPrimarySafetyNet) -> None:
    _expect_all_forks_done(db, change.internal_id, change)
    moved = (change.delivered_ms, change.expires_ms, change.internal_id)
    _expect_one(db.execute(COPY_TO_PRIMARY_SAFETY_NET, moved).rowcount, change)
    _expect_one(len(db.execute(DELETE_MESSAGE, (change.internal_id,)).fetchall()), change)


def _delete_message(db: sqlite3.Connection, change: DeleteMessage) -> None:
    _expect_all_forks_done(db, change.internal_id, change)
    deleted = db.execute(DELETE_MESSAGE, (change.internal_id,)).fetchall()
    _expect_one(len(deleted), change)
    db.execute(forks.DELETE_FORKS, (change.internal_id,))
    release_bodies(db, (body_id for (body_id,) in deleted))


def _set_shadow_server(db: sqlite3.Connection, change: SetShadowServer) -> None:
    named = (change.shadow_server, change.shadow_database_id, change.internal_id)
    _expect_one(db.execute(SET_SHADOW_SERVER, named).rowcount, change)


def _note_delay_notified(db: sqlite3.Connection, change: NoteDelayNotified) -> None:
    _expect_one(db.execute(NOTE_DELAY_NOTIFIED, (change.internal_id,)).rowcount, change)


def _insert_discard(db: sqlite3.Connection, change: InsertDiscard) -> None:
    told = change.notification
    times = (told.delivered_ms, told.first_delivered_ms)
    row = (told.shadow_server, told.sequence, told.internal_id, *times)
    db.execute(INSERT_DISCARD, row)


def _forget_discards(db: sqlite3.Connection, change: ForgetDiscards) -> None:
    db.execute(FORGET_DISCARDS, (change.shadow_server, change.up_to_sequence))


def _drop_old_discards(db: sqlite3.Connection, change: DropOldDiscards) -> None:
    db.execute(DROP_OLD_DISCARDS, (change.shadow_server, change.before_ms))


def _note_discards_asked(db: sqlite3.Connection, change: NoteDiscardsAsked) -> None:
    db.execute(NOTE_DISCARDS_ASKED, (change.shadow_server, change.asked_ms))


def _insert_shadow(db: sqlite3.Connection, change: InsertShadow, fetch: FetchBody) -> None:
    body_id = _stored_body(db, change.body, fetch)
    db.execute(INSERT_SHADOW, (*shadow_row(change.shadow, body_id), change.expires_ms))


def _move_to_shadow_safety_net(db: sqlite3.Connection, change: MoveToShadowSafetyNet) -> None:
    times = (change.delivered_ms, change.first_delivered_ms, change.expires_ms)
    moved = (*times, *key_row(change.key))
    _expect_one(db.execute(COPY_TO_SHADOW_SAFETY_NET, moved).rowcount, change)
    _take_shadow(db, change.key, change)


def _promote_shadow(db: sqlite3.Connection, change: PromoteShadow, fetch: FetchBody) -> None:
    if change.converted is None:
        _add_message(db, change.message, _take_shadow(db, change.key, change))
        return
    content = fetch(change.converted)
    release_bodies(db, (_take_shadow(db, change.key, change),))
    _add_message(db, change.message, add_body(db, content))


def _take_shadow(db: sqlite3.Connection, key: ShadowKey, change: Change) -> int:
    """The shadow message leaves its queue; its body stays, for whoever has its id now."""
    taken = db.execute(DELETE_SHADOW, key_row(key)).fetchall()
    _expect_one(len(taken), change)
    return int(taken[0][0])


def _set_contact(db: sqlite3.Connection, change: SetContact) -> None:
    contact = change.contact
    row = (
        contact.primary,
        contact.database_id,
        contact.last_contact_ms,
        contact.confirmed_sequence,
        contact.held_up_to,
    )
    db.execute(SET_CONTACT, row)


Apply: TypeAlias = Callable[[sqlite3.Connection, Any, FetchBody], None]


def _alone(change: Callable[[sqlite3.Connection, Any], None]) -> Apply:
    """One that brings no body."""
    return lambda db, what, fetch: change(db, what)


def _one_row(meet: Callable[[sqlite3.Connection, Any], int]) -> Apply:
    """A change that is as expected where it meets one row."""
    return lambda db, change, fetch: _expect_one(meet(db, change), change)


def _set_active_copy(db: sqlite3.Connection, change: SetActiveCopy) -> None:
    copy = change.copy
    row = (copy.database, copy.server, copy.epoch, copy.learnt_ms)
    _expect_one(db.execute(SET_ACTIVE_COPY, row).rowcount, change)


_APPLY: dict[type[Any], Apply] = {
    InsertMessage: _insert_message,
    FinishFork: _one_row(forks.finish),
    SplitFork: _one_row(forks.split),
    RerouteFork: _one_row(forks.reroute),
    MoveToPrimarySafetyNet: _alone(_move_to_primary_safety_net),
    DeleteMessage: _alone(_delete_message),
    SetShadowServer: _alone(_set_shadow_server),
    NoteDelayNotified: _alone(_note_delay_notified),
    InsertDiscard: _alone(_insert_discard),
    ForgetDiscards: _alone(_forget_discards),
    NoteDiscardsAsked: _alone(_note_discards_asked),
    DropOldDiscards: _alone(_drop_old_discards),
    InsertShadow: _insert_shadow,
    MoveToShadowSafetyNet: _alone(_move_to_shadow_safety_net),
    PromoteShadow: _promote_shadow,
    SetContact: _alone(_set_contact),
    SetActiveCopy: _alone(_set_active_copy),
    InsertResubmitRequest: _one_row(resubmit_requests.insert_request),
    AdvanceResubmitRequest: _one_row(resubmit_requests.advance),
    SetResubmitState: _one_row(resubmit_requests.set_state),
    HeadTaken: _one_row(resubmit_requests.head_taken),
    RemoveResubmitRequest: _one_row(resubmit_requests.remove_request),
}
