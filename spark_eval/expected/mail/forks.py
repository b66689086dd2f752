"""The forks of a primary message: is every recipient done, and every side effect, and when.

A side effect is a DSN or a journal report that its server made about it (SM-10). Of a message that
a server has twice nobody can say which of the two it is about, but that none is about mail from a
Safety Net (SN-10). A server that forgot what it had done by a restart serves again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from spark_eval.expected.mail.addressees import answered_for
from spark_eval.expected.reports.journal_reports import Journaled, journal_reports_about
from spark_eval.expected.reports.notifications import Dsn, dsns_about
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, Primary, key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS
from spark_eval.read.names import Ref
from spark_eval.read.rows import TrackingRow, collected

SideEffect: TypeAlias = Dsn | Journaled
_DONE = ("SEND", "DELIVER", "DUPLICATEDELIVER")


class Forks(NamedTuple):
    """`expired`: some of it failed. `served_ms`: when the last recipient was, if all are;
    `known_ms`: as `done_ms`, but later where its server forgot that by a restart and served
    somebody again, or where a side effect may be of it or of another one of the same Message-Id.
    """

    complete: bool
    expired: bool
    first_done_ms: int | None
    done_ms: int | None
    known_ms: int | None
    served_ms: int | None
    done_mono_ns: int | None
    done_ref: Ref | None


class _Part(NamedTuple):
    """One recipient, or one side effect: `done`, the row that says so."""

    done: TrackingRow | None
    known_ms: int | None
    is_owed: bool
    is_sure: bool


def is_done(row: TrackingRow) -> bool:
    return row.event in _DONE or (row.event == "FAIL" and row.source == "QUEUE")


@lru_cache(maxsize=4)
def forks_of(message: Message, run: Run) -> dict[Key, Forks]:
    """Of each primary message of which its server says for whom it answers."""
    served = _served(message.tracking)
    effects: list[SideEffect] = [
        *dsns_about(message, of_delay=False),
        *dsns_about(message, of_delay=True),
        *journal_reports_about(message),
    ]
    whom = answered_for(message, run)
    return {
        key: _forks([*_owed(primary, whom[key], served), *_reported(primary, message, effects)])
        for key, primary in message.primaries.items()
        if primary.is_there
    }


def _served(rows: Iterable[TrackingRow]) -> dict[tuple[Key, str], list[TrackingRow]]:
    """Rows of each recipient that say that he is done, in order."""
    return collected(
        ((key, recipient), row)
        for row in sorted(rows, key=order_of)
        if is_done(row) and (key := key_of(row)) is not None
        for recipient in row.recipients or ()
    )


def _owed(
    primary: Primary,
    recipients: Iterable[str],
    served: dict[tuple[Key, str], list[TrackingRow]],
) -> Iterator[_Part]:
    loaded_ms = primary.last_loaded_ms
    for recipient in recipients:
        rows = served.get((primary.key, recipient))
        if not rows:
            yield _Part(None, None, is_owed=True, is_sure=True)
            continue
        last_ms = max(row.at_ms for row in rows)
        again = loaded_ms is not None and rows[0].at_ms <= loaded_ms <= last_ms
        yield _Part(rows[0], last_ms if again else rows[0].at_ms, is_owed=True, is_sure=True)


def _reported(primary: Primary, message: Message, effects: Iterable[SideEffect]) -> Iterator[_Part]:
    if primary.is_resubmitted:
        return
    store = primary.key[:2]
    alike = [
        each
        for each in message.primaries.values()
        if each.key[:2] == store and not each.is_resubmitted
    ]
    for effect in effects:
        if effect.key is not None and effect.key[:2] == store:
            done = _first_done(effect)
            if len(alike) == 1:
                yield _Part(done, done.at_ms if done else None, is_owed=False, is_sure=True)
            else:
                known_ms = done.at_ms if done else FOREVER_MS
                yield _Part(None, known_ms, is_owed=False, is_sure=False)


def _first_done(effect: SideEffect) -> TrackingRow | None:
    rows = [row for row in effect.message.tracking if is_done(row) and key_of(row) == effect.key]
    return min(rows, key=order_of, default=None)


def _forks(parts: list[_Part]) -> Forks:
    done = [part.done for part in parts if part.done is not None]
    owed = [part for part in parts if part.is_owed]
    known = [part.known_ms for part in parts if part.known_ms is not None]
    monos = [row.mono_ns for row in done if row.mono_ns is not None]
    last = max(done, key=order_of, default=None)
    is_served = all(part.done is not None for part in owed)
    return Forks(
        complete=all(part.done is not None for part in parts if part.is_sure),
        expired=any(row.event == "FAIL" for row in done),
        first_done_ms=min((row.at_ms for row in done), default=None),
        done_ms=max((row.at_ms for row in done), default=None),
        known_ms=max(known, default=None),
        served_ms=max((part.done.at_ms for part in owed if part.done), default=None)
        if is_served
        else None,
        done_mono_ns=max(monos, default=None),
        done_ref=last.ref if last else None,
    )
