"""no_visible_duplicate: one copy in each mailbox (DD-1), but for what DD-4 names.

The submit time is the sender's: a copy that shows another one than its sender gave has another key,
which would hide no second copy. Copies with different submit times, further apart than
`Track Duplicates`, or taken in by two databases of which a mailbox moved from the one to the other,
are visible duplicates by promise; where it is not known when one was
made, and the run was longer than the window, nothing is said of them. External recipients may get
two (SM-9): such copies must be explained by what happened to the message, or by several servers
that expanded groups with him, else they are violations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, UNKNOWN, VIOLATED, Case, Status, asked
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.addressees import may_come_apart
from spark_eval.expected.mail.crossings import crossings
from spark_eval.histories.message import Message
from spark_eval.histories.primary import SAFETY_NET
from spark_eval.histories.run import Run
from spark_eval.histories.shadow import is_promotion
from spark_eval.read.csv_rows import date_of, epoch_ms_of
from spark_eval.read.plan import MAILBOXES
from spark_eval.read.rows import VisibleRow, grouped


class _Past(NamedTuple):
    """What explains more copies than one; `resubmitted` explains none outside: nothing that left is
    resubmitted (SN-12).
    """

    promoted: bool
    resubmitted: bool
    accepted: int
    tried_again: bool

    @property
    def explains(self) -> bool:
        return self.promoted or self.tried_again or self.accepted > 1

    def requirements(self, copies: int) -> tuple[str, ...]:
        named = {
            "DD-1": True,
            "DD-2": copies > 1,
            "DD-4": copies > 1,
            "SM-9": self.promoted,
            "SR-7": self.accepted > 1,
            "SN-15": self.resubmitted,
            "DD-3": self.resubmitted,
        }
        return tuple(name for name, is_asked in named.items() if is_asked)


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        if each.visible:
            past = _past(each, run)
            yield from _mailboxes(each, run, past)
            yield from _outside(each, past, run)


def _past(message: Message, run: Run) -> _Past:
    rows = message.tracking
    received = sum(row.event == "RECEIVE" and row.source == "SMTP" for row in rows)
    return _Past(
        promoted=any(map(is_promotion, rows)),
        resubmitted=any(row.event == "RESUBMIT" and row.source == SAFETY_NET for row in rows),
        # the next boundary receives what crosses, which is no second acceptance of its sender's
        accepted=received - len(crossings(message, run)),
        tried_again=any(row.event in ("DEFER", "LOAD") for row in rows),
    )


def _mailboxes(message: Message, run: Run, past: _Past) -> Iterator[Case]:
    given_ms = epoch_ms_of(message.sent.date or "") if message.sent else None
    for (recipient, dated_ms), copies in _alike(message, "mailbox").items():
        redated = None not in (given_ms, dated_ms) and given_ms != dated_ms
        given = message.sent.ref if message.sent and redated else None
        times = _times(copies)
        yield from asked(
            VIOLATED if redated else _judged(copies, run), f"{message.message_id} in {recipient}",
            _requirements(copies, past, run), _detail(copies, given_ms if redated else None),
            next(iter(times[1:2] or times[:1]), None), copies[0], given, *copies[1:3],
            weight=len(copies),
        )  # fmt: skip


def _requirements(copies: list[VisibleRow], past: _Past, run: Run) -> tuple[str, ...]:
    named = past.requirements(len(copies))
    has_moved = copies[0].recipient in run.directory.moves
    return (*named, "DD-3") if has_moved and "DD-3" not in named else named


def _alike(message: Message, kind: str) -> dict[tuple[str, int | None], list[VisibleRow]]:
    """By recipient, and in mailboxes by the submit time as well."""
    copies = sorted((s for s in message.visible if s.kind == kind), key=lambda seen: seen.ref)
    is_dated = kind == "mailbox"
    return grouped(copies, lambda seen: (seen.recipient, seen.dated_ms if is_dated else None))


def _judged(copies: list[VisibleRow], run: Run) -> Status:
    """What one database knows does not follow a mailbox to the next (DD-3)."""
    taken = grouped(copies, run.directory.took)
    each = {_judged_in(database, of_one, run) for database, of_one in taken.items()}
    return next((status for status in (VIOLATED, UNKNOWN) if status in each), HOLDS)


def _judged_in(place: str, copies: list[VisibleRow], run: Run) -> Status:
    if len(copies) == 1:
        return HOLDS
    database, times = run.databases.get(place), _times(copies)
    window_ms = database.window_ms if database else None
    if window_ms is None:
        return VIOLATED
    if len(times) == len(copies):
        return HOLDS if all(b - a > window_ms for a, b in pairwise(times)) else VIOLATED
    return UNKNOWN if run.end_ms is not None and run.end_ms > window_ms else VIOLATED


def _times(copies: list[VisibleRow]) -> list[int]:
    return sorted(each.copied_ms for each in copies if each.copied_ms is not None)


def _detail(copies: list[VisibleRow], given_ms: int | None) -> str:
    place = min(each.place for each in copies)
    if given_ms is None:
        return f"{len(copies)} copies with one submit time in {place}"
    return (
        f"the submit time in {place} is {date_of(copies[0].dated_ms or 0)}, and its sender gave "
        f"{date_of(given_ms)}"
    )


def _outside(message: Message, past: _Past, run: Run) -> Iterator[Case]:
    for (recipient, _), copies in _alike(message, "external").items():
        if len(copies) > 1:
            place = min(each.place for each in copies)
            explains = past.explains or may_come_apart(recipient, message, run)
            yield from asked(
                HOLDS if explains else VIOLATED, f"{message.message_id} at {recipient}",
                ("SM-9",), f"{len(copies)} copies at {place}, and nothing explains them",
                next(iter(_times(copies)[1:2]), None), *copies[:3], weight=len(copies),
            )  # fmt: skip


CLAIM = Claim(
    "no_visible_duplicate",
    ("DD-1", "DD-2", "DD-4", "SM-9", "SR-7", "SN-15", "DD-3"),
    needs=frozenset({MAILBOXES}),
    of_message=_cases,
)
