"""shadow_servers_watched: a primary server says of a shadow server that it has not asked for three
heartbeats, when that is so, and when it asks again (SM-20).

Asks of every two servers, with the questions that the shadow server logged: silence that lasted,
while a message whose shadow it held was in a queue of the primary all the time, is
`shadow-server-silent` in the primary's lifecycle log, three heartbeats after the last question,
after the message came, or after the primary's start. Each such row is asked for such a silence and
such a message; the next question that is answered after one is `shadow-server-returned`; and each
of these follows one in the same life.

Not asked: what lies in an absence of the primary, a full disk of its, a hole of either log, or a
time at which a clock was wrong. A question that had no answer may have been heard: so where the
first of a silence failed, a heartbeat and ConnectionInactivityTimeOut more are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from spark_eval.cases.case import HOLDS, VIOLATED, Case, asked
from spark_eval.cases.forms import bound
from spark_eval.cases.words import stamp
from spark_eval.claims.claim import Claim
from spark_eval.expected.mail.calls import slack_ms
from spark_eval.expected.node.disk import is_lost
from spark_eval.expected.shadow.in_queues import silent_ms
from spark_eval.expected.shadow.shadow_copies import exchange_ms
from spark_eval.expected.totals import Totals
from spark_eval.histories.mail_of_pairs import HeldOfPair
from spark_eval.histories.organisation.server import Server
from spark_eval.histories.pairs import Pair
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import Interval, touches
from spark_eval.read.plan import CONNECTIVITY, LIFECYCLE, TRACKING
from spark_eval.read.rows import LifecycleRow

SILENT, RETURNED = "shadow-server-silent", "shadow-server-returned"
_EVENTS = ("started", SILENT, RETURNED)


@dataclass(frozen=True)
class _Watch:
    """`primary` watches `shadow`; `heard`: from when to when each question may have been heard;
    `rows` of the primary's about it and its own starts, in order; `late_ms`, what a row may be
    late.
    """

    primary: Server
    shadow: Server
    pair: Pair
    held: HeldOfPair
    heard: list[Interval]
    rows: list[LifecycleRow]
    late_ms: int
    run: Run

    @property
    def name(self) -> str:
        return f"{self.primary.name} and {self.shadow.name}"

    def shows(self, start_ms: int, end_ms: int) -> bool:
        """Whether both logs are whole meanwhile, the clocks right, and the primary there."""
        wrong = self.run.wrong_clocks
        clocks = [*wrong.get(self.primary.name, ()), *wrong.get(self.shadow.name, ())]
        return (
            not is_lost(self.primary, start_ms, end_ms)
            and not touches(self.primary.away(), start_ms, end_ms)
            and not touches(clocks, start_ms, end_ms)
            and self.shadow.shows(start_ms, end_ms)
        )


def _cases(run: Run, totals: Totals) -> Iterator[Case]:
    named = {(row.server, row.peer or "") for each in (SILENT, RETURNED) for row in run.said(each)}
    names = {(primary, shadow) for shadow, primary in run.mail_of_pairs.held} | named
    for primary, shadow in sorted(names):
        watch = _watch(primary, shadow, run)
        if watch is not None:
            yield from _unsaid(watch)
            for before, row in pairwise([None, *watch.rows]):
                if row is not None and row.event == SILENT:
                    yield from _silent(watch, row)
                    yield from _unanswered(watch, row)
                elif row is not None and row.event == RETURNED:
                    yield from _returned(watch, before, row)


def _watch(primary: str, shadow: str, run: Run) -> _Watch | None:
    own, other = run.servers.get(primary), run.servers.get(shadow)
    if own is None or other is None or not own.lives or not other.lives:
        return None
    pair = run.pairs.between(shadow, primary)
    rows = [
        row
        for event in _EVENTS
        for row in run.said(event)
        if row.server == primary and row.at_ms is not None and row.peer in (None, shadow)
    ]
    return _Watch(
        own,
        other,
        pair,
        run.mail_of_pairs.held.get((shadow, primary), HeldOfPair()),
        pair.questions.may_be_heard,
        sorted(rows, key=lambda row: (row.mono_ns or 0, row.ref)),
        slack_ms(run) + exchange_ms(run) + own.slack_ms + own.askew_ms + other.slack_ms,
        run,
    )


def _unsaid(watch: _Watch) -> Iterator[Case]:
    """Silence between two answers, or after the last one."""
    questions = watch.pair.questions
    answers = sorted(each.at_ms for each in (*questions.contacts, *questions.outdated))
    contacts = [0, *answers, watch.run.end_ms or 0]
    said = [row.at_ms or 0 for row in watch.rows if row.event == SILENT]
    for from_ms, to_ms in pairwise(contacts):
        if to_ms - from_ms <= silent_ms(watch.run):
            continue
        spans = (_span(watch, each, from_ms, to_ms) for each in watch.held.queued)
        due = min((span for span in spans if span is not None), default=None)
        if due is None or not watch.shows(due.lo, due.hi):
            continue
        came_ms = next((at for at in sorted(said) if from_ms < at <= to_ms), None)
        detail = (
            f"{watch.shadow.name} held shadow messages of {watch.primary.name} and did not ask "
            f"from {stamp(due.lo)} to {stamp(due.hi)}; {SILENT} "
            + (f"was said at {stamp(came_ms)}" if came_ms else "was not said")
        )
        yield from asked(
            bound(came_ms or to_ms, None, due.hi), watch.name, ("SM-20",), detail, due.hi,
            *questions.contacts[-1:], weight=to_ms - due.lo, server=watch.primary.name,
        )  # fmt: skip


def _span(watch: _Watch, queued: Interval, from_ms: int, to_ms: int) -> Interval | None:
    """From when the silence counts while this message waits, and by when it has to be said; None
    where something ends before.
    """
    run = watch.run
    starts = [row.at_ms or 0 for row in watch.rows if row.event == "started"]
    lo_ms = max(from_ms, queued.lo)
    lo_ms = max([lo_ms, *(at for at in starts if lo_ms < at <= to_ms)])
    late_ms, failed = watch.late_ms, watch.pair.questions.failed
    if any(from_ms < (each.asked_ms or each.at_ms) <= to_ms for each in failed):
        late_ms += run.config.heartbeat_ms + watch.shadow.config.timeout_ms
    due_ms = lo_ms + silent_ms(run) + late_ms
    return Interval(lo_ms, due_ms) if due_ms < min(queued.hi, to_ms) else None


def _unanswered(watch: _Watch, row: LifecycleRow) -> Iterator[Case]:
    """The next question after a silence is its end, unless the primary started meanwhile."""
    at_ms, contacts = row.at_ms or 0, watch.pair.questions.contacts
    next_ = next((each for each in contacts if (each.asked_ms or 0) > at_ms), None)
    if next_ is None:
        return
    due_ms = next_.at_ms + watch.late_ms
    after = next((each for each in watch.rows if (each.at_ms or 0) > at_ms), None)
    if after is not None and after.event == "started" and (after.at_ms or 0) <= due_ms:
        return
    if due_ms > (watch.run.end_ms or 0) or not watch.shows(at_ms, due_ms):
        return
    is_said = after is not None and after.event == RETURNED and (after.at_ms or 0) <= due_ms
    detail = (
        f"{watch.shadow.name} asked {watch.primary.name} at {stamp(next_.asked_ms)}, which had "
        f"said at {stamp(at_ms)} that it was silent, and not that it is back"
    )
    yield from asked(
        HOLDS if is_said else VIOLATED, watch.name, ("SM-20",), detail, next_.at_ms, row, next_,
        server=watch.primary.name,
    )  # fmt: skip


def _silent(watch: _Watch, row: LifecycleRow) -> Iterator[Case]:
    at_ms = row.at_ms or 0
    lo_ms, hi_ms = at_ms - silent_ms(watch.run) + watch.late_ms, at_ms - watch.late_ms
    if lo_ms >= hi_ms or not watch.shows(lo_ms, at_ms):
        return
    said = f"{watch.primary.name} says at {stamp(at_ms)} that {watch.shadow.name} is silent"
    contacts = watch.pair.questions.contacts
    heard = [
        each.at_ms for each in contacts if lo_ms <= (each.asked_ms or 0) and each.at_ms <= hi_ms
    ]
    is_held = any(each.covers(lo_ms, hi_ms) for each in watch.held.may_be_queued)
    detail = f"{said}, which asked it at {stamp(heard[0])}" if heard else ""
    if not heard and not is_held:
        detail = f"{said}, which held no shadow of what was in its queues since {stamp(lo_ms)}"
    yield from asked(
        VIOLATED if detail else HOLDS, watch.name, ("SM-20",), detail, at_ms, row,
        server=watch.primary.name,
    )  # fmt: skip


def _returned(watch: _Watch, before: LifecycleRow | None, row: LifecycleRow) -> Iterator[Case]:
    at_ms = row.at_ms or 0
    if not watch.shows(at_ms - watch.late_ms, at_ms + watch.late_ms):
        return
    said = f"{watch.primary.name} says at {stamp(at_ms)} that {watch.shadow.name} is back"
    is_heard = touches(watch.heard, at_ms - watch.late_ms, at_ms + watch.late_ms)
    is_after = before is not None and before.event == SILENT
    detail = "" if is_heard else f"{said}, which did not ask it then"
    if is_heard and not is_after:
        detail = f"{said}, and had not said that it was silent"
    yield from asked(
        VIOLATED if detail else HOLDS, watch.name, ("SM-20",), detail, at_ms, before, row,
        server=watch.primary.name,
    )  # fmt: skip


CLAIM = Claim(
    "shadow_servers_watched",
    ("SM-20",),
    needs=frozenset({CONNECTIVITY, LIFECYCLE, TRACKING}),
    of_run=_cases,
)
