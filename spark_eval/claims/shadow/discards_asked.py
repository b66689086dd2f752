"""discards_asked: a server that holds shadow messages asks in every session to their primary, is
notified of its own alone, and logs what it hears and what fails (SM-2, SM-3, SM-18, TL-4).

Four questions to each pair of servers, by the shadow server's own logs and by its clock alone. Each
session that it opens to a primary server, for messages, logs or what a Safety Net has, while it
surely holds shadow messages of it, begins with a question, at once (SM-2), but for those that it
has just begun to promote, or to let go. An answer names no more messages than that server can still
have to be notified of (SM-3). An attempt that failed is event 22004 (SM-18). And an answer is
logged for each message that it lets go (TL-4).
"""

from __future__ import annotations

from collections.abc import Iterator

from spark_eval.cases.case import Case, asked
from spark_eval.cases.forms import bound
from spark_eval.claims.claim import Claim
from spark_eval.expected.shadow.askers import Asker, askers
from spark_eval.expected.totals import Totals
from spark_eval.histories.pairs import Contact, Used
from spark_eval.histories.run import Run
from spark_eval.histories.ways import REPLICATION
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.names import Ref
from spark_eval.read.plan import CONNECTIVITY

HEARTBEAT_FAILED = 22004


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    for asker in askers(run):
        yield from _asks(asker, run)
        yield from _is_told(asker)
        yield from _logs_answers(asker)
        yield from _logs_failures(asker, run)


def _case(
    asker: Asker, requirement: str, detail: str, times: int, at: tuple[int, Ref] | None
) -> tuple[Case, ...]:
    """Something that must never happen, and happened so many times."""
    at_ms, ref = at or (None, None)
    return asked(
        bound(times, None, 0), f"{asker.server.name} and {asker.peer}", (requirement,), detail,
        at_ms, ref, weight=times, server=asker.server.name,
    )  # fmt: skip


def _asks(asker: Asker, run: Run) -> Iterator[Case]:
    others = [each.at for each in run.ways.troubles(asker.server.name, asker.peer, REPLICATION)]
    used = [each for each in asker.pair.used if asker.moments[each.at_ms].holding > 0]
    found = [(each, asks) for each in used if (asks := _did_ask(each, asker, others)) is not None]
    if found:
        unasked = [each for each, asks in found if not asks]
        detail = (
            f"{asker.server.name} used {len(unasked)} sessions to {asker.peer} without a question, "
            "while it held shadow messages of it"
        )
        first = min(((each.at_ms, each.ref) for each in unasked), default=None)
        yield from _case(asker, "SM-2", detail, len(unasked), first)


def _did_ask(used: Used, asker: Asker, others: list[Interval]) -> bool | None:
    """None where nobody can say. `others`: while the way of logs may have been in trouble."""
    if used.asked and used.waited_ms <= asker.held.prompt_ms:
        return True
    is_clear = asker.is_clear(used.at_ms, used.waited_ms)
    if used.service == REPLICATION:
        is_clear = is_clear and not touches(others, used.at_ms, used.at_ms + used.waited_ms)
    if not is_clear and asker.has_just_begun(used.at_ms):
        return None
    return False if not used.asked or is_clear else None


def _is_told(asker: Asker) -> Iterator[Case]:
    told = [a for a in asker.pair.answers if a.notifications and asker.is_clear(a.at_ms)]
    if told:
        over = [(_over(each, asker), each.notifications or 0, each.at_ms, each) for each in told]
        over = [each for each in over if each[0] > 0]
        detail, at = "", None
        if over:
            too_many, named, at_ms, most = max(over, key=lambda each: each[:3])
            detail = (
                f"{asker.peer} told {asker.server.name} of {named} messages at once, and "
                f"{named - too_many} at most were its own; {len(over)} times in all"
            )
            at = (at_ms, most.ref)
        yield from _case(asker, "SM-3", detail, len(over), at)


def _over(answer: Contact, asker: Asker) -> int:
    moment = asker.moments[answer.at_ms]
    return (answer.notifications or 0) - moment.had + moment.gone


def _logs_answers(asker: Asker) -> Iterator[Case]:
    let_go = asker.held.let_go
    if let_go:
        named = sum(answer.notifications or 0 for answer in asker.pair.answers)
        detail = (
            f"{asker.server.name} let {let_go} shadow messages of {asker.peer} go, and by its "
            f"connectivity log {named} discard notifications came"
        )
        yield from _case(asker, "TL-4", detail, max(let_go - named, 0), asker.held.first_let_go)


def _logs_failures(asker: Asker, run: Run) -> Iterator[Case]:
    """Sessions for a question that were lost are among the questions without an answer."""
    server, pair = asker.server.name, asker.pair
    failed = max(pair.lost, len(pair.questions.failed))
    if failed:
        logged = sum(
            (row.event_id, row.server, (row.primary or "").lower())
            == (HEARTBEAT_FAILED, server, asker.peer)
            for row in run.lifecycle
        )
        detail = (
            f"{failed} heartbeats of {server} to {asker.peer} failed, and {logged} times event "
            f"{HEARTBEAT_FAILED} says so"
        )
        unlogged = max(failed - len(pair.own_possible) - logged, 0)
        yield from _case(asker, "SM-18", detail, unlogged, None)


CLAIM = Claim(
    "discards_asked",
    ("SM-2", "SM-3", "SM-18", "TL-4"),
    needs=frozenset({CONNECTIVITY}),
    of_run=_cases,
)
