"""dsn_suppressed: whatever becomes of a resubmitted message, its sender hears nothing (SN-10).

Asks every message that came back from a Safety Net, and every shadow message of one that was
promoted: one that failed or expired says SUPPRESSED, and of which request, and causes no DSN; any
other causes neither (that it is late is `delay_dsn_sent`'s). A DSN names the message by its
Message-Id, which the copy that was accepted first has too: so there may be as many as that one has
failures of its own. What may be accepted mail, since a kill swallowed its first row, is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spark_eval.cases.case import HOLDS, Case, asked, fits
from spark_eval.claims.claim import Claim
from spark_eval.expected.reports.notifications import dsns_about
from spark_eval.expected.shadow.came_back import Returned, came_back
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.names import Ref
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow


class _Told(NamedTuple):
    """Of one message that came `back`: rows of its failures, and of those of its Message-Id there
    that did not come back; what says that a DSN of it was suppressed; and DSNs that were made.
    """

    back: Returned
    failed: list[TrackingRow]
    others_failed: list[TrackingRow]
    suppressed: list[TrackingRow]
    dsns: list[TrackingRow]


def _cases(message: Message, run: Run) -> Iterator[Case]:
    back = [each for each in came_back(message, run) if each.is_sure]
    keys = {each.key for each in back}
    for each in back:
        yield from _case(message, run, _told(message, each, keys))


def _told(message: Message, back: Returned, keys: set[Key]) -> _Told:
    server = back.key.server
    failed = [row for row in message.of_event("FAIL") if row.source == "QUEUE"]
    dsns = dsns_about(message, of_delay=False)
    return _Told(
        back,
        [row for row in failed if key_of(row) == back.key],
        [row for row in failed if row.server == server and key_of(row) not in keys],
        [row for row in message.of_event("SUPPRESSED") if key_of(row) == back.key],
        [dsn.row for dsn in dsns if dsn.row.server == server],
    )


def _case(message: Message, run: Run, told: _Told) -> Iterator[Case]:
    back, (status, detail) = told.back, fits(_wrong(message, run, told))
    last = max(told.failed, key=_by_time, default=None)
    suppressed = min(told.suppressed, key=lambda row: row.ref, default=None)
    shown = max(told.dsns, key=_by_time, default=suppressed)
    yield from asked(
        status, message.message_id, () if last is None and status == HOLDS else ("SN-10",), detail,
        (last or back.row).at_ms, back.row, last, shown, server=back.key.server,
    )  # fmt: skip


def _by_time(row: TrackingRow) -> tuple[int, Ref]:
    return row.at_ms, row.ref


def _wrong(message: Message, run: Run, told: _Told) -> str:
    """What does not fit, or the empty text."""
    server, came = told.back.key.server, "it came from a Safety Net"
    dsns, before = len(told.dsns), len(told.others_failed)
    if dsns > before:
        made = f"{server} told its sender by {dsns} DSNs"
        return f"{came}, and {made}; it failed {before} times before that"
    sender = message.sent.sender if message.sent else None
    can_be_told = sender is not None and run.directory.file_of(sender) is not None
    if told.failed and not told.suppressed and can_be_told:
        return f"{came} and failed at {server}; no row says that its DSN was suppressed"
    if not told.failed and told.suppressed:
        return f"{came}, and {server} suppressed a DSN though it did not fail"
    requests = sorted({row.context for row in told.suppressed if row.context is not None})
    if told.suppressed and requests != [told.back.request_id]:
        named = f"its DSN was suppressed for {', '.join(requests) or 'none'}"
        return f"{came} for {told.back.request_id}, and {server} says that {named}"
    return ""


CLAIM = Claim("dsn_suppressed", ("SN-10",), needs=frozenset({TRACKING}), of_message=_cases)
