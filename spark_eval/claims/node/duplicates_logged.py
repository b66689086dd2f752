"""duplicates_logged: a tracking log says DELIVER of what was stored in a mailbox, and
DUPLICATEDELIVER of what was turfed since it was there already (DD-1).

Asks of each duplicate, too, whether anything was stored within `Track Duplicates` before it: an
entry counts as gone when that is over, whatever the clean-up has done, and the user sees the
message once more (DD-4). Asks each recipient in a mailbox database with one copy of whom its
server logged either: there are as many DELIVER rows as copies in the mailbox, and one at least
where a duplicate is said to have been turfed. Of a database with several copies, which may have
lost some, the log alone is asked: under one epoch no copy stores a message twice within
Track Duplicates, nor turfs one before any copy of the database stored it.

Not asked: more copies than rows, or a duplicate of nothing, where a hole of the log or a full disk
may have swallowed the row since the message was sent; mailboxes that were not collected; how old
an entry was while a clock was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.arrivals import database_of
from spark_eval.expected.node.disk import is_lost
from spark_eval.histories.message import Message
from spark_eval.histories.primary import order_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import EXACT_TRACKING, MAILBOXES
from spark_eval.read.rows import TrackingRow, collected

STORED, TURFED = "DELIVER", "DUPLICATEDELIVER"
Place = tuple[str, str]


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for place, rows in _by_place(each).items():
            yield from _case(each, place, rows, run)


def _by_place(message: Message) -> dict[Place, list[TrackingRow]]:
    """By mailbox database and recipient, in order."""
    rows = sorted(message.of_event(STORED, TURFED), key=order_of)
    return collected(
        ((database_of(row) or "", recipient), row)
        for row in rows
        for recipient in row.recipients or ()
    )


def _case(message: Message, place: Place, rows: list[TrackingRow], run: Run) -> Iterator[Case]:
    database, recipient = place
    if database in run.active_copies:
        wrong = _wrong_by_epoch(database, rows, run)
    elif run.is_collected(recipient):
        wrong = _wrong_by_mailbox(message, place, rows, run)
    else:
        return
    wrong = wrong or _turfed_too_late(database, rows, run)
    status, detail = fits(wrong)
    requirements = (
        "DD-1",
        *(("DD-4",) if len(rows) > 1 else ()),
        *(("DD-3",) if recipient in run.directory.moves else ()),
    )
    yield from asked(
        status, f"{message.message_id} in {recipient}", requirements, detail, rows[-1].at_ms,
        *rows[:3],
    )  # fmt: skip


def _turfed_too_late(database: str, rows: list[TrackingRow], run: Run) -> str:
    """Where nothing was stored within the window before a duplicate, by any copy."""
    known = run.databases[database]
    servers = [run.servers[name] for name in known.copies if name in run.servers]
    if known.window_ms is None or any(each.name in run.wrong_clocks for each in servers):
        return ""
    near_ms = max((each.slack_ms + each.askew_ms for each in servers), default=0)
    for row in (row for row in rows if row.event == TURFED):
        stored = [each.at_ms for each in rows if each.event == STORED and each.at_ms <= row.at_ms]
        since_ms = row.at_ms - known.window_ms - near_ms
        is_whole = not _any_lost(known.copies, since_ms, row.at_ms, run)
        if stored and max(stored) < since_ms and is_whole:
            ago = stamp(row.at_ms - max(stored))
            return f"{row.server} logged {TURFED}, {ago} after it was stored"
    return ""


def _wrong_by_mailbox(message: Message, place: Place, rows: list[TrackingRow], run: Run) -> str:
    """What does not fit, or the empty text."""
    stored = sum(row.event == STORED for row in rows)
    took = run.directory.took
    database, recipient = place
    seen = sum(took(each) == database for each in message.seen_by.get(recipient, ()))
    first_ms = min(row.at_ms for row in message.tracking)
    may_lack = _any_lost(run.databases[place[0]].copies, first_ms, rows[-1].at_ms, run)
    if stored > seen or (stored < seen and not may_lack):
        return f"{rows[0].server} logged DELIVER {stored} times, and {place[0]} has {seen} copies"
    return "" if stored or may_lack else _of_nothing(rows[0])


def _of_nothing(row: TrackingRow) -> str:
    return f"{row.server} logged {TURFED}, and nothing was stored before"


def _wrong_by_epoch(database: str, rows: list[TrackingRow], run: Run) -> str:
    active, known = run.active_copies[database], run.databases[database]
    stored: dict[tuple[str, int], TrackingRow] = {}
    for row in rows:
        epoch = active.epoch_at(row.server, row.at_ms if row.mono_ns is None else row.mono_ns)
        before = stored.get((row.server, epoch or 0))
        if row.event == TURFED and not stored and not _any_lost(known.copies, 0, row.at_ms, run):
            return _of_nothing(row)
        if row.event == STORED:
            window_ms = known.window_ms
            is_within = window_ms is None or (before and row.at_ms - before.at_ms < window_ms)
            if epoch is not None and before is not None and is_within:
                return f"{row.server} logged {STORED} twice under epoch {epoch}"
            stored[row.server, epoch or 0] = row
    return ""


def _any_lost(names: tuple[str, ...], start_ms: int, end_ms: int, run: Run) -> bool:
    servers = (run.servers[name] for name in names if name in run.servers)
    return any(is_lost(each, start_ms - each.slack_ms, end_ms + each.slack_ms) for each in servers)


CLAIM = Claim(
    "duplicates_logged",
    ("DD-1", "DD-4", "DD-3"),
    needs=frozenset({EXACT_TRACKING, MAILBOXES}),
    of_message=_cases,
)
