"""What of a mailbox database was lost with the copy before, at each change of its active copy.

A delivery was lost with the copy that it went to when a later copy took the same message for the
same recipient again, or when the recipient does not see it at the end. That a later copy took it
again shows nothing where its duplicate detection window was over by then (DD-4), or where the
recipient sees every delivery, or a corruption of the database has emptied his mailbox since. The
last log that a new copy replayed lies between the last delivery
which survived and the first that was lost. Sums: parts of a run's mail add up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.mail.arrivals import Brought, brought_into
from spark_eval.expected.safety_net.corruptions import emptied_by
from spark_eval.histories.message import Message
from spark_eval.histories.organisation.active_copies import ActiveCopies, Change
from spark_eval.histories.run import Limits, Run
from spark_eval.read.names import Ref
from spark_eval.read.rows import collected


class Taken(NamedTuple):
    """A delivery for one recipient into a copy that was active under `epoch`."""

    epoch: int
    at_ms: int
    copy: str
    ref: Ref


class Landed(NamedTuple):
    """All of a message for one recipient: `taken`, in order; how often it is `shown` at the end;
    `window_ms`, for how long its database knows it again.
    """

    taken: tuple[Taken, ...]
    shown: int
    window_ms: int | None

    @property
    def is_seen(self) -> bool:
        return self.shown > 0

    @property
    def is_all_seen(self) -> bool:
        """As often as it was taken."""
        return self.shown >= len(self.taken)

    def is_known_again(self, first_ms: int, again_ms: int) -> bool:
        return self.window_ms is not None and again_ms - first_ms <= self.window_ms


@lru_cache(maxsize=4)
def landed(message: Message, run: Run) -> dict[tuple[str, str], Landed]:
    """By database and recipient, of databases with several copies."""
    taken = collected(
        ((each.database, who), each)
        for each in brought_into(message, run)
        if each.row.event == "DELIVER"
        for who in each.row.recipients or ()
    )
    return {
        (database, recipient): Landed(
            tuple(sorted(map(_taken, rows))),
            sum(
                seen.kind == "mailbox" and run.directory.took(seen) == database
                for seen in message.seen_by.get(recipient, ())
            )
            + sum(emptied_by(database, (each.row,), run) is not None for each in rows),
            run.databases[database].window_ms,
        )
        for (database, recipient), rows in taken.items()
    }


def _taken(each: Brought) -> Taken:
    return Taken(each.epoch, each.row.at_ms, each.copy, each.row.ref)


@dataclass(slots=True)
class Found:
    """Of one change: `kept`, deliveries that the new copy surely has; `lost`, the first that it
    lacked; `lost_deliveries`, how many.
    """

    kept: set[int] = field(default_factory=set)
    lost: tuple[int, Ref] | None = None
    lost_deliveries: int = 0

    def add(self, other: Found) -> None:
        self.kept |= other.kept
        both = [each for each in (self.lost, other.lost) if each is not None]
        self.lost = min(both, default=None)
        self.lost_deliveries += other.lost_deliveries

    def limits(self) -> Limits:
        """A row that a kill swallowed may make what was lost look as if it had been there."""
        lost_ms = self.lost[0] if self.lost else None
        kept = [each for each in self.kept if lost_ms is None or each <= lost_ms]
        lost_ref = self.lost[1] if self.lost else None
        return Limits(max(kept, default=None), lost_ms, lost_ref, self.lost_deliveries)


Change_ = tuple[str, int]


def found_by(messages: Iterable[Message], run: Run) -> dict[Change_, Found]:
    """What a part of a run's messages shows of each change, by database and epoch."""
    found: dict[Change_, Found] = {}
    if not any(each.changes for each in run.active_copies.values()):
        return found
    for message in messages:
        for each in message.with_dsns:
            for (database, recipient), known in landed(each, run).items():
                if recipient in run.directory.moves:
                    continue  # what he sees shows nothing of copies that he left
                active = run.active_copies[database]
                for change in active.changes:
                    _show(
                        found.setdefault((database, change.after.epoch), Found()),
                        known,
                        change,
                        active,
                    )
    return found


def _show(found: Found, known: Landed, change: Change, active: ActiveCopies) -> None:
    epoch = change.after.epoch
    before = [taken for taken in known.taken if taken.epoch < epoch]
    later = any(taken.epoch >= epoch for taken in known.taken)
    is_shown = known.is_seen and not later
    if before and is_shown and all(_shows(taken, change, active) for taken in before):
        # of what was taken several times, the first alone may be there
        found.kept.add(min(taken.at_ms for taken in before))
    for taken in before:
        if _is_lost(taken, known, change, later=later):
            found.lost = min(found.lost or (taken.at_ms, taken.ref), (taken.at_ms, taken.ref))
            found.lost_deliveries += 1
            break


def lost_at(change: Change, taken: Taken, known: Landed) -> bool:
    """Whether a delivery was lost at a change of the active copy."""
    later = any(other.epoch >= change.after.epoch for other in known.taken)
    return _is_lost(taken, known, change, later=later)


def _is_lost(taken: Taken, known: Landed, change: Change, *, later: bool) -> bool:
    if taken.epoch != change.before.epoch or known.is_all_seen:
        return False
    again = any(
        other.epoch == change.after.epoch and known.is_known_again(taken.at_ms, other.at_ms)
        for other in known.taken
    )
    return again or (change.is_last and not known.is_seen and not later)


def _shows(taken: Taken, change: Change, active: ActiveCopies) -> bool:
    """Whether that this copy is still seen shows something of the copy after it."""
    return not _came_back(taken, change, active) and not _is_apart(taken, change, active)


def _came_back(taken: Taken, change: Change, active: ActiveCopies) -> bool:
    """A copy that is active again, and was not made anew meanwhile, has what it had: nothing that
    shows what the copy between them had.
    """
    mounted_ns = change.mounted.mono_ns
    for other in active.changes:
        if other.after.epoch > change.after.epoch and other.after.server == taken.copy:
            again_ns = other.mounted.mono_ns
            was_made_anew = any(
                row.server == taken.copy
                and row.mono_ns is not None
                and mounted_ns is not None
                and again_ns is not None
                and mounted_ns < row.mono_ns < again_ns
                for row in active.seeded
            )
            if not was_made_anew:
                return True
    return False


def _is_apart(taken: Taken, change: Change, active: ActiveCopies) -> bool:
    """What a copy took by itself after another one was to be active shows nothing of what that one
    took.
    """
    return any(
        row.epoch is not None
        and row.at_ms is not None
        and taken.epoch < row.epoch < change.after.epoch
        and row.at_ms <= taken.at_ms
        for row in active.begun
    )
