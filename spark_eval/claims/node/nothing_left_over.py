"""nothing_left_over: at the end of a run each store holds what a promise keeps, and nothing else.

Asks each server whose queue listing was collected: the store itself was asked for bodies and forks
of messages that are gone, for resubmit requests that still run, and for what is left of those that
ended. Where a fault never healed, nothing can be said of a request that runs. And asks each shadow
server that discard notifications wait for: they are forgotten when it has confirmed them (SM-16),
by the round of questions after the one that brought them. And asks each front end that was stopped
at the end, with no client left, whether it had any message in its hands (TP-7). How long copies
are kept is asked by `held_long_enough`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spark_eval.cases.case import FITS, UNKNOWN, VIOLATED, Case, Judged, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.totals import Totals
from spark_eval.histories.faults import unhealed
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Contact
from spark_eval.histories.run import Run
from spark_eval.histories.stores import Waiting
from spark_eval.read.plan import QUEUES
from spark_eval.read.rows import QueueRow

# after the round that brought it: one confirms it, and one more
CONFIRMED = 2


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for server in sorted({name.split("/")[1] for name in run.files if name.startswith("logs/")}):
        if run.is_listed(server.lower()):
            yield from _store(server.lower(), run)
    for front_end in (each for each in run.servers.values() if each.is_front_end):
        yield from _in_hand(front_end, run)
    for (server, holder), waiting in run.stores.waiting.items():
        if server in run.servers:
            yield from _notifications(run.servers[server], holder, waiting, run)


def _store(server: str, run: Run) -> Iterator[Case]:
    left = [row for row in run.stores.left_over if row.server == server]
    first = min(left, key=_by_kind, default=None)
    status, detail = _judged(server, first, len(left), run)
    yield from asked(status, server, (), detail, run.end_ms, first, weight=len(left), server=server)


def _in_hand(front_end: Server, run: Run) -> Iterator[Case]:
    """Which messages a front end had when it was stopped at the end, with no client left (TP-7)."""
    rows = [row for row in run.said("stopped") if row.server == front_end.name and row.at_ms]
    last = max(rows, key=lambda row: row.at_ms or 0, default=None)
    if last is None or run.end_ms is None or (last.at_ms or 0) < run.end_ms - front_end.slack_ms:
        return
    held = last.messages or 0
    yield from asked(
        bound(held, None, 0), front_end.name, ("TP-7",),
        f"{front_end.name} had {held} messages when it was stopped, and no client any more",
        last.at_ms, last, weight=held,
    )  # fmt: skip


def _judged(server: str, first: QueueRow | None, count: int, run: Run) -> Judged:
    if first is None:
        return FITS
    if first.queue == "running-request" and unhealed(run.faults):
        return UNKNOWN, f"request {first.state}, and a fault never healed"
    named = (first.queue, first.internal_id, first.shadow_server)
    what = " ".join(each for each in named if each is not None)
    kept = f"{count} of what no promise keeps, first a {what}: {first.state}"
    return VIOLATED, f"{server} keeps {kept}"


def _by_kind(row: QueueRow) -> tuple[str, ...]:
    return row.queue, row.internal_id or "", row.shadow_server or "", row.state or ""


def _notifications(server: Server, holder: str, waiting: Waiting, run: Run) -> Iterator[Case]:
    """Those of a server that wait for one shadow server."""
    oldest = waiting.oldest
    since_ms = _since_ms(server, holder, oldest, run) + server.askew_ms + run.finest_ms
    page = server.config.page
    # an answer that was under way then may not have named them all, nor one that was full
    answers = [
        each
        for each in run.pairs.between(holder, server.name).questions.contacts
        if each.asked_ms is not None
        and each.asked_ms > since_ms
        and (each.notifications is None or each.notifications < page)
    ]
    later = _rounds(answers, run.config.heartbeat_ms // 2)
    detail = ""
    if answers:
        detail = (
            f"{server.name} keeps {waiting.notifications} discard notifications for {holder}, "
            f"which heard of the first at {stamp(answers[0].at_ms)} and asked in {later} rounds "
            "since"
        )
    yield from asked(
        bound(later, None, CONFIRMED - 1), oldest.message_id or server.name, ("SM-16",), detail,
        oldest.delivered_ms, oldest, weight=later, server=server.name,
    )  # fmt: skip


def _since_ms(server: Server, holder: str, oldest: QueueRow, run: Run) -> int:
    """From when on they are to be named and forgotten: since the last start of both, too, since
    what one forgot and what the other knows may be lost by a kill. And since both could write it
    down: on a full disk nothing is confirmed, and nothing forgotten.
    """
    times = (oldest.delivered_ms, run.ready_ms.get(server.name), run.ready_ms.get(holder))
    return max((each for each in times if each is not None), default=0)


def _rounds(answers: Iterable[Contact], pause_ms: int) -> int:
    """Questions that are asked at once confirm the same: another round begins with one that was
    surely asked when the last was answered, and is answered half a heartbeat later.
    """
    later, begun_ms = -1, None
    for answer in answers:
        is_another = (
            begun_ms is not None
            and answer.asked_ms is not None
            and answer.asked_ms >= begun_ms
            and answer.at_ms > begun_ms + pause_ms
        )
        if begun_ms is None or is_another:
            later, begun_ms = later + 1, answer.at_ms
    return later


CLAIM = Claim("nothing_left_over", ("SM-16", "TP-7"), needs=frozenset({QUEUES}), of_run=_cases)
