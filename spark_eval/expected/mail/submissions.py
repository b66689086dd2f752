"""What became of items in Outboxes: mail that a client submitted from a mailbox, until a Transport
service had it (SR-8, SR-15).

An item is in the copy of its mailbox database that was active, and, by a log, in the others. A copy
that is mounted later without that log has not got it: until Transport has it, it is redundant only
as its database is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.safety_net.reigns import MOUNTED, words
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import Change, placed
from spark_eval.histories.primary import order_of
from spark_eval.histories.run import Run
from spark_eval.histories.sending import Attempt
from spark_eval.intervals.outage import Certainty
from spark_eval.read.rows import TrackingRow, collected

INSERTED, SUBMITTED, DEFERRED = "NOTIFYMAPI", "SUBMIT", "SUBMITDEFER"
_CONTEXT = re.compile(r"MDB:(?P<database>[^,]+), Item:(?P<item>[^,]+)(?:, (?P<said>.*))?")
_LOG = re.compile(r"Log:([0-9]+)")
_ITEM = re.compile(r"\[ItemId=([^,\]]+)")


class Step(NamedTuple):
    """What a row says of an item. `said`: the reply of Transport, or the log that has the item."""

    row: TrackingRow
    database: str
    item: str
    said: str

    @property
    def log(self) -> int | None:
        found = _LOG.fullmatch(self.said)
        return int(found[1]) if found else None


@lru_cache(maxsize=4)
def items_of(message: Message) -> dict[str, list[Step]]:
    """Of each item, in order."""
    rows = sorted(message.of_event(INSERTED, SUBMITTED, DEFERRED), key=order_of)
    steps = [_step(row) for row in rows]
    return collected((step.item, step) for step in steps if step is not None)


def _step(row: TrackingRow) -> Step | None:
    found = _CONTEXT.fullmatch(row.context or "")
    return found and Step(row, found["database"], found["item"], found["said"] or "")


def item_in(reply: str | None) -> str | None:
    """The item that a 250 to a client names."""
    found = _ITEM.search(reply or "")
    return found[1] if found else None


def outbox_of(message: Message, run: Run) -> str | None:
    """The mailbox database that has its sender's mailbox."""
    return run.directory.mailboxes.get(message.sent.sender) if message.sent else None


def surely_active(database: str, server: str, run: Run, start_ms: int, end_ms: int) -> bool:
    """Whether the copy there took mail all of that time, as far as its server could know."""
    active, known = run.active_copies.get(database), run.servers.get(server)
    copies = run.databases[database].copies if database in run.databases else ()
    if active is None or known is None:
        return server in copies
    from_ms, to_ms = start_ms - known.slack_ms, end_ms + known.slack_ms
    said = [row for row in words(run).get((database, server), ()) if row.at_ms is not None]
    before = [row for row in said if (row.at_ms or 0) < from_ms]
    if not before or before[-1].event != MOUNTED:
        return False
    epoch, since = before[-1].epoch or 0, len(before)
    meanwhile = [row for row in said[since:] if (row.at_ms or 0) <= to_ms]
    later = [row for row in active.begun if (row.epoch or 0) > epoch and (row.at_ms or 0) <= to_ms]
    return not meanwhile and not later


def moves(database: str, run: Run, start_ms: int, end_ms: int) -> bool:
    """Whether another copy may have become the active one meanwhile, or this one anew."""
    active = run.active_copies.get(database)
    if active is None:
        return False
    rows = [*active.begun, *active.dismounts, *active.seeded]
    rows += (
        row for server in active.copies for row in words(run).get((database, server.server), ())
    )
    return any(start_ms <= (row.at_ms or 0) <= end_ms for row in rows)


def is_left(database: str, server: str, run: Run, at_ms: int) -> bool:
    """Whether the last word of a server of its copy by then is that it is not mounted: an item that
    was on its way then is another one's.
    """
    by_then = [row for row in words(run).get((database, server), ()) if (row.at_ms or 0) <= at_ms]
    return bool(by_then) and by_then[-1].event != MOUNTED


def mounted_within(database: str, run: Run, start_ms: int, end_ms: int) -> Change | None:
    """The first time in [start, end] that another copy was mounted."""
    active = run.active_copies.get(database)
    changes = active.changes if active else ()
    return next((c for c in changes if start_ms <= (c.mounted.at_ms or 0) <= end_ms), None)


def lost_in_outbox(message: Message, run: Run) -> str | None:
    """Why what no Transport service ever had is lost with an Outbox; None where it need not be."""
    database, ok = outbox_of(message, run), message.ok
    if database is None or ok is None or not message.is_internal:
        return None
    steps = items_of(message).get(item_in(ok.reply) or "", ())
    log = next((step.log for step in steps if step.log is not None), None)
    server = run.servers.get(ok.server)
    for change in _changes_since(database, ok, run):
        if lacks(change, log):
            return (
                f"in the Outbox of {database} on {ok.server}, whose log {log or '?'} the copy on "
                f"{change.after.server} had not got when it was mounted"
            )
    end_ms = run.end_ms or 0
    if server is not None and server.out(end_ms, end_ms) is not Certainty.NO:
        return f"in the Outbox of {database} on {ok.server}, which is not back at the end"
    return None


def _changes_since(database: str, ok: Attempt, run: Run) -> list[Change]:
    """To copies that were mounted after an item was taken, or before by a server that did not know
    of it: the epochs after that under which its own copy took it.
    """
    active = run.active_copies.get(database)
    changes, mono_ns = active.changes if active else (), ok.ended_mono_ns
    epoch = _epoch_at(database, ok, run)
    return [
        each
        for each in changes
        if mono_ns is None
        or (placed(each.mounted) or 0) > mono_ns
        or (epoch is not None and each.after.epoch > epoch)
    ]


def _epoch_at(database: str, ok: Attempt, run: Run) -> int | None:
    """Under which the copy was mounted that took an item, by the word of its server."""
    said = words(run).get((database, ok.server), ())
    before = [row for row in said if (row.at_ms or 0) <= (ok.ended_ms or 0)]
    mounted = [row.epoch for row in before if row.event == MOUNTED]
    return mounted[-1] if mounted else None


def lacks(change: Change, log: int | None) -> bool:
    """Whether the copy that was mounted has not got the item of this log: what it had before is all
    that it has then, but for the log of its mount.
    """
    if log is None or change.mounted.last_log is None:
        return not change.is_orderly
    return log >= change.mounted.last_log
