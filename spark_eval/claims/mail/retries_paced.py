"""retries_paced: no server tries a queue again earlier than its ladder allows, nor a message that
was put off earlier than MessageRetryInterval, nor either later (RT-5).

Asks every attempt at a message that its server had put off: it began no earlier than the wait after
the failure before. DEFER and SEND rows say when an attempt ended; where the session was opened for
it and never stood, the connectivity log says when it began. The first failure of several under way
sets the wait, and that is one after the message was last tried, or came. How far up the ladder its
queue is, is known where no attempt reached anybody, as often as this message was put off since
anything went through; else the lowest rung counts, since a message may have been put aside by
itself. A message that its next hop put off by an answer of its own (4yz, but for 421, and for a
mailbox database that is not active there) waits for MessageRetryInterval, whatever its queue does.

Not asked: the first attempt at a message, since new mail may try its queue; the first after a
restart; mail for a database that has several copies, which may be active elsewhere by then; what
is near a hole of the log; MessageRetryInterval where a plan does not say it. Nor, whether it is
late: what goes to another boundary, where several servers are tried one after another; what was to
be redirected meanwhile; an attempt of which nobody knows when it began, since a fault may have held
it up; nor while its server may have stood still, or its disk was full.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spark_eval.cases.case import VIOLATED, Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.mail.redirections import may_redirect
from spark_eval.expected.mail.tries import Tried, Try, least_ms, longest_ms, tried
from spark_eval.histories.message import Message
from spark_eval.histories.queues import is_put_off
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import TRACKING

LAST_RUNG = 1_000


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for queued in tried(each, run):
            for before, after in pairwise(queued.tries):
                if before.row.event == "DEFER" and after.life == before.life:
                    yield from _case(queued, before, after, run)


def _case(queued: Tried, before: Try, after: Try, run: Run) -> Iterator[Case]:
    server, row, since_ms = queued.server, before.row, before.since_ms
    if since_ms is None or not server.shows(since_ms, after.row.at_ms):
        return
    failure = queued.queue.first_failure(since_ms, row.at_ms)
    failed_ms = row.at_ms if failure is None else failure
    due_ms = failed_ms + least_ms(before.rung, server.config)
    is_own_wait = is_put_off(row) and server.config.says_put_off
    if is_own_wait and may_redirect(server.name, run, row.at_ms, after.row.at_ms):
        return
    if is_own_wait:
        failed_ms, due_ms = row.at_ms, row.at_ms + server.config.put_off_ms
    is_own = after.opened_ms is not None and after.opened_ms >= row.at_ms
    began_ms = after.opened_ms if is_own and after.opened_ms else after.row.at_ms
    early = bound(began_ms, due_ms - server.slack_ms, None)
    late = _late(queued, before, after, due_ms, run)
    began_ms, latest_ms = late or (began_ms, None)
    limit = f"not before {stamp(due_ms)}" if early == VIOLATED else f"by {stamp(latest_ms)}"
    detail = (
        f"{server.name} tries {queued.name} again at {stamp(began_ms)}; after the failure at "
        f"{stamp(failed_ms)} {limit}"
    )
    yield from asked(
        VIOLATED if late else early, f"{row.message_id} at {server.name}", ("RT-5",), detail,
        began_ms, row, after.row, weight=due_ms - began_ms, server=server.name,
    )  # fmt: skip


def _late(queued: Tried, before: Try, after: Try, due_ms: int, run: Run) -> tuple[int, int] | None:
    """When the next attempt, due at `due_ms` or later, began at the earliest, and by when it had
    to; None where it was in time, or nobody can say.
    """
    server, config, row = queued.server, queued.server.config, before.row
    opened = queued.queues.all_opened_ms(after.row) if after.row.event == "DEFER" else []
    began_ms = min(opened, default=after.row.at_ms)
    kind, _, place = queued.name.partition(":")
    if kind not in ("database", "external") or touches(server.away(), row.at_ms, began_ms):
        return None
    if may_redirect(server.name, run, row.at_ms, began_ms):
        return None
    is_own_wait = is_put_off(row) and config.says_put_off
    if not is_own_wait and not queued.queue.rests(row.at_ms, began_ms):
        return None
    from_ms = row.at_ms - longest_ms(LAST_RUNG, config)
    if is_own_wait and queued.queue.may_wait(from_ms, began_ms):
        return None
    troubles = (each.at for each in run.routes.troubles(server.name, place))
    if not opened and touches(troubles, due_ms, after.row.at_ms):
        return None
    vague_ms = server.slack_ms + slack_ms(run)
    if is_own_wait:
        return (began_ms, due_ms + vague_ms) if began_ms > due_ms + vague_ms else None
    # a failure is logged late, and its wait counts from when it was
    failed = queued.queue.failed_in_a_row(
        row.at_ms, lambda times: least_ms(times, config) - server.slack_ms
    )
    wait_ms = longest_ms(max(failed, before.times), config)
    latest_ms = row.at_ms + wait_ms + vague_ms
    return (began_ms, latest_ms) if began_ms > latest_ms else None


CLAIM = Claim("retries_paced", ("RT-5",), needs=frozenset({TRACKING}), of_message=_cases)
