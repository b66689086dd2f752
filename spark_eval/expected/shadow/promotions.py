"""When a shadow message should be promoted, and whether it was (SM-6 to SM-8).

Two causes. The primary answers with another database id: due a heartbeat after both can be reached.
No contact for ShadowResubmitTimeSpan: due when the span is over, after an attempt that began then
has failed. Where evidence leaves an interval, both ends are kept, and what lies between is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from spark_eval.expected.shadow.shadow_copies import Copy, copies_of, exchange_ms, near_ms
from spark_eval.histories.message import Message
from spark_eval.histories.pairs import turns_between
from spark_eval.histories.run import Run
from spark_eval.intervals.interval import FOREVER_MS, Interval, first_clear, touches

DATABASE, SPAN = "database-id-changed", "resubmit-time-span"


class Times(NamedTuple):
    """What a server needs to ask, by its settings, in lab ms: an attempt that fails by its
    time-out, and a question that is answered at once.
    """

    attempt_ms: int
    prompt_ms: int


class Spent(NamedTuple):
    """A certain outage during which the span surely ran out and was acted on by `by_ms`."""

    due_ms: int
    by_ms: int


@dataclass(frozen=True, slots=True)
class Promotion:
    """Of a copy that its server held: `changed`, held when the primary lost its database, and
    `changed_surely` promoted for it, by `changed_by_ms`; `contact_lo_ms` to `contact_hi_ms`: the
    last contact before the promotion, the same where a row names it; `outage` around it.
    """

    copy: Copy
    times: Times
    changed: bool
    changed_reach_ms: int | None
    changed_by_ms: int | None
    changed_surely: bool
    spent: Spent | None
    contact_ms: int | None
    contact_lo_ms: int | None
    contact_hi_ms: int | None
    outage: Interval | None
    span_over_ms: int | None
    span_surely_over_ms: int | None
    span_by_ms: int | None
    was_tempted: bool

    @property
    def cause(self) -> str | None:
        """As its server says, or else as it was due."""
        if self.copy.promoted is not None and self.copy.promoted.context is not None:
            return self.copy.promoted.context
        if self.changed_surely:
            return DATABASE
        return SPAN if self.spent is not None else None

    @property
    def by_database(self) -> bool:
        return self.cause == DATABASE

    @property
    def is_expected(self) -> bool:
        return self.changed_surely or self.spent is not None

    @property
    def due_ms(self) -> int | None:
        if self.by_database:
            return self.copy.primary_back_ms
        if self.span_over_ms is not None:
            return self.span_over_ms
        return self.spent.due_ms if self.spent else None

    @property
    def not_before_ms(self) -> int | None:
        return self.copy.primary_lost_ms if self.by_database else self.due_ms

    @property
    def not_after_ms(self) -> int | None:
        if self.by_database:
            return self.changed_by_ms
        if self.span_by_ms is not None:
            return self.span_by_ms
        return self.spent.by_ms if self.spent else None


def times_of(copy: Copy, run: Run) -> Times:
    usual_ms = run.config.heartbeat_ms + copy.slowed_ms + run.finest_ms
    return Times(usual_ms + copy.server.config.timeout_ms, usual_ms + exchange_ms(run))


def came_ms(copy: Copy, run: Run) -> int | None:
    """When it may have come, at the earliest: its row follows."""
    return None if copy.held_ms is None else copy.held_ms - exchange_ms(run)


def is_asked(copy: Copy, run: Run) -> bool:
    return run.config.enabled and (copy.held is not None or copy.kept.as_shadow)


@lru_cache(maxsize=4)
def promotions_of(message: Message, run: Run) -> tuple[Promotion, ...]:
    """Of every copy that some server held."""
    return tuple(_promotion(copy, run) for copy in copies_of(message, run) if is_asked(copy, run))


def _promotion(copy: Copy, run: Run) -> Promotion:
    times = times_of(copy, run)
    still_ms = _still_there_ms(copy, run)
    changed = _is_changed(copy, run)
    reach_ms = _reach_ms(copy, copy.primary_back_ms, times)
    by_ms = None if reach_ms is None else reach_ms + times.prompt_ms
    contact = contact_before(copy, run)
    due_ms = _span_due_ms(copy, contact.hi_ms, run)
    span_ms = run.config.span_ms
    return Promotion(
        copy=copy,
        times=times,
        changed=changed,
        changed_reach_ms=reach_ms,
        changed_by_ms=by_ms,
        changed_surely=changed and _is_sure(copy, by_ms, still_ms, run),
        spent=_spent(copy, times, still_ms, run),
        contact_ms=contact.named_ms,
        contact_lo_ms=contact.lo_ms,
        contact_hi_ms=contact.hi_ms,
        outage=contact.outage,
        span_over_ms=None if contact.lo_ms is None else contact.lo_ms + span_ms,
        span_surely_over_ms=None if contact.hi_ms is None else contact.hi_ms + span_ms,
        span_by_ms=_span_by_ms(copy, due_ms, times, run),
        was_tempted=touches(copy.pair.any_possible, *while_held(copy, run)),
    )


def while_held(copy: Copy, run: Run) -> tuple[int, int]:
    """Until it was let go or promoted, or the run was over."""
    ends = (copy.discard_ms, copy.promoted_ms, run.end_ms)
    return copy.held_ms or 0, next((each for each in ends if each is not None), FOREVER_MS)


def _still_there_ms(copy: Copy, run: Run) -> int:
    """Until when it surely stays by itself: a row follows the commit, from which its stay counts;
    the message came before both.
    """
    stays_ms = FOREVER_MS if copy.stays_until_ms is None else copy.stays_until_ms
    return stays_ms - exchange_ms(run) - copy.server.askew_ms


# another database


def _is_changed(copy: Copy, run: Run) -> bool:
    lost_ms = copy.primary_lost_ms
    if lost_ms is None or copy.held_ms is None or copy.held_ms > lost_ms:
        return False
    return (
        _after(copy.discard_ms, lost_ms)
        and (copy.promoted_ms is None or copy.promoted_ms >= lost_ms - run.finest_ms)
        and _after(copy.own_lost_ms, lost_ms)
    )


def _after(time_ms: int | None, than_ms: int) -> bool:
    """Or never."""
    return time_ms is None or time_ms > than_ms


def _reach_ms(copy: Copy, since_ms: int | None, times: Times) -> int | None:
    """Since when nothing keeps a question from its answer for a whole heartbeat."""
    if since_ms is None:
        return None
    return first_clear(since_ms, copy.pair.any_possible, times.prompt_ms)


def _is_sure(copy: Copy, by_ms: int | None, still_ms: int, run: Run) -> bool:
    if by_ms is None or by_ms > min(run.end_ms or 0, still_ms):
        return False
    return _after(copy.own_lost_ms, by_ms) and _after(copy.discard_ms, by_ms)


# no contact for the span


def _spent(copy: Copy, times: Times, still_ms: int, run: Run) -> Spent | None:
    for outage in copy.pair.peer_certain:
        contact_ms = copy.pair.last_contact(outage.hi)
        since_ms = outage.lo if contact_ms is None else contact_ms
        due_ms = max(since_ms, copy.held_ms or 0) + run.config.span_ms
        by_ms = first_clear(due_ms, copy.pair.own_possible, times.attempt_ms) + times.attempt_ms
        is_sure = (
            outage.lo <= due_ms
            and by_ms <= outage.hi
            and _is_sure(copy, by_ms, still_ms, run)
            and (copy.promoted_ms is None or copy.promoted_ms >= outage.lo)
        )
        if is_sure:
            return Spent(due_ms, by_ms)
    return _failed_when_due(copy, still_ms, run)


def _failed_when_due(copy: Copy, still_ms: int, run: Run) -> Spent | None:
    """By its server's own word: an attempt that it began when the span was over has failed."""
    for failure in copy.pair.questions.failed:
        contact_ms = copy.pair.last_contact(failure.at_ms)
        since_ms = max(copy.held_ms or 0, -FOREVER_MS if contact_ms is None else contact_ms)
        due_ms, by_ms = since_ms + run.config.span_ms, failure.at_ms + exchange_ms(run)
        began = failure.asked_ms is not None and failure.asked_ms >= due_ms + near_ms(run)
        was_there = copy.promoted_ms is None or copy.promoted_ms >= due_ms
        if began and was_there and _is_sure(copy, by_ms, still_ms, run):
            return Spent(due_ms, by_ms)
    return None


class LastContact(NamedTuple):
    """`named_ms` by a row; else it lies between `lo_ms` and `hi_ms`."""

    named_ms: int | None
    lo_ms: int | None
    hi_ms: int | None
    outage: Interval | None


def contact_before(copy: Copy, run: Run) -> LastContact:
    """Before the promotion; the interval in which it lies where no row names it. A server that
    names other questions and their answers had none, so it counts from the first shadow; or it had
    one in a hole of its log. One that names none at all may have had any: the last in the heartbeat
    before the outage, if it was there to ask.
    """
    at_ms, pair = copy.promoted_ms, copy.pair
    if at_ms is None:
        return LastContact(None, None, None, None)
    named_ms, outage = pair.last_contact(at_ms), _around(copy, at_ms, run)
    if named_ms is not None:
        return LastContact(named_ms, named_ms, named_ms, outage)
    first_ms = run.mail_of_pairs.first_came_ms(copy.server.name, copy.primary_name)
    if first_ms is None:
        return LastContact(None, None, None, outage)
    if pair.contacts_ms or pair.questions.failed:
        holes = [hole.hi for hole in copy.server.holes if hole.lo <= at_ms and hole.hi >= first_ms]
        return LastContact(None, first_ms, max([first_ms, *holes]), outage)
    if outage is None:
        return LastContact(None, first_ms, first_ms, outage)
    before_ms = outage.lo - run.config.heartbeat_ms
    was_away = touches(pair.own_possible, before_ms, outage.lo)
    lo_ms = first_ms if was_away else max(first_ms, before_ms)
    return LastContact(None, lo_ms, max(first_ms, outage.lo), outage)


def _around(copy: Copy, at_ms: int, run: Run) -> Interval | None:
    """The outage in which it was promoted; or in which an attempt was begun that failed after, and
    was acted on.
    """
    begun_ms = min([at_ms, *_tried_ms(copy, at_ms, run)])
    for outage in copy.pair.peer_possible:
        if outage.lo <= at_ms + run.finest_ms and outage.hi >= begun_ms - run.finest_ms:
            return outage
    return None


def _tried_ms(copy: Copy, at_ms: int, run: Run) -> list[int]:
    """When the attempts were begun that failed just before; what failed is acted on at once."""
    return [
        each.asked_ms
        for each in turns_between(copy.pair.questions.failed, at_ms - exchange_ms(run), at_ms)
        if each.asked_ms is not None
    ]


def _span_due_ms(copy: Copy, contact_hi_ms: int | None, run: Run) -> int | None:
    """Those that are held together go together; what came after that has a span of its own."""
    if contact_hi_ms is None or copy.held_ms is None:
        return None
    oldest_ms = run.mail_of_pairs.oldest_ms(copy.server.name, copy.primary_name, contact_hi_ms)
    known_ms = contact_hi_ms if oldest_ms is None else max(contact_hi_ms, oldest_ms)
    span_ms = run.config.span_ms
    if copy.held_ms < known_ms + span_ms:
        since_ms = copy.held_ms if oldest_ms is None else oldest_ms
        return max(contact_hi_ms, since_ms) + span_ms
    return copy.held_ms + span_ms


def _span_by_ms(copy: Copy, due_ms: int | None, times: Times, run: Run) -> int | None:
    if due_ms is None or copy.promoted_ms is None:
        return None
    longest_ms = copy.server.config.timeout_ms + copy.slowed_ms
    tried_ms = _tried_ms(copy, copy.promoted_ms, run)
    begun_ms = min((each for each in tried_ms if each >= due_ms - near_ms(run)), default=None)
    # since the attempt was begun that failed, after the span was over; without one it may be any
    # time
    took_ms = longest_ms if begun_ms is None else copy.promoted_ms - begun_ms + near_ms(run)
    return (
        first_clear(due_ms, copy.pair.own_possible, times.attempt_ms)
        + run.config.heartbeat_ms
        + run.finest_ms
        + min(took_ms, longest_ms)
    )
