"""single_copies_reported: messages whose shadow vanished with the queue database of its server are
reported as single-copy, no others are, and none of them is shadowed again (SM-17).

Asks every shadow that was lost with a queue database while its message waited at the primary: once
a session that the primary opened to that server afterwards stands, HAREDIRECTFAIL with Outcome
single-copy names it. Asks every such row, too: the primary had named that server as its holder,
which has another queue database since, and no HAREDIRECT of the message follows.

Not asked: a row that may lie in a hole or on a full disk; a session over a link that was slow.
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked, fits
from spark_eval.cases.forms import response
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.node.disk import is_lost
from spark_eval.expected.shadow.in_queues import SINGLE_COPY, rows_of, surely_queued
from spark_eval.expected.shadow.shadow_copies import Copy, copies_of, exchange_ms
from spark_eval.histories.message import Message
from spark_eval.histories.primary import key_of, order_of
from spark_eval.histories.run import Run
from spark_eval.histories.ways import SMTP
from spark_eval.intervals.interval import touches
from spark_eval.read.plan import CONNECTIVITY, LIFECYCLE, TRACKING
from spark_eval.read.rows import TrackingRow


def _cases(message: Message, run: Run) -> Iterator[Case]:
    for each in message.with_dsns:
        for copy in copies_of(each, run):
            yield from _lost(copy, run)
        for row in each.tracking:
            if row.outcome == SINGLE_COPY:
                yield from _said(each, row, run)


def _lost(copy: Copy, run: Run) -> Iterator[Case]:
    made, held, primary = copy.shadow.claimed, copy.shadow.held, copy.primary
    lost_ms = copy.server.replaced_ms(held.database_id or "") if held is not None else None
    if made is None or primary is None or lost_ms is None:
        return
    queued = surely_queued(copy, made, run)
    late_ms = slack_ms(run) + exchange_ms(run) + primary.slack_ms + copy.server.askew_ms
    from_ms = max(queued.lo, lost_ms) + late_ms
    way = run.pairs.between(primary.name, copy.server.name)
    stands = (each for each in way.used if each.service == SMTP and each.at_ms > from_ms)
    session = next(stands, None)
    if session is None or session.at_ms + late_ms > queued.hi:
        return
    due_ms = session.at_ms + late_ms
    said = [row.at_ms for row in rows_of(copy) if row.outcome == SINGLE_COPY]
    is_excused = is_lost(primary, lost_ms, due_ms) or touches(
        (slow.at for slow in way.slows), lost_ms, due_ms
    )
    detail = (
        f"{copy.server.name} lost its shadow with its queue database by {stamp(lost_ms)}, and a "
        f"session of {primary.name} to it stood at {stamp(session.at_ms)}; {primary.name} did not "
        f"say that there is a single copy by {stamp(due_ms)}"
    )
    yield from asked(
        response(min(said, default=None), due_ms, run.end_ms, is_excused=is_excused),
        copy.message.message_id, ("SM-17",), detail, due_ms, made, session,
        server=primary.name,
    )  # fmt: skip


def _said(message: Message, row: TrackingRow, run: Run) -> Iterator[Case]:
    mine = [each for each in message.tracking if key_of(each) == key_of(row)]
    made = [each for each in mine if each.event == "HAREDIRECT"]
    holder = run.servers.get(row.shadow_server or "")
    server = run.servers.get(row.server)
    if holder is None or server is None or not holder.lives:
        return
    latest_ms = row.at_ms + server.slack_ms + holder.slack_ms + holder.askew_ms
    lost = [each.lost_ms for each in holder.eras if each.lost_ms is not None and each.next_id]
    wrong = ""
    if not any(at_ms <= latest_ms for at_ms in lost):
        wrong = f"{row.server} says that {holder.name} lost its shadow, whose queue database stayed"
    elif made and holder.name not in {each.shadow_server for each in made}:
        wrong = f"{row.server} says that {holder.name} lost its shadow, which it never held"
    elif any(order_of(each) > order_of(row) for each in made):
        wrong = f"{row.server} had said that it has a single copy, and shadowed it again"
    elif made and not any(made[0].at_ms <= at_ms <= latest_ms for at_ms in lost):
        wrong = f"{row.server} says that {holder.name} lost its shadow, which came after that"
    status, detail = fits(wrong)
    yield from asked(
        status, message.message_id, ("SM-17",), detail, row.at_ms, row, *made[:2],
        server=row.server,
    )  # fmt: skip


CLAIM = Claim(
    "single_copies_reported",
    ("SM-17",),
    needs=frozenset({CONNECTIVITY, LIFECYCLE, TRACKING}),
    of_message=_cases,
)
