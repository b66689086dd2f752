"""dsn_suppressed: whatever becomes of a resubmitted message, its sender hears nothing (SN-10).

Asks every message that came back from a Safety Net, and every shadow message of one that was
promoted: one that failed or expired says SUPPRESSED, and of which request, and causes no DSN; any
other causes neither (that it is late is `delay_dsn_sent`'s). A DSN names the message by its
Message-Id, which the copy that was accepted first has too: so there may be as many as that one has
failures of its own. What may be accepted mail, since a kill swallowed its first row, is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import HOLDS, VIOLATED, Case, Status, refs
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.notifications import dsns_about
from spark_eval.expected.shadow.came_back import Returned, came_back
from spark_eval.histories.message import Message
from spark_eval.histories.primary import Key, key_of
from spark_eval.histories.run import Run
from spark_eval.read.plan import TRACKING
from spark_eval.read.rows import TrackingRow


def _cases(message: Message, run: Run) -> Iterator[Case]:
    back = [each for each in came_back(message, run) if each.is_sure]
    keys = {each.key for each in back}
    for each in back:
        yield _case(message, run, each, keys)


def _case(message: Message, run: Run, back: Returned, keys: set[Key]) -> Case:
    server = back.key.server
    failed = [row for row in message.of_event("FAIL") if row.source == "QUEUE"]
    mine = [row for row in failed if key_of(row) == back.key]
    own = [row for row in failed if row.server == server and key_of(row) not in keys]
    suppressed = [row for row in message.of_event("SUPPRESSED") if key_of(row) == back.key]
    told = [dsn.row for dsn in dsns_about(message, of_delay=False) if dsn.row.server == server]
    status, detail = _judged(message, run, back, mine, own, suppressed, told)
    last = max(mine, key=lambda row: (row.at_ms, row.ref), default=None)
    shown = max(told, key=lambda row: (row.at_ms, row.ref), default=None) or min(
        suppressed, key=lambda row: row.ref, default=None
    )
    return Case(
        status,
        message.message_id,
        () if not mine and status == HOLDS else ("SN-10",),
        detail,
        last.at_ms if last else back.row.at_ms,
        refs(back.row.ref, last.ref if last else None, shown.ref if shown else None),
        server=server,
    )


def _judged(
    message: Message,
    run: Run,
    back: Returned,
    mine: list[TrackingRow],
    own: list[TrackingRow],
    suppressed: list[TrackingRow],
    told: list[TrackingRow],
) -> tuple[Status, str]:
    server, came = back.key.server, "it came from a Safety Net"
    if len(told) > len(own):
        return VIOLATED, (
            f"{came}, and {server} told its sender by {len(told)} DSNs; it failed {len(own)} "
            "times before that"
        )
    can_be_told = (
        message.sent is not None and run.directory.file_of(message.sent.sender) is not None
    )
    if mine and not suppressed and can_be_told:
        return VIOLATED, (f"{came} and failed at {server}; no row says that its DSN was suppressed")
    if not mine and suppressed:
        return VIOLATED, f"{came}, and {server} suppressed a DSN though it did not fail"
    requests = sorted({row.context for row in suppressed if row.context is not None})
    if suppressed and requests != [back.request_id]:
        return VIOLATED, (
            f"{came} for {back.request_id}, and {server} says that its DSN was suppressed for "
            f"{', '.join(requests) or 'none'}"
        )
    return HOLDS, ""


CLAIM = Claim("dsn_suppressed", ("SN-10",), needs=frozenset({TRACKING}), of_message=_cases)
